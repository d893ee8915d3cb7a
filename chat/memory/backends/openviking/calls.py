"""One call to the server: connections, limits, repetitions, the envelope (seed 002 §10).

No redirect is followed (another host would be given the key), no answer is read without an end, and every wait has a limit.
Errors are made anew and raised outside of the `except` block that caught their cause, so that no text of a request is in their chain.
"""

import asyncio
import json
import ssl
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from weakref import WeakKeyDictionary

import httpx
import tenacity

from chat.memory.backends.base import BackendClosed, BackendError, BackendMisconfigured, Meter
from chat.memory.backends.openviking import events
from chat.memory.backends.openviking.config import Configuration
from chat.memory.backends.openviking.errors import (
    SERVER_CODES,
    Details,
    OpenVikingConnectionError,
    OpenVikingError,
    OpenVikingNotSentError,
    OpenVikingProtocolError,
    OpenVikingTimeoutError,
    error_of,
    request_id_of,
)
from chat.memory.backends.openviking.scope import Identity

# A listing of thousands of sessions is the longest good answer, at some 200 bytes each.
ANSWER_MOST_BYTES: Final = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Call:
    """A request. `is_repeatable`: the same request twice does what one does. `total_seconds` 0 is the configured total."""

    operation: str
    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    is_repeatable: bool = True
    session_id: str = ""
    total_seconds: float = 0.0


class Calls:
    """The connections of a backend, pooled for each event loop."""

    def __init__(self, configuration: Configuration, meter: Meter, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self.configuration, self.meter, self._transport = configuration, meter, transport
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient] = WeakKeyDictionary()
        self._is_closed = False
        self._verify = _authorities(configuration.base_url)
        self.failed_at = 0.0  # monotonic time of the last failure of a connection

    async def close(self) -> None:
        self._is_closed = True
        if client := self._clients.pop(asyncio.get_running_loop(), None):
            await client.aclose()
        self._clients.clear()

    async def send(self, call: Call, identity: Identity, note: Callable[[object], dict[str, object]] | None = None) -> object:
        """Sends and gives the whole JSON answer. `note` says of a good one what is logged of it. Raises BackendError."""
        report = events.Report(call.operation, identity, call.session_id, f"mem-{uuid.uuid4().hex}")
        began, answer = time.monotonic(), None
        error: BackendError | None = None
        try:
            async with asyncio.timeout(call.total_seconds or self.configuration.limits.total_seconds):
                answer = await self._send_patiently(call, report)
            report.fields = note(answer) if note else {}
        except TimeoutError:
            error, self.failed_at = OpenVikingTimeoutError(Details(call.operation)), time.monotonic()
        except BackendError as failure:
            error = failure
        except asyncio.CancelledError:
            events.called(self.meter, report, time.monotonic() - began, OpenVikingTimeoutError(Details(call.operation)))
            raise
        events.called(self.meter, report, time.monotonic() - began, error)
        if error:
            raise error
        return answer

    async def _send_patiently(self, call: Call, report: events.Report) -> object:
        retry = self.configuration.retry
        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception(lambda error: isinstance(error, OpenVikingError) and error.is_transient),
            wait=tenacity.wait_random_exponential(multiplier=retry.base_seconds, max=retry.max_seconds, min=retry.base_seconds / 2),
            stop=tenacity.stop_after_attempt(retry.attempts if call.is_repeatable else 1),
            reraise=True,
        )
        sending: Callable[..., Awaitable[object]] = self._send_once
        answer: object = await retrying(sending, call, report)
        return answer

    async def _send_once(self, call: Call, report: events.Report) -> object:
        report.attempts, report.status, report.request_id = report.attempts + 1, 0, ""
        details = Details(call.operation)
        try:
            async with self._client().stream(
                call.method,
                self.configuration.base_url + call.path,
                params=dict(call.query) or None,
                content=_encoded(call.body),
                headers=self._headers(report, has_body=call.body is not None),
            ) as response:
                report.status = response.status_code
                report.request_id = request_id_of(response.headers.get("x-request-id"))
                return await _answer_of(response, Details(call.operation, report.status, request_id=report.request_id))
        except OpenVikingError as failure:
            error: BackendError = failure
        except (httpx.ConnectError, httpx.ConnectTimeout):
            error = OpenVikingNotSentError(details)
        except httpx.PoolTimeout:
            error = OpenVikingTimeoutError(details)
            error.is_refused = True
        except httpx.TimeoutException:
            error = OpenVikingTimeoutError(details)
        except httpx.HTTPError:
            error = OpenVikingConnectionError(details)
        except RuntimeError:  # the client was closed under a call that waited for its turn
            if not self._is_closed:
                raise
            error = BackendClosed()
        if isinstance(error, OpenVikingConnectionError | OpenVikingTimeoutError):
            self.failed_at = time.monotonic()
        raise error

    def _client(self) -> httpx.AsyncClient:
        if self._is_closed:
            raise BackendClosed
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            limits = self.configuration.limits
            self._clients[loop] = httpx.AsyncClient(
                transport=self._transport,
                verify=self._verify,
                trust_env=False,
                follow_redirects=False,
                timeout=httpx.Timeout(
                    connect=limits.connect_seconds, read=limits.read_seconds, write=limits.write_seconds, pool=limits.pool_seconds
                ),
                limits=httpx.Limits(
                    max_connections=limits.connections,
                    max_keepalive_connections=limits.kept_connections,
                    keepalive_expiry=limits.keepalive_seconds,
                ),
            )
        return self._clients[loop]

    def _headers(self, report: events.Report, *, has_body: bool) -> dict[str, str]:
        return {
            "X-API-Key": self.configuration.api_key,
            "X-OpenViking-Account": report.identity.account,
            "X-OpenViking-User": report.identity.user,
            "X-Request-ID": report.trace_id,
            "Accept-Encoding": "identity",  # a small body must not become a large one
            "User-Agent": "memoryapp",
            **({"Content-Type": "application/json"} if has_body else {}),
        }


