"""Ollama's own /api/chat: one JSON object a line.

Its compatible endpoint cannot be told the size of the context window, and cuts longer prompts without a word.
"""

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from chat.providers.base import Delta, Endpoint, Message, Request, StreamBroken, ToolCall
from chat.providers.failures import failure_of_object
from chat.providers.http import Network, get_json, open_stream, with_path
from chat.providers.reading import Reader, arguments_text, new_call_id, read_answer, usage_of
from chat.text.tokens import count_tokens

WINDOW_STEP_TOKENS = 8_192
REPLY_TOKENS = 2_048


class Ollama:
    """`stream` as base.Provider says."""

    def __init__(self, network: Network | None = None) -> None:
        self._network = network or Network()

    async def stream(self, endpoint: Endpoint, request: Request) -> AsyncIterator[Delta]:
        url = _url(endpoint, "/api/chat")
        answer = read_answer(open_stream(endpoint, url, _payload(endpoint, request), request, self._network), LineReader())
        async with aclosing(answer) as deltas:
            async for delta in deltas:
                yield delta

    async def list_models(self, endpoint: Endpoint) -> list[str]:
        """The names of the models on the machine, sorted. Raises a ProviderError within a few seconds."""
        answer = await get_json(endpoint, _url(endpoint, "/api/tags"), self._network)
        models = answer.get("models") if isinstance(answer, dict) else None
        if not isinstance(models, list):
            raise StreamBroken
        return sorted(one["name"] for one in models if isinstance(one, dict) and isinstance(one.get("name"), str))


PROVIDER = Ollama


def _url(endpoint: Endpoint, path: str) -> str:
    """The address of `path`; a base that points at one of Ollama's two interfaces is understood."""
    base = endpoint.base_url.strip().rstrip("/")
    return with_path(base.removesuffix("/v1").removesuffix("/api"), path)


def _payload(endpoint: Endpoint, request: Request) -> dict[str, Any]:
    window = endpoint.context_tokens or _window(request)
    options = {"num_ctx": window, "num_predict": request.max_tokens, "temperature": request.temperature}
    payload: dict[str, Any] = {
        "model": endpoint.model,
        "messages": _messages(request.messages),
        "stream": True,
        "options": {name: value for name, value in options.items() if value is not None},
    }
    if request.tools:
        payload["tools"] = [
            {"type": "function", "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters}}
            for tool in request.tools
        ]
    return payload


def _window(request: Request) -> int:
    """A window that the request fits, for an endpoint that names none; in few sizes, as Ollama loads a model anew for each."""
    prompt = sum(count_tokens(_content(message.get("content"))) for message in request.messages)
    needed = prompt * 5 // 4 + (request.max_tokens or REPLY_TOKENS)  # a quarter more: the model counts with a tokenizer of its own
    return -(-needed // WINDOW_STEP_TOKENS) * WINDOW_STEP_TOKENS


def _messages(messages: list[Message]) -> list[Message]:
    """Messages of OpenAI's shape in Ollama's: arguments are objects, a tool's result carries the tool's name."""
    names: dict[str, str] = {}
    translated: list[Message] = []
    for message in messages:
        one: Message = {"role": message["role"], "content": _content(message.get("content"))}
        if calls := message.get("tool_calls"):
            names.update({call.get("id", ""): call["function"]["name"] for call in calls})
            one["tool_calls"] = [{"function": _function(call["function"])} for call in calls]
        if message["role"] == "tool":
            one["tool_name"] = names.get(message.get("tool_call_id", ""), "")
        translated.append(one)
    return translated


def _content(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _function(function: dict[str, Any]) -> dict[str, Any]:
    try:
        arguments = json.loads(function.get("arguments") or "{}")
    except ValueError:
        arguments = None  # the model wrote broken JSON; its own words are not worth a refusal
    return {"name": function["name"], "arguments": arguments if isinstance(arguments, dict) else {}}


class LineReader(Reader):
    """Reads one object a line until the one that is done."""

    def __init__(self) -> None:
        super().__init__()
        self._calls: list[ToolCall] = []

    def read_line(self, line: bytes) -> None:
        if not line.strip() or (value := self.parse(line)) is None:
            return
        if error := value.get("error"):
            self.failure = failure_of_object(error)
            return
        message = value.get("message")
        if isinstance(message, dict):
            if (content := message.get("content")) and isinstance(content, str):
                self.add_text(content)
            if (thinking := message.get("thinking")) and isinstance(thinking, str):
                self.reasonings.append(thinking)
            if calls := message.get("tool_calls"):
                self._read_calls(calls)
        if value.get("done"):
            self.is_done = True
            self.finish = str(value.get("done_reason") or "stop")
            self.usage = usage_of(value.get("prompt_eval_count"), value.get("eval_count"))

    def read_rest(self) -> None:
        self.failure = StreamBroken()

    def tool_calls(self) -> tuple[ToolCall, ...]:
        return tuple(self._calls)

    def _read_calls(self, calls: object) -> None:
        for call in calls if isinstance(calls, list) else []:
            function = call.get("function") if isinstance(call, dict) else None
            if isinstance(function, dict) and (name := function.get("name")):
                self._calls.append(ToolCall(call.get("id") or new_call_id(), str(name), arguments_text(function.get("arguments"))))
