"""One call: errors, repetitions, time limits, connections, and a server that misbehaves."""

import asyncio
import itertools
import time

import httpx
import pytest

from chat.memory.backends.base import BackendClosed
from chat.memory.backends.openviking import errors
from chat.memory.backends.openviking.calls import ANSWER_MOST_BYTES
from tests.memory.backends.openviking.asked import CALLS, REPEATED, failing
from tests.memory.backends.openviking.wire import IDENTITY, KEY, RECORDED, Pieces, Wire, recorded

# Errors


@pytest.mark.parametrize(
    ("answer", "kind", "code", "is_retryable"),
    [
        ("health_wrong_key", errors.OpenVikingAuthenticationError, "UNAUTHENTICATED", True),
        ("read_foreign", errors.OpenVikingRejectedError, "PERMISSION_DENIED", False),
        ("unknown_field", errors.OpenVikingRejectedError, "INVALID_ARGUMENT", False),
        ("too_many", errors.OpenVikingRejectedError, "INVALID_ARGUMENT", False),
        ("commit_unknown", errors.OpenVikingNotFoundError, "NOT_FOUND", False),
        ("wrong_method", errors.OpenVikingRejectedError, "UNKNOWN", False),
        ("upstream_429", errors.OpenVikingRateLimitError, "RESOURCE_EXHAUSTED", True),
        ("upstream_500", errors.OpenVikingUnavailableError, "UNAVAILABLE", True),
        ("upstream_401", errors.OpenVikingUnavailableError, "UNAUTHENTICATED", True),
    ],
)
async def test_a_recorded_error_has_its_class_status_code_and_request(answer, kind, code, is_retryable):
    error = await failing(Wire(recorded(answer)), "commit")
    assert type(error) is kind and error.is_retryable == is_retryable
    assert (error.details.operation, error.details.status) == ("commit", RECORDED[answer]["status"])
    assert (error.details.server_code, error.details.request_id) == (code, "req-1")


async def test_a_401_of_a_model_behind_the_server_is_the_servers_trouble_and_not_our_key():
    ours, theirs = await failing(Wire(recorded("health_wrong_key"))), await failing(Wire(recorded("upstream_401")))
    assert (ours.code, ours.is_transient, theirs.code, theirs.is_transient) == ("memory_key_refused", False, "memory_unavailable", True)


@pytest.mark.parametrize("status", [500, 501, 502, 503, 504, 599])
async def test_a_5xx_without_an_envelope_is_unavailable(status):
    error = await failing(Wire(httpx.Response(status, content=b"<html>Bad gateway</html>")))
    assert (type(error), error.details.server_code) == (errors.OpenVikingUnavailableError, "")


async def test_no_error_holds_a_key_a_text_or_an_answer():
    body = {"status": "error", "error": {"code": f"X-{KEY}", "message": f"about hello {KEY}", "details": {"a": KEY}}}
    answers = [httpx.Response(status, json=body, headers={"x-request-id": f"a {KEY}\n"}) for status in (400, 401, 403, 429, 500)]
    for answer in (*answers, httpx.ReadError(f"hello {KEY}"), httpx.Response(200, content=KEY.encode())):
        error = await failing(Wire(answer), "add")
        whole = " ".join(map(str, [error, repr(error), error.details, error.__cause__, error.__context__]))
        assert KEY not in whole and "hello" not in whole


# Repetitions


@pytest.mark.parametrize("name", REPEATED)
@pytest.mark.parametrize("trouble", [429, 502, 503, 504])
async def test_what_may_be_repeated_is_repeated_while_the_server_is_busy(name, trouble):
    wire = Wire(httpx.Response(trouble), httpx.Response(trouble), recorded(CALLS[name][1]))
    await CALLS[name][0](wire.client())
    assert len(wire.requests) == 3


@pytest.mark.parametrize("name", REPEATED)
@pytest.mark.parametrize("trouble", [httpx.ConnectError, httpx.ConnectTimeout, httpx.ReadError, httpx.RemoteProtocolError])
async def test_what_may_be_repeated_is_repeated_when_the_connection_fails(name, trouble):
    wire = Wire(trouble("x"), recorded(CALLS[name][1]))
    await CALLS[name][0](wire.client())
    assert len(wire.requests) == 2


async def test_a_health_check_is_repeated_too():
    answers = iter([httpx.Response(503), None])
    wire = Wire(health=lambda request: next(answers) or httpx.Response(200, json=RECORDED["health"]["body"]))
    assert (await wire.client().health(IDENTITY)).version == "0.5.2"


@pytest.mark.parametrize(
    "trouble", [httpx.Response(503), httpx.Response(429), httpx.ConnectError("x"), httpx.ReadError("x"), httpx.ReadTimeout("x")]
)
async def test_an_add_is_never_repeated_by_itself(trouble):
    wire = Wire(trouble)
    await failing(wire, "add")
    assert len(wire.requests) == 1


@pytest.mark.parametrize("name", REPEATED)
@pytest.mark.parametrize("trouble", [400, 403, 405, 409, 422, 500, 501])
async def test_a_refusal_that_would_come_again_is_not_repeated(name, trouble):
    wire = Wire(httpx.Response(trouble))
    await failing(wire, name)
    assert len(wire.requests) == 1


