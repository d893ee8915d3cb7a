"""Both dialects against the scripted model server: real sockets, every oddity and fault that it has."""

import asyncio
import json
import time

import pytest

from chat.providers import close_clients, list_models
from chat.providers.base import (
    ContextTooLong,
    EmptyAnswer,
    Endpoint,
    ModelNotFound,
    ProviderAuthError,
    ProviderOverloaded,
    ProviderRateLimited,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnreachable,
    StreamBroken,
    ToolSpec,
    complete,
)
from chat.providers.http import Network
from chat.providers.ollama import Ollama
from chat.providers.openai import OpenAI
from tests.providers.builders import QUESTION, collect, merged, request

pytestmark = pytest.mark.mock

QUICK = Network(wait_scale=0.001)
KINDS = {"openai": (OpenAI(QUICK), "/v1"), "ollama": (Ollama(QUICK), "")}
DIALECTS = [
    "",
    "slice=11",
    "split_utf8=1",
    "burst=7",
    "ascii=1",
    "comments=1",
    "comments=1,space=0,eol=crlf",
    "eol=cr,slice=11",
    "role_chunk=0",
    "done=0",
    "usage=inline",
    "usage=always",
    "usage=never",
    "fault=null",
    "fault=malformed",
]
AT_ONCE = {
    "400": ProviderRejected,
    "401": ProviderAuthError,
    "404": ModelNotFound,
    "408": ProviderOverloaded,
    "413": ContextTooLong,
    "429": ProviderRateLimited,
    "500": ProviderOverloaded,
    "502": ProviderOverloaded,
    "503": ProviderOverloaded,
    "529": ProviderOverloaded,
    "context": ContextTooLong,
    "close": ProviderUnreachable,
    "empty": EmptyAnswer,
    "garbage": StreamBroken,
}
MID_STREAM = {"drop": StreamBroken, "abort": StreamBroken, "cut": StreamBroken, "error_event": ProviderOverloaded, "hang": ProviderTimeout}
RETRIED = {"408", "429", "500", "502", "503", "529", "close"}


@pytest.fixture(autouse=True)
async def closing():
    yield
    await close_clients()


@pytest.fixture(params=list(KINDS))
def service(request, mock_model):
    """A provider and a function that makes an endpoint for one of the server's option strings."""
    provider, path = KINDS[request.param]

    def to(options="", **more):
        limits = {"connect_timeout_seconds": 1, "read_timeout_seconds": 2, **more}
        return Endpoint(request.param, mock_model.url + path, model=f"mock/tokens=12,text=unicode,{options}".rstrip(","), **limits)

    return provider, to


@pytest.mark.parametrize("options", DIALECTS)
async def test_every_dialect_gives_the_same_answer(service, options):
    provider, to = service
    plain = await complete(provider, to("times=0"), request())
    answer = await complete(provider, to(options), request())
    assert answer.text == plain.text
    assert len(answer.text) > 60
    assert answer.finish == "stop"
    assert (answer.usage is None) == (options == "usage=never" and isinstance(provider, OpenAI))
    assert answer.usage is None or answer.usage.output_tokens == 12


@pytest.mark.parametrize("fault", AT_ONCE)
async def test_every_refusal_has_its_error_and_its_number_of_attempts(service, mock_model, fault):
    provider, to = service
    deltas, error = await collect(provider, to(f"fault={fault},retry_after=1"), request())
    assert type(error) is AT_ONCE[fault]
    assert deltas == []
    assert len(mock_model.chats) == (3 if fault in RETRIED else 1)


@pytest.mark.parametrize("fault", sorted(RETRIED))
async def test_what_passes_is_outlived(service, mock_model, fault):
    provider, to = service
    answer = await complete(provider, to(f"fault={fault},times=2"), request())
    assert len(answer.text) > 60
    assert len(mock_model.chats) == 3


@pytest.mark.parametrize("fault", MID_STREAM)
async def test_a_fault_in_mid_stream_ends_it_after_the_text_and_without_another_attempt(service, mock_model, fault):
    provider, to = service
    whole = (await complete(provider, to(), request())).text
    deltas, error = await collect(provider, to(f"fault={fault},at=10", read_timeout_seconds=0.15), request())
    assert type(error) is MID_STREAM[fault]
    assert merged(deltas).text.split() == whole.split()[:10]
    assert len(mock_model.chats) == 2


async def test_a_silent_service_is_given_up(service, mock_model):
    provider, to = service
    _, error = await collect(provider, to("fault=hang_headers", read_timeout_seconds=0.15), request())
    assert type(error) is ProviderTimeout
    assert len(mock_model.chats) == 1


async def test_slow_pieces_are_no_silence(service):
    provider, to = service
    answer = await complete(provider, to("tokens=4,delay=60", read_timeout_seconds=0.2), request())
    assert answer.finish == "stop"


