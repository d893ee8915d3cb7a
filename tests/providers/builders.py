"""Endpoints, requests and answers for the tests of providers."""

import json
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

import httpx

from chat.providers.base import Answer, Delta, Endpoint, Provider, ProviderError, Request
from chat.providers.http import Network

QUESTION = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello, is anybody there?"}]


def endpoint(base_url: str = "http://model.test/v1", model: str = "mock", **more: Any) -> Endpoint:
    return Endpoint(kind="openai", base_url=base_url, model=model, **{"connect_timeout_seconds": 1, "read_timeout_seconds": 1, **more})


def request(**more: Any) -> Request:
    return Request(**{"messages": QUESTION, "run_id": "run_1", "thread_id": "th_1", **more})


def event(value: object, *, eol: str = "\n") -> str:
    return f"data: {json.dumps(value, ensure_ascii=False)}{eol}{eol}"


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"id": "c1", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def event_stream(*values: object, done: bool = True) -> str:
    return "".join(event(value) for value in values) + ("data: [DONE]\n\n" if done else "")


class Pieces(httpx.AsyncByteStream):
    """A body in pieces of the test's choosing; remembers how many were read and if it was closed."""

    def __init__(self, pieces: Iterable[bytes], error: Exception | None = None) -> None:
        self.pieces, self.error = list(pieces), error
        self.read = 0
        self.is_closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            self.read += 1
            yield piece
        if self.error:
            raise self.error

    async def aclose(self) -> None:
        self.is_closed = True


def ok(body: str | bytes | Iterable[bytes], **headers: str) -> httpx.Response:
    """A good answer whose body has not been read yet."""
    body = body.encode() if isinstance(body, str) else body
    return httpx.Response(200, headers=headers, stream=Pieces([body] if isinstance(body, bytes) else body))


Answering = Callable[[httpx.Request], httpx.Response]


def network(answering: Answering | httpx.Response | str | bytes | Iterable[bytes]) -> Network:
    """A network whose answers are made by a function, or are one given response or body."""

    def respond(message: httpx.Request) -> httpx.Response:
        if callable(answering):
            return answering(message)
        if isinstance(answering, httpx.Response):
            return answering
        return ok(answering)

    return Network(transport=httpx.MockTransport(respond), wait_scale=0.001)


async def collect(provider: Provider, to: Endpoint | None = None, asked: Request | None = None) -> tuple[list[Delta], ProviderError | None]:
    """All that a stream yields, and the error that ended it."""
    deltas: list[Delta] = []
    try:
        async for delta in provider.stream(to or endpoint(), asked or request()):
            deltas.append(delta)
    except ProviderError as error:
        return deltas, error
    return deltas, None


def merged(deltas: list[Delta]) -> Answer:
    answer = Answer(text="".join(d.text for d in deltas), reasoning="".join(d.reasoning for d in deltas))
    for delta in deltas:
        answer.tool_calls.extend(delta.tool_calls)
        answer.usage = delta.usage or answer.usage
        answer.finish = delta.finish or answer.finish
    return answer
