"""Pooled connections to model services: time limits, retries before the first byte, bodies in lines (RUNTIME 8).

No key, header or body ever stands in an exception that leaves here, nor in its chain: errors are made anew and raised outside of the
`except` block that caught their cause.
"""

import asyncio
import functools
import json
import logging
import os
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import httpx
import tenacity

from chat.providers.base import (
    Endpoint,
    ProviderError,
    ProviderKeyMissing,
    ProviderUnreachable,
    Request,
    StreamBroken,
)
from chat.providers.failures import failure_of_exception, failure_of_status
from chat.providers.lines import LineSplitter, LineTooLong
from chat.providers.pace import INTERVAL_SECONDS, PacedStream, PacedTransport

USER_AGENT = "memoryapp/0.1"
WRITE_TIMEOUT_SECONDS = 30.0
POOL_TIMEOUT_SECONDS = 5.0
# httpx's default of 100 connections gave 20 of 120 streams a PoolTimeout (RUNTIME 8): how many streams run is decided elsewhere.
LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=32, keepalive_expiry=30.0)

RETRIED_STATUSES = frozenset({408, 429, 500, 502, 503, 529})
MAX_ATTEMPTS = 3
MAX_RETRY_AFTER_SECONDS = 20.0
MAX_RETRY_TOTAL_SECONDS = 30.0
DOCUMENT_MAX_BYTES = 32 * 1024 * 1024  # 64 vectors of 4,096 numbers are 6 MB
ERROR_BODY_MAX_BYTES = 64 * 1024
ERROR_BODY_TIMEOUT_SECONDS = 2.0
# How long the end of a finished body is waited for, so that its connection can be used again.
DRAIN_TIMEOUT_SECONDS = 0.25


log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Network:
    """How services are reached. Tests give their own transport and shorten the waits between attempts."""

    transport: httpx.AsyncBaseTransport | None = None
    wait_scale: float = 1.0


_Clients = dict[tuple[str, httpx.AsyncBaseTransport | None], httpx.AsyncClient]
_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, _Clients] = WeakKeyDictionary()


async def close_clients() -> None:
    """Closes all clients of the running loop. Later calls open new ones."""
    for client in _clients.pop(asyncio.get_running_loop(), {}).values():
        await client.aclose()


@functools.cache
def load_certificates() -> ssl.SSLContext:
    """Reads the certificates of the authorities once, as it takes tens of milliseconds. SSL_CERT_FILE is honoured."""
    return httpx.create_ssl_context()


def with_path(base_url: str, path: str, *, default_path: str = "") -> str:
    """Joins a base URL and a path; a base without any path gets `default_path` first. Raises ProviderUnreachable."""
    url = None
    try:
        parts = urlsplit(base_url.strip())
        url = httpx.URL(parts._replace(path=(parts.path.rstrip("/") or default_path) + path, fragment="").geturl())
    except (ValueError, httpx.InvalidURL):
        pass  # raised below, without the address in its chain
    if url is None or url.scheme not in ("http", "https") or not url.host:
        raise ProviderUnreachable
    return str(url)


