"""The manager as the program sees it: how it is found and made, how it starts, fails and ends."""

import ast
import asyncio
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from chat.memory import backends
from chat.memory.backends.base import BackendClosed, BackendError, BackendMisconfigured, ContextBudget, Services
from chat.memory.backends.openviking import OpenVikingManager, errors
from tests.memory.backends.openviking.wire import (
    KEY,
    SCOPE,
    SESSION,
    SETTINGS,
    Counts,
    Marks,
    Wire,
    World,
    once,
    recorded,
    said,
    sound_health,
)

BUDGET = ContextBudget(chars=2_000, seconds=1)
FOLDER = Path(backends.__file__).parent / "openviking"


def services():
    return Services(Marks(), str, Counts(), {"OPENVIKING_API_KEY": KEY}.get)


async def slow(request):
    await asyncio.sleep(30)


# Found and made


def test_the_backend_is_found_by_its_folder():
    assert "openviking" in backends.names() and backends.manager_class("openviking") is OpenVikingManager


def test_a_manager_is_made_of_the_configuration_without_a_request():
    manager = OpenVikingManager.from_configuration({**SETTINGS, "retrieval": {"timeout_seconds": 0.4}}, services())
    assert (manager.read_seconds, manager.flush_seconds, manager.drops_writes) == (0.4, 20, False)
    told = manager.capabilities
    assert (told.title, told.place, told.is_external, told.sends_text) == ("OpenViking", "localhost:1933", True, True)
    assert (told.can_search, told.can_forget_all) == (True, True)
    assert not (told.can_edit or told.can_forget_one or told.needs_confirmation or told.forgets_with_thread)


def test_writes_are_dropped_only_where_that_was_chosen():
    settings = {**SETTINGS, "failure_policy": {"write": "log_and_drop"}}
    assert OpenVikingManager.from_configuration(settings, services()).drops_writes


@pytest.mark.parametrize("wrong", [{}, {**SETTINGS, "bse_url": "x"}, {**SETTINGS, "auth_mode": "dev"}, {**SETTINGS, "mode": "tool"}])
def test_a_wrong_configuration_stops_the_start_with_the_name_of_the_field(wrong):
    with pytest.raises(BackendMisconfigured, match=r"^[a-z_]+: "):
        OpenVikingManager.from_configuration(wrong, services())


def test_nothing_of_the_program_is_imported_but_the_contract():
    ours = set()
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            ours |= {name for name in names if name.split(".")[0] in ("chat", "memoryapp", "django", "channels", "openviking")}
    allowed = ("chat.memory.backends.base", "chat.memory.backends.openviking")
    assert ours and not [name for name in ours if not name.startswith(allowed)]


def test_looking_for_backends_imports_nothing_of_openviking():
    code = (
        "import sys; from chat.memory import backends; backends.names(); "
        "from chat.memory.backends.base import MemoryManager; assert not [m for m in sys.modules if 'openviking' in m or m == 'httpx']"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=FOLDER.parents[3])


# Start


async def test_warming_up_tells_the_version_and_changes_nothing():
    world = World()
    health = await world.manager().warm()
    assert (health.is_usable, health.version) == (True, "0.5.2")
    assert not world.paths() and not world.state.users()


@pytest.mark.parametrize(
    ("auth_mode", "before", "code"),
    [
        ("trusted", httpx.ConnectError("x"), "memory_unreachable"),
        ("trusted", httpx.Response(401, json={"status": "error", "error": {"code": "UNAUTHENTICATED"}}), "memory_key_refused"),
        ("trusted", httpx.Response(502, content=b"<html>"), "memory_unavailable"),
        ("api_key", None, "memory_not_trusted"),
        ("dev", httpx.Response(200, json={"status": "ok", "healthy": True}), "memory_not_trusted"),
    ],
)
async def test_a_server_that_cannot_be_used_ends_the_start_or_is_seen_as_degraded(auth_mode, before, code):
    world = World(auth_mode=auth_mode)
    world.before = lambda request: before
    with pytest.raises(BackendError) as caught:
        await world.manager(startup_policy="fail_fast").warm()
    health = await world.manager(startup_policy="warn").warm()
    assert (caught.value.code, health.is_usable, health.code) == (code, False, code)
    assert world.counts.of("openviking_degraded_total", reason="start") == 2


async def test_another_version_is_taken_and_said(caplog):
    newer = Wire(health=lambda request: httpx.Response(200, json=sound_health(request).json() | {"version": "0.6.0"}))
    manager = World().manager()
    manager._client = newer.client()
    assert (await manager.warm()).version == "0.6.0" and "version=0.6.0 supported=0.5.2" in caplog.text


async def test_a_degraded_start_is_over_when_the_server_is_there_again():
    world = World()
    world.before = lambda request: httpx.ConnectError("x")
    manager = world.manager(startup_policy="warn")
    await manager.warm()
    world.before = lambda request: None
    assert (await manager.add(SCOPE, "th_1", said("hello"))).sent == 1


# Reading fails open at the caller