async def test_a_wrong_key_is_not_repeated_but_a_model_that_refuses_the_servers_key_is():
    ours, theirs = Wire(recorded("health_wrong_key")), Wire(recorded("upstream_401"))
    await failing(ours)
    await failing(theirs)
    assert (len(ours.requests), len(theirs.requests)) == (1, 3)


@pytest.mark.parametrize("name", ["ensure", "commit", "delete_session", "tasks"])
async def test_a_session_that_is_just_being_written_is_asked_for_again(name):
    wire = Wire(recorded("session_while_written"), recorded(CALLS[name][1]))
    await CALLS[name][0](wire.client())
    error = await failing(Wire(recorded("session_while_written")), name)
    assert (len(wire.requests), error.code, error.is_retryable) == (2, "memory_unavailable", True)


async def test_an_add_to_a_session_that_is_just_being_written_is_unclear():
    wire = Wire(recorded("session_while_written"))
    error = await failing(wire, "add")
    assert (len(wire.requests), error.is_refused, error.is_retryable) == (1, False, True)


async def test_an_answer_that_does_not_come_in_time_is_not_waited_for_again():
    wire = Wire(httpx.ReadTimeout("x"))
    assert (await failing(wire)).code == "memory_timeout" and len(wire.requests) == 1


async def test_repetitions_end_and_wait_in_between():
    wire = Wire(httpx.Response(503))
    began = time.monotonic()
    await failing(wire, retry={"attempts": 4, "base_seconds": 0.02, "max_seconds": 0.04})
    assert len(wire.requests) == 4 and 0.03 <= time.monotonic() - began < 1


async def test_an_error_knows_whether_the_server_has_done_nothing_for_sure():
    told = {
        kind: (await failing(Wire(answer), "add")).is_refused
        for kind, answer in {
            "unconnected": httpx.ConnectError("x"),
            "no place in the pool": httpx.PoolTimeout("x"),
            "refused": httpx.Response(400),
            "no key": recorded("health_wrong_key"),
            "broken": httpx.ReadError("x"),
            "late": httpx.ReadTimeout("x"),
            "gateway": httpx.Response(502),
            "nonsense": httpx.Response(200, content=b"?"),
        }.items()
    }
    assert [kind for kind, is_refused in told.items() if is_refused] == ["unconnected", "no place in the pool", "refused", "no key"]


# A server that misbehaves


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("name", ["find", "add"])
async def test_no_redirect_is_followed_as_another_host_would_get_the_key(name, status):
    wire = Wire(httpx.Response(status, headers={"location": "http://evil.example/"}))
    error = await failing(wire, name)
    assert type(error) is errors.OpenVikingProtocolError and {request.url.host for request in wire.all} == {"localhost"}


async def test_an_endless_body_is_read_to_its_limit_only():
    body = Pieces(itertools.repeat(b"x" * 65_536))
    error = await failing(Wire(httpx.Response(200, stream=body)))
    assert type(error) is errors.OpenVikingProtocolError and body.read * 65_536 <= ANSWER_MOST_BYTES + 65_536


async def test_a_body_that_drips_is_ended_by_the_total_limit():
    limits = {f"{name}_timeout_seconds": 0.05 for name in ("connect", "read", "write", "pool")}
    began = time.monotonic()
    error = await failing(Wire(httpx.Response(200, stream=Pieces(itertools.repeat(b" "), pause_seconds=0.01))), **limits)
    assert error.code == "memory_timeout" and time.monotonic() - began < 1


async def test_an_add_is_over_before_an_unclear_one_may_be_sent_again():
    slow = Wire(httpx.Response(200, stream=Pieces(itertools.repeat(b" "), pause_seconds=0.01)))
    began = time.monotonic()
    assert (await failing(slow, "add", unclear_wait_seconds=0.1)).code == "memory_timeout"
    assert time.monotonic() - began < 1


async def test_a_small_body_does_not_become_a_large_one():
    wire = Wire(httpx.Response(200, headers={"content-encoding": "zstd"}, stream=Pieces([b"x"])))
    assert type(await failing(wire)) is errors.OpenVikingProtocolError
    assert wire.requests[0].headers["accept-encoding"] == "identity"


# Connections


async def test_one_pool_of_connections_serves_many_calls_of_a_loop():
    wire = Wire(recorded("found_nothing"))
    client = wire.client()
    for _ in range(3):
        await client.find(IDENTITY, "x", limit=1)
    assert len(client._calls._clients) == 1


def test_each_event_loop_has_connections_of_its_own():
    wire = Wire(recorded("found_nothing"))
    client = wire.client()
    for _ in range(2):
        with asyncio.Runner() as runner:
            assert runner.run(client.find(IDENTITY, "x", limit=1)) == []


async def test_after_closing_nothing_is_sent():
    wire = Wire(recorded("found_nothing"))
    client = wire.client()
    await client.find(IDENTITY, "x", limit=1)
    await client.close()
    with pytest.raises(BackendClosed):
        await client.find(IDENTITY, "x", limit=1)
    await client.close()
    assert len(wire.requests) == 1


async def test_closing_under_a_call_that_waits_for_its_next_try_ends_it():
    client = Wire(httpx.Response(503)).client(retry={"attempts": 10, "base_seconds": 0.05, "max_seconds": 0.05})
    call = asyncio.ensure_future(client.find(IDENTITY, "x", limit=1))
    await asyncio.sleep(0.01)
    await client.close()
    with pytest.raises(BackendClosed):
        await call
