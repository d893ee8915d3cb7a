"""Any server that speaks OpenAI's chat completions, as a stream of server-sent events."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any
from urllib.parse import urlsplit

from chat.providers.base import Delta, Endpoint, Request, StreamBroken, ToolCall
from chat.providers.failures import failure_of_object
from chat.providers.http import Network, get_json, open_stream, with_path
from chat.providers.lines import MAX_LINE_BYTES
from chat.providers.reading import Reader, arguments_text, new_call_id, read_answer, usage_of

_FIELDS = (b":", b"event:", b"id:", b"retry:")


class OpenAI:
    """`stream` as base.Provider says."""

    def __init__(self, network: Network | None = None) -> None:
        self._network = network or Network()

    async def stream(self, endpoint: Endpoint, request: Request) -> AsyncIterator[Delta]:
        url = with_path(endpoint.base_url, "/chat/completions", default_path="/v1")
        answer = read_answer(open_stream(endpoint, url, _payload(endpoint, request), request, self._network), EventReader())
        async with aclosing(answer) as deltas:
            async for delta in deltas:
                yield delta

    async def list_models(self, endpoint: Endpoint) -> list[str]:
        """The names that the service offers, sorted. Raises a ProviderError within a few seconds."""
        answer = await get_json(endpoint, with_path(endpoint.base_url, "/models", default_path="/v1"), self._network)
        models = answer.get("data") if isinstance(answer, dict) else answer
        if not isinstance(models, list):
            raise StreamBroken
        return sorted(one["id"] for one in models if isinstance(one, dict) and isinstance(one.get("id"), str))


PROVIDER = OpenAI


def _payload(endpoint: Endpoint, request: Request) -> dict[str, Any]:
    payload: dict[str, Any] = {"model": endpoint.model, "messages": request.messages, "stream": True}
    if endpoint.has_usage:
        payload["stream_options"] = {"include_usage": True}
    if request.max_tokens is not None:
        # OpenAI's own newer models refuse the old name, compatible servers may not know the new one.
        is_openai = urlsplit(endpoint.base_url).hostname == "api.openai.com"
        payload["max_completion_tokens" if is_openai else "max_tokens"] = request.max_tokens
    if request.temperature is not None:
        payload["temperature"] = request.temperature
    if request.tools:
        payload["tools"] = [
            {"type": "function", "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters}}
            for tool in request.tools
        ]
    return payload


class EventReader(Reader):
    """Reads events of completion chunks; a body that is one whole completion in JSON is understood too."""

    def __init__(self) -> None:
        super().__init__()
        self._is_stream = False
        self._other_lines: list[bytes] = []  # of a body that is no event stream
        self._other_size = 0
        self._calls: dict[int, _Call] = {}
        self._call_key = 0

    def read_line(self, line: bytes) -> None:
        if line.startswith(b"data:"):
            self._is_stream = True
            data = line[5:].strip()
            if data == b"[DONE]":
                self.is_done = True
            elif data and (event := self.parse(data)):
                self._read_event(event)
        elif line and not self._is_stream and not line.startswith(_FIELDS):
            self._keep(line)

    def read_rest(self) -> None:
        if self._other_lines:
            self.is_done = True
            self.broken_lines = 0
            if completion := self.parse(b"\n".join(self._other_lines)):
                self._read_event(completion)
        if not self.finish and not self.failure:
            self.failure = StreamBroken()

    def tool_calls(self) -> tuple[ToolCall, ...]:
        return tuple(
            ToolCall(call.id or new_call_id(), call.name, arguments_text("".join(call.arguments)))
            for _, call in sorted(self._calls.items())
            if call.name
        )

    def _keep(self, line: bytes) -> None:
        """Keeps a line that belongs to no event stream, as long as it can be JSON."""
        self._other_lines.append(line)
        self._other_size += len(line)
        if self._other_size > MAX_LINE_BYTES or not self._other_lines[0].lstrip().startswith(b"{"):
            self.failure = StreamBroken()

    def _read_event(self, event: dict[str, Any]) -> None:
        if error := event.get("error"):
            self.failure = failure_of_object(error)
            return
        if usage := event.get("usage"):
            self._read_usage(usage)
        choices = event.get("choices")
        if not choices or not isinstance(choices, list) or not isinstance(choices[0], dict):
            return
        choice = choices[0]
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, dict):
            if content := delta.get("content"):
                self._read_content(content)
            elif refusal := delta.get("refusal"):
                self._read_content(refusal)
            reasoning = delta.get("reasoning_content") or delta.get("reasoning")
            if reasoning and isinstance(reasoning, str):
                self.reasonings.append(reasoning)
            if calls := delta.get("tool_calls"):
                self._read_calls(calls)
        if finish := choice.get("finish_reason"):
            self.finish = str(finish)

    def _read_usage(self, usage: object) -> None:
        if isinstance(usage, dict):
            self.usage = usage_of(usage.get("prompt_tokens"), usage.get("completion_tokens")) or self.usage

    def _read_content(self, content: object) -> None:
        if isinstance(content, str):
            self.add_text(content)
        elif isinstance(content, list):  # typed parts, as some services send them
            for part in content:
                if isinstance(part, dict) and isinstance(text := part.get("text"), str):
                    self.add_text(text)
                elif isinstance(part, dict) and isinstance(thoughts := part.get("thinking"), list):
                    self.reasonings += [t["text"] for t in thoughts if isinstance(t, dict) and isinstance(t.get("text"), str)]

    def _read_calls(self, pieces: object) -> None:
        if not isinstance(pieces, list):
            return
        for piece in pieces:
            if not isinstance(piece, dict):
                continue
            function = piece.get("function")
            function = function if isinstance(function, dict) else {}
            call = self._call_of(piece, function)
            call.id = call.id or str(piece.get("id") or "")
            call.name = call.name or str(function.get("name") or "")
            if arguments := function.get("arguments"):
                call.arguments.append(arguments_text(arguments))

    def _call_of(self, piece: dict[str, Any], function: dict[str, Any]) -> "_Call":
        """The call that a piece belongs to: by index; a named piece with another id, or without an index, begins a new one."""
        index = piece.get("index")
        key = index if isinstance(index, int) else self._call_key
        known = self._calls.get(key)
        if known and known.name and function.get("name"):
            is_same = isinstance(index, int) and piece.get("id") in (None, "", known.id)
            key = key if is_same else max(self._calls) + 1
        self._call_key = key
        return self._calls.setdefault(key, _Call())


class _Call:
    """A tool call that is still coming."""

    __slots__ = ("arguments", "id", "name")

    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self.arguments: list[str] = []
