"""The calls: addresses, headers, bodies, answers, and the check that the server keeps people apart."""

import asyncio
import json

import httpx
import pytest

from chat.memory.backends.openviking import errors
from tests.memory.backends.openviking.asked import CALLS, MEMORIES, TASK, failing
from tests.memory.backends.openviking.wire import IDENTITY, KEY, RECORDED, SESSION, Counts, Wire, good, recorded

# Requests


@pytest.mark.parametrize("name", CALLS)
async def test_each_call_has_its_endpoint_method_headers_and_body(name):
    call, answer, method, path, query, body = CALLS[name]
    wire = Wire(recorded(answer))
    await call(wire.client())
    (request,) = wire.requests
    assert (request.method, request.url.path, dict(request.url.params)) == (method, path, query)
    assert (json.loads(request.content) if request.content else None) == body
    assert request.headers.get("content-type") == ("application/json" if body is not None else None)


@pytest.mark.parametrize("name", CALLS)
async def test_each_call_carries_the_trusted_identity_and_the_key(name):
    call, answer, *_ = CALLS[name]
    wire = Wire(recorded(answer))
    await call(wire.client())
    for request in wire.all:
        assert request.headers["x-api-key"] == KEY
        assert (request.headers["x-openviking-account"], request.headers["x-openviking-user"]) == (IDENTITY.account, IDENTITY.user)
        assert KEY not in str(request.url) and KEY.encode() not in request.content


async def test_a_base_url_may_have_a_path():
    wire = Wire(recorded("found_nothing"))
    await wire.client(base_url="http://localhost:1933/memory/").find(IDENTITY, "x", limit=1)
    assert str(wire.requests[0].url) == "http://localhost:1933/memory/api/v1/search/find"


async def test_the_four_time_limits_are_each_set():
    wire = Wire(recorded("found_nothing"))
    limits = {f"{name}_timeout_seconds": at + 1 for at, name in enumerate(("connect", "read", "write", "pool"))}
    await wire.client(**limits).find(IDENTITY, "x", limit=1)
    assert wire.requests[0].extensions["timeout"] == {"connect": 1, "read": 2, "write": 3, "pool": 4}


# Answers


async def test_recorded_answers_become_what_the_product_knows():
    wire = Wire(*(recorded(name) for name in ("session_committed", "committed", "skipped", "task_failed", "task_completed", "tree")))
    client = wire.client()
    assert (await client.ensure_session(IDENTITY, SESSION)).total == 2
    commit = await client.commit_session(IDENTITY, SESSION)
    assert (commit.is_accepted, commit.task_id) == (True, TASK) and commit.archive_uri.endswith("archive_001")
    assert not (await client.commit_session(IDENTITY, SESSION)).is_accepted
    assert (await client.get_task(IDENTITY, TASK)).status == "failed"
    task = await client.get_task(IDENTITY, TASK)
    assert (task.status, task.remembered, task.is_active) == ("completed", 3, False)
    files = await client.list_memories(IDENTITY)
    assert [uri for uri in files if "/events/2026/11/30/" in uri] and not [uri for uri in files if not uri.endswith(".md")]


@pytest.mark.parametrize("status", ["pending", "running", "cancelling", "completed", "failed", "cancelled"])
async def test_every_state_of_a_task_is_known(status):
    assert (await Wire(recorded("task_pending", status=status)).client().get_task(IDENTITY, TASK)).status == status


async def test_an_envelope_without_its_null_keys_is_read():
    assert await Wire(good({"memories": []})).client().find(IDENTITY, "x", limit=1) == []


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"<html>hello</html>", b"null", b"[]", b'"ok"', b"{", b'{"status":"ok"}', b'{"status":"error","result":{}}', b"[" * 100_000),
        *(b'{"status":"ok","result":null}', b'{"status":"ok","result":{"memories":{}}}', b'{"detail":"x"}', b"\xff\xfe"),
    ],
)
async def test_an_answer_that_is_no_envelope_is_an_error_of_protocol(body):
    error = await failing(Wire(httpx.Response(200, content=body)))
    assert type(error) is errors.OpenVikingProtocolError