class Body:
    """The body of an answer. Iterating gives, for each piece that the network brings, the list of lines it closes."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self._splitter = LineSplitter()
        # Undecoded pieces with an own splitter cost 5 to 16 % less than httpx's lines; only a coded body needs its decoders.
        is_coded = response.headers.get("content-encoding", "identity").lower() not in ("", "identity")
        self._pieces = response.aiter_bytes() if is_coded else response.aiter_raw()
        self._is_over = False
        self._network = response.extensions.get("network_stream")

    def pace(self, interval_seconds: float = INTERVAL_SECONDS) -> None:
        """From now on reads the network at intervals, 0 for at once; does nothing to a transport of tests."""
        if isinstance(self._network, PacedStream):
            self._network.interval_seconds = interval_seconds

    def __aiter__(self) -> "Body":
        return self

    async def __anext__(self) -> list[bytes]:
        if self._is_over:
            raise StopAsyncIteration
        try:
            return self._splitter.feed(await self._pieces.__anext__())
        except StopAsyncIteration:
            self._is_over = True
            failure = None
        except (httpx.TransportError, httpx.DecodingError) as error:
            failure = failure_of_exception(error, is_answering=True)
        except LineTooLong:
            failure = StreamBroken()
        if failure:
            self._is_over = True
            raise failure
        return [rest] if (rest := self._splitter.finish()) else []

    async def drain(self) -> None:
        """Reads what follows an answer that is complete, briefly: a body read to its end leaves a connection to use again."""
        self.pace(0)
        try:
            async with asyncio.timeout(DRAIN_TIMEOUT_SECONDS):
                async for _ in self:
                    pass
        except (TimeoutError, ProviderError):
            return


@asynccontextmanager
async def open_stream(endpoint: Endpoint, url: str, payload: dict[str, Any], request: Request, network: Network) -> AsyncIterator[Body]:
    """Posts `payload` and gives the body of a good answer. Leaving the block closes the connection if the body is not at its end.

    Tries again only while no answer has begun. Raises a ProviderError.
    """
    response = await _send_patiently(_client(url, network), _message(endpoint, url, payload, request), network.wait_scale)
    body = Body(response)
    try:
        yield body
    finally:
        body.pace(0)  # the connection may be used again
        await response.aclose()


async def post_json(
    endpoint: Endpoint, url: str, payload: dict[str, Any], request: Request, network: Network, *, attempts: int = MAX_ATTEMPTS
) -> object:
    """Posts `payload` and gives the JSON document of a good answer. Raises a ProviderError."""
    message = _message(endpoint, url, payload, request)
    response = await _send_patiently(_client(url, network), message, network.wait_scale, attempts)
    failure: ProviderError
    body = bytearray()
    try:
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) > DOCUMENT_MAX_BYTES:
                break
        else:
            answer: object = json.loads(body)
            return answer
        failure = StreamBroken()
    except (httpx.TransportError, httpx.DecodingError) as error:
        failure = failure_of_exception(error, is_answering=True)
    except (ValueError, RecursionError):
        failure = StreamBroken()
    finally:
        await response.aclose()
    raise failure


async def get_json(endpoint: Endpoint, url: str, network: Network, *, connect_seconds: float = 1.0, read_seconds: float = 3.0) -> object:
    """Asks once for a small JSON document, with short time limits and on a connection of its own. Raises a ProviderError."""
    headers = {"user-agent": USER_AGENT, **_authorization(endpoint)}
    timeout = httpx.Timeout(read_seconds, connect=connect_seconds)
    failure: ProviderError
    try:
        async with _new_client(network) as client:
            response = await client.get(url, headers=headers, timeout=timeout)
            if response.is_success:
                answer: object = response.json()
                return answer
            failure = failure_of_status(response.status_code, response.content)
    except (httpx.TransportError, httpx.DecodingError) as error:
        failure = failure_of_exception(error, is_answering=False)
    except ValueError:
        failure = StreamBroken()
    raise failure


def _new_client(network: Network) -> httpx.AsyncClient:
    transport = network.transport or PacedTransport(verify=load_certificates(), limits=LIMITS)
    return httpx.AsyncClient(transport=transport, trust_env=False, follow_redirects=False)


def _client(url: str, network: Network) -> httpx.AsyncClient:
    """The client of the running loop for the origin of `url`."""
    clients = _clients.setdefault(asyncio.get_running_loop(), {})
    parts = urlsplit(url)
    key = (f"{parts.scheme}://{parts.netloc}", network.transport)
    if key not in clients:
        clients[key] = _new_client(network)
    return clients[key]


def _authorization(endpoint: Endpoint) -> dict[str, str]:
    if not endpoint.key_env:
        return {}
    key = os.environ.get(endpoint.key_env, "").strip()
    # A key with a stray character would be quoted in the client library's error.
    if not key or not key.isascii() or not key.isprintable():
        raise ProviderKeyMissing
    return {"authorization": f"Bearer {key}"}


def _message(endpoint: Endpoint, url: str, payload: dict[str, Any], request: Request) -> httpx.Request:
    headers = {
        "content-type": "application/json",
        "accept-encoding": "identity",  # a compressing proxy holds tokens back
        "user-agent": USER_AGENT,
        "x-purpose": request.purpose,
        **({"x-run-id": request.run_id} if request.run_id else {}),
        **({"x-thread-id": request.thread_id} if request.thread_id else {}),
        **_authorization(endpoint),
    }
    # "replace": a lone surrogate must not become an error that quotes the text.
    content = json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    timeout = httpx.Timeout(
        connect=endpoint.connect_timeout_seconds,
        read=endpoint.read_timeout_seconds,
        write=WRITE_TIMEOUT_SECONDS,
        pool=POOL_TIMEOUT_SECONDS,
    )
    return httpx.Request("POST", url, headers=headers, content=content, extensions={"timeout": timeout.as_dict()})


async def _send_patiently(
    client: httpx.AsyncClient, message: httpx.Request, wait_scale: float, attempts: int = MAX_ATTEMPTS
) -> httpx.Response:
    backoff = tenacity.wait_exponential_jitter(multiplier=0.3, max=5, jitter=0.3)

    def wait_seconds(state: tenacity.RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = error.retry_after_seconds if isinstance(error, ProviderError) else None
        return wait_scale * max(backoff(state), asked or 0.0)

    retrying = tenacity.AsyncRetrying(
        retry=tenacity.retry_if_exception(_may_succeed_again),
        wait=wait_seconds,
        stop=tenacity.stop_after_attempt(attempts) | tenacity.stop_before_delay(MAX_RETRY_TOTAL_SECONDS),
        before_sleep=_log_attempt,
        reraise=True,
    )
    return await retrying(_send, client, message)


def _log_attempt(state: tenacity.RetryCallState) -> None:
    error = state.outcome.exception() if state.outcome else None
    log.info("Attempt %d failed (%s), the next one is in %.1f s.", state.attempt_number, error, state.upcoming_sleep)


def _may_succeed_again(error: BaseException) -> bool:
    if not isinstance(error, ProviderError):
        return False
    if (error.retry_after_seconds or 0) > MAX_RETRY_AFTER_SECONDS:
        return False
    return isinstance(error, ProviderUnreachable) or error.status in RETRIED_STATUSES


async def _send(client: httpx.AsyncClient, message: httpx.Request) -> httpx.Response:
    """Sends once and waits for the head of the answer."""
    failure: ProviderError
    try:
        response = await client.send(message, stream=True)
    except httpx.TransportError as error:
        failure = failure_of_exception(error, is_answering=False)
    else:
        if response.is_success:
            return response
        failure = await _refusal(response)
    raise failure


async def _refusal(response: httpx.Response) -> ProviderError:
    """The error that an answer other than 2xx means; reads as much of its body as that takes, and closes it."""
    body = b""
    try:
        async with asyncio.timeout(ERROR_BODY_TIMEOUT_SECONDS):
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > ERROR_BODY_MAX_BYTES:
                    break
    except (TimeoutError, httpx.TransportError, httpx.DecodingError):
        pass  # the status says enough
    finally:
        await response.aclose()
    return failure_of_status(response.status_code, body, response.headers.get("retry-after", ""))