def _authorities(base_url: str) -> ssl.SSLContext | bool:
    """Whose certificates are trusted, those of SSL_CERT_FILE or SSL_CERT_DIR where one is set; read once, in tens of milliseconds.

    False for plain HTTP alone, however the address is written. Raises BackendMisconfigured.
    """
    if base_url.startswith("http:"):
        return False
    try:
        return httpx.create_ssl_context()
    except OSError:
        raise BackendMisconfigured("SSL_CERT_FILE: the certificates that it names cannot be read.") from None


def result_of(answer: object, operation: str) -> object:
    """What a good envelope holds. Raises OpenVikingProtocolError for what is no envelope."""
    if isinstance(answer, Mapping) and answer.get("status") == "ok" and "result" in answer:
        return answer["result"]
    raise OpenVikingProtocolError(Details(operation, 200))


async def _answer_of(response: httpx.Response, details: Details) -> object:
    body = bytearray()
    is_coded = response.headers.get("content-encoding", "identity").lower() not in ("", "identity")
    if is_coded:
        raise OpenVikingProtocolError(details)
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > ANSWER_MOST_BYTES:
            raise OpenVikingProtocolError(details)
    try:
        answer: object = json.loads(body)
    except (ValueError, RecursionError):
        answer = None
    if response.is_success and answer is not None:
        return answer
    if response.is_success:
        raise OpenVikingProtocolError(details)
    raise _failure_of(answer, details)


def _failure_of(answer: object, details: Details) -> OpenVikingError:
    told = answer.get("error") if isinstance(answer, Mapping) else None
    told = told if isinstance(told, Mapping) else {}
    code, more = told.get("code"), told.get("details")
    known = code if isinstance(code, str) and code in SERVER_CODES else ""
    more = more if isinstance(more, Mapping) else {}
    return error_of(
        Details(details.operation, details.status, known, details.request_id),
        is_upstream=more.get("upstream_status_code") is not None,
        is_explained=bool(more.get("validation_errors")),
    )


def _encoded(body: Mapping[str, Any] | None) -> bytes | None:
    # "replace": a lone surrogate is refused by the server, and must not become an error that quotes the text.
    return None if body is None else json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