@pytest.mark.parametrize(
    ("call", "result"),
    [
        ("ensure", {"total_message_count": None}),
        ("ensure", {"total_message_count": True}),
        ("ensure", {"user": None}),
        ("add", {"added": 1}),
        ("add", {"added": None}),
        ("commit", {"status": "queued"}),
        ("commit", {"task_id": None}),
        ("task", {"status": "paused"}),
    ],
)
async def test_a_result_with_a_field_that_makes_no_sense_is_an_error_of_protocol(call, result):
    error = await failing(Wire(recorded(CALLS[call][1], **result)), call)
    assert type(error) is errors.OpenVikingProtocolError


@pytest.mark.parametrize("name", ["task", "list", "read", "delete_session", "delete_memories"])
async def test_what_is_gone_is_no_error(name):
    missing = {"task": "task_unknown", "list": "tree_missing", "read": "read_missing"}.get(name, "session_deleted_again")
    assert not await CALLS[name][0](Wire(recorded(missing)).client())


# Whether the server keeps people apart


@pytest.mark.parametrize(
    "told",
    [
        *({"auth_mode": "api_key"}, {"auth_mode": "dev"}, {"auth_mode": None}, {"account_id": "other"}, {"user_id": "df_other"}),
        *({"user_id": None}, {"account_id": None}),
    ],
)
async def test_a_server_that_does_not_keep_people_apart_gets_no_request(told):
    counts = Counts()
    wire = Wire(recorded("found"), health=httpx.Response(200, json={**RECORDED["health"]["body"], **told}))
    with pytest.raises(errors.OpenVikingIdentityError):
        await wire.client(counts).find(IDENTITY, "x", limit=1)
    assert not wire.requests and counts.of("openviking_degraded_total", reason="not_trusted") == 1


async def test_health_that_tells_no_identity_is_not_enough():
    wire = Wire(recorded("found"), health=recorded("health_no_identity"))
    assert type(await failing(wire)) is errors.OpenVikingIdentityError and not wire.requests


async def test_a_server_is_checked_once_for_many_calls_at_the_same_time():
    wire = Wire(recorded("found_nothing"))
    client = wire.client()
    await asyncio.gather(*(client.find(IDENTITY, "x", limit=1) for _ in range(5)))
    await client.find(IDENTITY, "x", limit=1)
    assert (len(wire.all) - len(wire.requests), len(wire.requests)) == (1, 6)


@pytest.mark.parametrize("trouble", [httpx.ConnectError("x"), httpx.ReadError("x"), httpx.ReadTimeout("x")])
async def test_a_server_is_checked_again_after_a_connection_failed(trouble):
    wire = Wire(recorded("found_nothing"), trouble, recorded("found_nothing"))
    client = wire.client(retry={"attempts": 1})
    await client.find(IDENTITY, "x", limit=1)
    with pytest.raises(errors.OpenVikingError):
        await client.find(IDENTITY, "x", limit=1)
    wire.health = httpx.Response(200, json={**RECORDED["health"]["body"], "auth_mode": "api_key"})
    with pytest.raises(errors.OpenVikingIdentityError):
        await client.find(IDENTITY, "x", limit=1)
    assert len(wire.requests) == 2


async def test_a_session_that_is_somebody_elses_is_refused():
    for user in ({"account_id": IDENTITY.account, "user_id": "owner"}, {"account_id": "default", "user_id": IDENTITY.user}):
        assert type(await failing(Wire(recorded("session", user=user)), "ensure")) is errors.OpenVikingIdentityError


async def test_a_listing_with_somebody_elses_sessions_is_refused():
    foreign = {"session_id": "s", "uri": "viking://user/owner/sessions/s"}
    assert type(await failing(Wire(good([foreign])), "sessions")) is errors.OpenVikingIdentityError


@pytest.mark.parametrize(
    "uri", ["viking://user/other/memories/a.md", f"{MEMORIES}/../../x.md", f"{MEMORIES}/%2e%2e/x.md", f"{MEMORIES}x/a.md"]
)
async def test_nothing_but_the_own_memories_is_read(uri):
    wire = Wire(recorded("read"))
    with pytest.raises(errors.OpenVikingIdentityError):
        await wire.client().read_memory(IDENTITY, uri)
    assert not wire.requests