async def test_nobody_at_the_address_is_unreachable(service):
    provider, to = service
    _, error = await collect(provider, Endpoint(to().kind, "http://127.0.0.1:1"), request())
    assert type(error) is ProviderUnreachable


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "tag"])
async def test_reasoning_stays_apart(service, field):
    provider, to = service
    plain = await complete(provider, to(), request())
    answer = await complete(provider, to(f"reasoning=9,reasoning_field={field},slice=20"), request())
    assert len(answer.reasoning.split()) == 9
    assert answer.text == plain.text


async def test_tool_calls_come_whole(service, mock_model):
    provider, to = service
    arguments = {"run_id": "run_9", "note": "“第 3 题”\n{}"}
    calls = [{"name": "thread_read", "arguments": arguments}, {"name": "memory_add", "arguments": {}}]
    mock_model.state.script = type(mock_model.state.script)([{"match": "", "tool_calls": calls}])
    answer = await complete(provider, to("slice=11"), request(tools=(ToolSpec("thread_read", "Reads.", {"type": "object"}),)))
    assert [call.name for call in answer.tool_calls] == ["thread_read", "memory_add"]
    assert [json.loads(call.arguments) for call in answer.tool_calls] == [arguments, {}]
    assert len({call.id for call in answer.tool_calls}) == 2
    assert answer.finish == "tool_calls"


async def test_the_service_sees_what_was_asked(service, mock_model):
    provider, to = service
    answer = await complete(provider, to(), request(max_tokens=5, purpose="summary"))
    assert answer.finish == "length"
    seen = mock_model.requests[-1]
    assert seen["body"]["messages"] == QUESTION
    assert (seen["headers"]["x-purpose"], seen["headers"]["x-run-id"], seen["headers"]["x-thread-id"]) == ("summary", "run_1", "th_1")


async def test_no_log_at_any_level_holds_a_key_or_a_text(service, monkeypatch, caplog):
    monkeypatch.setenv("TEST_MODEL_KEY", "sk-very-secret")
    caplog.set_level("DEBUG")
    provider, to = service
    for fault in ("", "fault=429,times=1", "fault=400", "fault=error_event", "fault=malformed"):
        await collect(provider, to(fault, key_env="TEST_MODEL_KEY"), request())
    assert "Attempt 1 failed (provider_rate_limited (HTTP 429))" in caplog.text
    for secret in ("sk-very-secret", "is anybody there", "x-request", "retry-after", "Rate limit reached"):
        assert secret not in caplog.text


async def outcome(mock_model):
    """How the last request ended, once the server has noticed."""
    end = time.monotonic() + 2
    while mock_model.requests[-1]["outcome"] == "open" and time.monotonic() < end:
        await asyncio.sleep(0.005)
    return mock_model.requests[-1]["outcome"]


async def test_closing_the_stream_closes_the_connection(service, mock_model):
    provider, to = service
    stream = provider.stream(to("tokens=1000,delay=5"), request())
    await anext(stream)
    await stream.aclose()
    assert await outcome(mock_model) == "client_closed"


async def test_cancelling_the_task_closes_the_connection(service, mock_model):
    provider, to = service
    begun = asyncio.Event()

    async def read():
        async for _ in provider.stream(to("tokens=1000,delay=5"), request()):
            begun.set()

    task = asyncio.create_task(read())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await outcome(mock_model) == "client_closed"


async def test_a_finished_answer_leaves_its_connection_to_the_next(service, mock_model):
    provider, to = service
    for _ in range(3):
        await complete(provider, to(), request())
    assert await outcome(mock_model) == "done"
    assert len(mock_model._server.connections) == 1


async def test_more_than_a_hundred_streams_are_open_at_once(service, mock_model):
    provider, to = service
    streams = [provider.stream(to("fault=hang,at=1"), request()) for _ in range(110)]
    await asyncio.gather(*[anext(stream) for stream in streams])
    assert len(mock_model._server.connections) >= 110
    await asyncio.gather(*[stream.aclose() for stream in streams])


async def test_a_proxy_of_the_environment_is_not_used(service, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    provider, to = service
    assert (await complete(provider, to(), request())).finish == "stop"


@pytest.mark.parametrize("kind", list(KINDS))
async def test_models_are_listed(mock_model, kind):
    assert await list_models(Endpoint(kind, mock_model.url)) == ["mock", "mock-embed", "mock-small"]


async def test_a_key_that_the_service_does_not_know_is_refused(mock_model, monkeypatch):
    mock_model.state.api_key = "right"
    provider, path = KINDS["openai"]
    for value, kind in (("wrong", ProviderAuthError), ("right", type(None))):
        monkeypatch.setenv("TEST_MODEL_KEY", value)
        _, error = await collect(provider, Endpoint("openai", mock_model.url + path, "TEST_MODEL_KEY", "mock"), request())
        assert type(error) is kind
