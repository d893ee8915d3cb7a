"""A model server of the tests' own: strict, scripted by a function, and exact about what it was asked and what it counted."""

import contextlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

SILENCE_MOST_SECONDS = 20


@dataclass(frozen=True, slots=True)
class Reply:
    """What one request gets: `tokens`, one event each, the tool `calls` (names with their arguments as JSON), and then the end of
    the stream; or `body`, as it is.

    After the tokens come the usage and a proper end ("done"), a lost connection ("hang_up"), a body that ends without a
    reason to finish ("cut"), an error object with the text of `body` ("error"), or nothing any more ("silence").
    `status` 0 is silence from the start.
    """

    tokens: Sequence[str] = ("好的。",)
    calls: Sequence[tuple[str, str]] = ()
    usage: tuple[int, int] | None = None
    end: Literal["done", "hang_up", "cut", "error", "silence"] = "done"
    status: int = 200
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Call:
    """A request as it was received, and what it got."""

    purpose: str
    headers: dict[str, str]
    body: dict[str, Any]
    reply: Reply = field(default_factory=Reply)

    @property
    def prompt(self) -> str:
        """The last message."""
        return self.body["messages"][-1]["content"]

    @property
    def system(self) -> str:
        """What the assistant is told before the conversation, byte for byte."""
        first = self.body["messages"][0]
        return first["content"] if first["role"] == "system" else ""

    @property
    def text(self) -> str:
        """The whole request."""
        return json.dumps(self.body, ensure_ascii=False)


def problem_of(messages: list[dict[str, Any]]) -> str:
    """Why a strict service refuses the messages; "" when it takes them."""
    if not all((message.get("content") or "").strip() or message.get("tool_calls") for message in messages):
        return "an empty message"
    roles = [message["role"] for message in messages]
    return "two neighbours of one role" if any(one == two for one, two in zip(roles, roles[1:], strict=False)) else ""


class ModelServer:
    """Runs on loopback as a context manager; `answer` says what a call gets and may be changed at any time."""

    def __init__(self, answer: Callable[[Call], Reply] = lambda _call: Reply()) -> None:
        self.answer = answer
        self.calls: list[Call] = []
        self.refused: list[str] = []
        self.is_over = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"model": self}))
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self.address = f"127.0.0.1:{self._server.server_port}"

    def of(self, purpose: str) -> list[Call]:
        """The calls with that purpose, in the order in which they came."""
        return [call for call in self.calls if call.purpose == purpose]

    def __enter__(self) -> "ModelServer":
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.is_over.set()
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    model: ModelServer

    def do_POST(self) -> None:
        self.close_connection = True
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        call = Call(headers.get("x-purpose", ""), headers, body)
        self.model.calls.append(call)
        if problem := problem_of(body["messages"]):
            self.model.refused.append(problem)
            call.reply = Reply(status=400, body=json.dumps({"error": {"message": problem}}))
        else:
            call.reply = self.model.answer(call)
        with contextlib.suppress(OSError):  # the caller has gone away
            self._send(call.reply)

    def log_message(self, format: str, *values: object) -> None:
        return

    def _send(self, reply: Reply) -> None:
        if reply.status == 0:
            self.model.is_over.wait(SILENCE_MOST_SECONDS)
            return
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("connection", "close")
        if reply.body and reply.end != "error":
            raw = reply.body.encode()
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)
            return
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for token in reply.tokens:
            self._event({"choices": [{"index": 0, "delta": {"content": token}, "finish_reason": None}]})
        for place, (name, arguments) in enumerate(reply.calls):
            function = {"name": name, "arguments": arguments}
            called = {"index": place, "id": f"call_{place}", "type": "function", "function": function}
            self._event({"choices": [{"index": 0, "delta": {"tool_calls": [called]}, "finish_reason": None}]})
        self._end(reply)

    def _end(self, reply: Reply) -> None:
        if reply.end == "hang_up":
            return
        if reply.end == "silence":
            self.model.is_over.wait(SILENCE_MOST_SECONDS)
            return
        if reply.end == "error":
            self._event({"error": {"message": reply.body, "type": "server_error"}})
        if reply.end == "done":
            self._event({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls" if reply.calls else "stop"}]})
            if reply.usage is not None:
                read, written = reply.usage
                self._event({"choices": [], "usage": {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}})
            self._chunk("data: [DONE]\n\n")
        self._chunk("")

    def _event(self, value: dict[str, Any]) -> None:
        self._chunk(f"data: {json.dumps(value, ensure_ascii=False)}\n\n")

    def _chunk(self, text: str) -> None:
        raw = text.encode()
        self.wfile.write(f"{len(raw):x}\r\n".encode() + raw + b"\r\n")