@pytest.mark.parametrize(
    "answer",
    [
        *(httpx.Response(status, content=b"<html>") for status in (200, 204, 301, 400, 401, 403, 404, 429, 500, 502, 503, 504)),
        *(kind("x") for kind in (httpx.ConnectError, httpx.ReadTimeout, httpx.PoolTimeout, httpx.RemoteProtocolError, httpx.DecodingError)),
        *(httpx.Response(200, json=body) for body in (None, [], {"status": "ok"}, {"status": "ok", "result": {"memories": 5}})),
    ],
)
async def test_reading_ends_in_memories_or_in_an_error_of_the_backend_and_is_noted(answer):
    world = World()
    manager = world.manager()
    manager._client = Wire(answer).client(world.counts)
    with pytest.raises(BackendError) as caught:
        await manager.get_context(SCOPE, "x", BUDGET)
    assert caught.value.code.startswith("memory_") and world.counts.of("openviking_degraded_total", reason="read") == 1


@pytest.mark.parametrize("seconds", [0.05, 5])
async def test_reading_is_never_longer_than_the_budget_or_the_setting(seconds):
    world = World()
    manager = world.manager(retrieval={"timeout_seconds": 0.1})
    world.handle = slow
    manager = World.manager(world, retrieval={"timeout_seconds": 0.1})
    began = time.monotonic()
    with pytest.raises(errors.OpenVikingTimeoutError):
        await manager.get_context(SCOPE, "x", ContextBudget(2_000, seconds))
    assert time.monotonic() - began < 0.5


async def test_repetitions_do_not_stretch_the_budget():
    world = World()
    manager = world.manager()
    manager._client = Wire(httpx.Response(503)).client(world.counts, retry={"attempts": 10, "base_seconds": 1, "max_seconds": 2})
    began = time.monotonic()
    with pytest.raises(errors.OpenVikingTimeoutError):
        await manager.get_context(SCOPE, "x", ContextBudget(2_000, 0.1))
    assert time.monotonic() - began < 0.5


async def test_somebody_who_stops_waiting_stops_the_call():
    world = World()
    world.handle = slow
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await world.manager().get_context(SCOPE, "x", BUDGET)


# Writing that fails


@pytest.mark.parametrize("where", [r"/health", r"GET .*/sessions", r"/batch", r"/commit"])
@pytest.mark.parametrize(
    "answer", [httpx.ReadTimeout("x"), httpx.ConnectError("x"), httpx.Response(500), httpx.Response(200, content=b"?")]
)
async def test_a_write_that_fails_is_an_error_of_the_backend_and_is_noted(where, answer):
    world = World()
    world.before = once(answer, where)
    with pytest.raises(BackendError) as caught:
        await world.manager(retry={"attempts": 1}).add(SCOPE, "th_1", said("hello"))
    assert caught.value.is_retryable and world.counts.of("openviking_degraded_total", reason="write") == 1


# The end


async def test_after_the_flush_no_write_is_taken():
    world = World()
    manager = world.manager()
    assert await manager.flush(1)
    with pytest.raises(BackendClosed):
        await manager.add(SCOPE, "th_1", said("hello"))
    assert not world.seen


async def test_the_flush_waits_for_what_is_on_its_way():
    world = World()
    manager = world.manager()
    writing = asyncio.ensure_future(manager.add(SCOPE, "th_1", said("hello")))
    await asyncio.sleep(0)
    assert await manager.flush(5) and writing.done() and world.state.messages(SESSION) == ["hello"]


async def test_the_flush_ends_at_its_hard_limit():
    world = World()
    world.handle = slow
    manager = world.manager()
    writing = asyncio.ensure_future(manager.add(SCOPE, "th_1", said("hello")))
    await asyncio.sleep(0)
    began = time.monotonic()
    assert not await manager.flush(0.1)
    assert time.monotonic() - began < 0.5 and world.counts.of("openviking_degraded_total", reason="flush") == 1
    writing.cancel()


async def test_closing_takes_no_more_and_may_be_done_twice():
    world = World()
    manager = world.manager()
    await manager.add(SCOPE, "th_1", said("hello"))
    await manager.close()
    await manager.close()
    for call in (manager.add(SCOPE, "th_1", said("more", start=2)), manager.search(SCOPE, "x", limit=1)):
        with pytest.raises(BackendClosed):
            await call


@pytest.mark.parametrize(("waits", "status"), [(True, "completed"), (False, "pending")])
async def test_extraction_is_waited_for_only_where_that_was_chosen(waits, status):
    world = World(extraction_seconds=0.4)
    await world.manager(session={"wait_for_extraction": waits}).add(SCOPE, "th_1", said("We decided to buy chalk."))
    assert world.state.tasks() == [status]


def test_one_manager_serves_the_loops_of_two_threads():
    world = World()
    manager = world.manager()
    for start in (1, 2):
        with asyncio.Runner() as runner:
            runner.run(manager.add(SCOPE, "th_1", said("hello", start=start)))
    assert world.state.messages(SESSION) == ["hello", "hello"]


async def test_a_session_answer_of_the_real_server_is_taken():
    world = World()
    manager = world.manager()
    manager._client = Wire(recorded("session"), recorded("added"), recorded("committed")).client()
    assert (await manager.add(SCOPE, "th_1", said("hello", "Noted."))).sent == 2
