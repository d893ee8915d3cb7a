"""Bodies of requests: one that is too large is refused before it has come in whole.

`LimitedBodies` stands around the application, whatever serves it. Daphne takes a whole body in before the application hears of
it, so `limit_request` makes the same refusal there.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from daphne.http_protocol import WebRequest
from twisted.internet import reactor

Scope = dict[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

# Whoever still sends may read the answer in this time; what comes is thrown away.
GRACE_SECONDS = 5.0
_HEADERS = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]


class BodyTooLarge(Exception):
    """More came than Content-Length said, or than is taken without one."""


def refusal(limit: int) -> bytes:
    """In both languages, for nobody's language is known yet."""
    most = limit // (1024 * 1024)
    chinese = f"一次上传的文件合计超过 {most} MB，没有保存。请返回，分几次上传。"
    english = f"The files of one upload were more than {most} MB together; nothing was kept. Go back and upload them one by one."
    return f"{chinese}\n\n{english}\n".encode()


class LimitedBodies:
    """An ASGI application whose requests have at most `limit` bytes of body."""

    def __init__(self, application: Application, limit: int) -> None:
        self.application = application
        self.limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        length = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if not length.isdigit() or int(length) > self.limit:
            await self._refuse(send)
            return
        received = 0

        async def counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self.limit:
                raise BodyTooLarge
            return message

        try:
            await self.application(scope, counted, send)
        except BodyTooLarge:
            await self._refuse(send)  # Django reads the body before it answers anything

    async def _refuse(self, send: Send) -> None:
        headers = [*_HEADERS, (b"connection", b"close")]
        await send({"type": "http.response.start", "status": 413, "headers": headers})
        await send({"type": "http.response.body", "body": refusal(self.limit)})


def limit_request(request: WebRequest, limit: int) -> None:
    """Has Daphne answer 413 as soon as it knows that the body is larger than `limit`, and keep nothing of it.

    Also keeps Twisted from taking forms apart, which Django does again: on the event loop, and for 20 MB in two seconds.
    """
    got_length, take, process = request.gotLength, request.handleContentChunk, request.process
    received, is_refused = 0, False

    def refuse() -> None:
        nonlocal is_refused
        is_refused = True
        body = refusal(limit)
        head = [b"HTTP/1.1 413 Content Too Large", *(b"%s: %s" % header for header in _HEADERS), b"Connection: close"]
        request.channel.transport.write(b"\r\n".join([*head, b"Content-Length: %d" % len(body), b"", body]))
        reactor.callLater(GRACE_SECONDS, request.channel.transport.abortConnection)  # type: ignore[arg-type]

    def on_length(length: int | None) -> None:
        is_too_much = length is not None and length > limit
        got_length(0 if is_too_much else length)
        if is_too_much:
            refuse()

    def on_chunk(data: bytes) -> None:
        nonlocal received
        received += len(data)
        if not is_refused and received > limit:
            refuse()
        if not is_refused:
            take(data)

    def on_whole() -> Any:  # noqa: ANN401  what Twisted makes of it
        return request.channel.loseConnection() if is_refused else process()

    request._parsePOSTFormSubmission = False
    request.gotLength, request.handleContentChunk, request.process = on_length, on_chunk, on_whole
