"""Connections: retries, statuses, keys, and the end of clients."""

import asyncio
import traceback

import httpx
import pytest

from chat.providers import close_clients
from chat.providers.base import (
    ContextTooLong,
    ProviderAuthError,
    ProviderError,
    ProviderKeyMissing,
    ProviderOverloaded,
    ProviderRateLimited,
    ProviderTimeout,
    ProviderUnreachable,
    StreamBroken,
    complete,
)
from chat.providers.http import Network
from chat.providers.ollama import Ollama
from chat.providers.openai import OpenAI
from tests.providers.builders import Pieces, chunk, collect, endpoint, event_stream, network, ok, request

GOOD = event_stream(chunk(content="Hello"), chunk("stop"))
KEY = "sk-very-secret-0123456789"


class Service:
    """Answers with each of the given things in turn, the last one for ever; exceptions are raised."""

    def __init__(self, *answers):
        self.answers, self.calls = list(answers), 0

    def __call__(self, message):
        answer = self.answers[min(self.calls, len(self.answers) - 1)]
        self.calls += 1
        if isinstance(answer, Exception):
            answer.request = message
            raise answer
        return answer() if callable(answer) else answer


def refusal(status, body=b"{}", **headers):
    return lambda: httpx.Response(status, content=body, headers={name.replace("_", "-"): value for name, value in headers.items()})


def good():
    return ok(GOOD)


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv("TEST_MODEL_KEY", KEY)
    return KEY


@pytest.mark.parametrize(
    "first",
    [
        httpx.ConnectError("refused"),
        httpx.ConnectTimeout("slow"),
        httpx.RemoteProtocolError("closed without an answer"),
        httpx.ReadError("reset"),
        *[refusal(status) for status in (408, 429, 500, 502, 503, 529)],
    ],
)
async def test_what_can_succeed_again_is_tried_again(first):
    service = Service(first, first, good)
    answer = await complete(OpenAI(network(service)), endpoint(), request())
    assert (answer.text, service.calls) == ("Hello", 3)


async def test_three_attempts_are_the_limit():
    service = Service(refusal(503))
    _, error = await collect(OpenAI(network(service)))
    assert (type(error), error.status, service.calls) == (ProviderOverloaded, 503, 3)


@pytest.mark.parametrize("first", [*[refusal(status) for status in (301, 400, 401, 403, 404, 413, 422, 504)], httpx.ReadTimeout("silent")])
async def test_what_cannot_succeed_again_is_not_tried_again(first):
    service = Service(first, good)
    _, error = await collect(OpenAI(network(service)))
    assert isinstance(error, ProviderError)
    assert service.calls == 1


@pytest.mark.parametrize("failure", [httpx.ReadError("reset"), httpx.ReadTimeout("silent"), httpx.RemoteProtocolError("cut")])
@pytest.mark.parametrize("pieces", [[], [b": hello\n"], [event_stream(chunk(content="Hel"), done=False).encode()]])
async def test_nothing_is_tried_again_once_an_answer_has_begun(failure, pieces):
    service = Service(httpx.Response(200, stream=Pieces(pieces, failure)), good)
    deltas, error = await collect(OpenAI(network(service)))
    assert type(error) is (ProviderTimeout if isinstance(failure, httpx.ReadTimeout) else StreamBroken)
    assert service.calls == 1
    assert "".join(delta.text for delta in deltas) == ("Hel" if b"Hel" in b"".join(pieces) else "")


async def test_a_wait_that_the_service_asks_for_is_kept():
    service = Service(refusal(429, retry_after="7"), good)
    started = asyncio.get_running_loop().time()
    scaled = Network(transport=network(service).transport, wait_scale=0.02)
    assert (await complete(OpenAI(scaled), endpoint(), request())).text == "Hello"
    assert asyncio.get_running_loop().time() - started >= 0.14


async def test_a_wait_that_is_too_long_is_told_instead():
    service = Service(refusal(429, retry_after="21"), good)
    _, error = await collect(OpenAI(network(service)))
    assert (type(error), error.retry_after_seconds, service.calls) == (ProviderRateLimited, 21.0, 1)


async def test_all_waits_together_are_bounded():
    service = Service(refusal(429, retry_after="20"))
    slow = Network(transport=network(service).transport, wait_scale=1.6)  # 32 seconds
    _, error = await collect(OpenAI(slow))
    assert (type(error), service.calls) == (ProviderRateLimited, 1)


async def test_a_redirect_is_not_followed():
    service = Service(refusal(307, location="http://elsewhere.test/v1/chat/completions"), good)
    _, error = await collect(OpenAI(network(service)))
    assert (error.status, service.calls) == (307, 1)


async def test_text_that_cannot_be_encoded_is_sent_without_it():
    answer = await complete(OpenAI(network(Service(good))), endpoint(), request(messages=[{"role": "user", "content": "half \ud83d"}]))
    assert answer.text == "Hello"


async def test_a_refusal_about_the_window_is_told_apart():
    _, error = await collect(OpenAI(network(Service(refusal(400, b'{"error": {"code": "context_length_exceeded"}}')))))
    assert (type(error), error.status) == (ContextTooLong, 400)


async def test_the_body_of_a_refusal_is_read_to_a_limit_and_closed():
    body = Pieces([b"x" * 10_000] * 100)
    _, error = await collect(OpenAI(network(Service(httpx.Response(400, stream=body)))))
    assert error.status == 400
    assert body.read < 10
    assert body.is_closed


@pytest.mark.parametrize("value", [None, "", "  ", "with\nline", "schlüssel"])
async def test_a_key_that_is_missing_or_cannot_be_sent_stops_before_the_network(monkeypatch, value):
    monkeypatch.delenv("TEST_MODEL_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("TEST_MODEL_KEY", value)
    service = Service(good)
    _, error = await collect(OpenAI(network(service)), endpoint(key_env="TEST_MODEL_KEY"))
    assert isinstance(error, ProviderKeyMissing)
    assert isinstance(error, ProviderAuthError)
    assert (error.code, service.calls) == ("provider_key_missing", 0)


@pytest.mark.parametrize("base_url", ["", "model.test/v1", "ftp://model.test", "http://", "http://[", "http://model.test:port"])
async def test_an_address_that_is_none_is_unreachable(base_url):
    service = Service(good)
    _, error = await collect(OpenAI(network(service)), endpoint(base_url))
    assert isinstance(error, ProviderUnreachable)
    assert service.calls == 0


FAILURES = [
    *[Service(refusal(status, f'{{"error": "{KEY} private text"}}'.encode(), x_echo=KEY)) for status in (400, 401, 404, 429, 500)],
    *[Service(kind(f"{KEY} private text")) for kind in (httpx.ConnectError, httpx.ReadTimeout, httpx.LocalProtocolError)],
    Service(lambda: httpx.Response(200, stream=Pieces([b'data: {"error": {"message": "private text"}}\n\n']))),
    Service(lambda: httpx.Response(200, stream=Pieces([b"data: private text\n\n"] * 5))),
    Service(lambda: httpx.Response(200, stream=Pieces([b"<p>private text"]))),
    Service(lambda: httpx.Response(200, stream=Pieces([b"data: {}\n\n"], httpx.ReadError(f"{KEY} private text")))),
    Service(lambda: httpx.Response(200, headers={"content-encoding": "gzip"}, stream=Pieces([b"private text"]))),
]


def everything_about(error):
    """All that a log, a debugger's list of causes or a crash report would show of an error."""
    told, seen = ["".join(traceback.format_exception(error))], []
    while error is not None and error not in seen:
        seen.append(error)
        told += [str(error), repr(error), repr(error.args), repr(vars(error))]
        told += ["".join(traceback.format_exception(cause)) for cause in (error.__cause__, error.__context__) if cause]
        error = error.__cause__ or error.__context__
    assert not any(isinstance(one, httpx.HTTPError | httpx.StreamError) for one in seen)
    return "\n".join(told)


@pytest.mark.parametrize("service", FAILURES)
@pytest.mark.parametrize("kind", [OpenAI, Ollama])
async def test_no_error_holds_a_key_a_header_or_a_body(kind, service, key, caplog):
    caplog.set_level("DEBUG", logger="chat")
    to = endpoint("http://user:pass-word@model.test/v1?token=query-token", key_env="TEST_MODEL_KEY")
    messages = [{"role": "user", "content": "private question"}]
    _, error = await collect(kind(network(service)), to, request(messages=messages))
    assert isinstance(error, ProviderError)
    told = everything_about(error) + "\n".join(record.getMessage() for record in caplog.records if record.name.startswith("chat"))
    for secret in (KEY, "private", "pass-word", "query-token", "Bearer"):
        assert secret not in told


async def test_models_are_asked_for_without_leaks_too(key):
    for service in FAILURES[:8]:
        with pytest.raises(ProviderError) as caught:
            await OpenAI(network(service)).list_models(endpoint(key_env="TEST_MODEL_KEY"))
        assert KEY not in everything_about(caught.value)


class Transport(httpx.MockTransport):
    """Counts how often it is closed: once for each client on it."""

    closings = 0

    async def aclose(self):
        self.closings += 1


async def test_clients_are_shared_by_origin_and_closed_at_the_end():
    transport = Transport(Service(good))
    provider = OpenAI(Network(transport=transport))
    for base_url in ("http://model.test/v1", "http://model.test/other", "http://elsewhere.test/v1"):
        await complete(provider, endpoint(base_url), request())
    assert transport.closings == 0
    await close_clients()
    assert transport.closings == 2
    assert (await complete(provider, endpoint(), request())).text == "Hello"
    await close_clients()
    assert transport.closings == 3


def test_each_loop_has_clients_of_its_own():
    transport = Transport(Service(good))
    for _ in range(2):
        with asyncio.Runner() as runner:
            assert runner.run(complete(OpenAI(Network(transport=transport)), endpoint(), request())).text == "Hello"
            runner.run(close_clients())
    assert transport.closings == 2


async def test_an_abandoned_stream_is_closed():
    body = Pieces([event_stream(chunk(content="Hel"), done=False).encode(), GOOD.encode()])
    stream = OpenAI(network(httpx.Response(200, stream=body))).stream(endpoint(), request())
    assert (await anext(stream)).text == "Hel"
    await stream.aclose()
    assert body.is_closed
