"""Forgetting: everything of a user, and nothing of anybody else; asked again until nothing can come any more."""

import time

import httpx
import pytest

from chat.memory.backends.base import BackendError, MemoryScope
from chat.memory.backends.openviking import forgetting
from tests.memory.backends.openviking.wire import SCOPE, SESSION, World, once, said

OTHER = MemoryScope("tn_1", "us_2", "ag_1")
FACTS = said("I prefer tea. We decided to buy chalk on 2026-12-05.")


async def filled(**more):
    world = World(**more)
    manager = world.manager()
    for scope in (SCOPE, OTHER):
        for thread in ("th_1", "th_2"):
            await manager.add(scope, thread, FACTS)
    return world, manager


def later(monkeypatch, seconds=60):
    real = time.time
    monkeypatch.setattr(forgetting.time, "time", lambda: real() + seconds)


async def test_everything_of_the_user_goes_and_nothing_of_others(monkeypatch):
    world, manager = await filled()
    later(monkeypatch)
    assert await manager.forget(SCOPE)
    (left,) = world.state.users()
    assert len(world.state.sessions()) == 2 and await manager.search(SCOPE, "", limit=9) == []
    assert await manager.search(OTHER, "", limit=9) and world.state.memories(left)


async def test_forgetting_nothing_is_done_at_once():
    assert await World().manager().forget(SCOPE)


async def test_what_ended_a_moment_ago_may_still_write_so_it_is_asked_again(monkeypatch):
    world, manager = await filled()
    assert not await manager.forget(SCOPE)
    assert await manager.search(SCOPE, "", limit=9) == []
    later(monkeypatch)
    assert await world.manager().forget(SCOPE)  # another process, which knows nothing of the first


async def test_tasks_under_way_are_stopped_and_waited_for(monkeypatch):
    world, manager = await filled(extraction_seconds=60)
    later(monkeypatch, 0)
    assert not await manager.forget(SCOPE)
    assert sorted(world.state.tasks()) == ["cancelled", "cancelled", "pending", "pending"]


async def test_memories_that_a_task_brings_back_are_deleted_the_next_time(monkeypatch):
    world, manager = await filled()
    await manager.forget(SCOPE)
    await world.manager().add(SCOPE, "th_3", FACTS)  # as a batch that was on its way does
    assert await manager.search(SCOPE, "", limit=9)
    later(monkeypatch)
    assert await manager.forget(SCOPE)
    assert await manager.search(SCOPE, "", limit=9) == []


async def test_it_is_not_done_while_a_second_look_still_finds_something(monkeypatch):
    world, manager = await filled()
    later(monkeypatch)
    world.before = once(httpx.Response(200, json={"status": "ok", "result": {}}), r"DELETE /api/v1/fs")
    assert not await manager.forget(SCOPE)
    assert await manager.forget(SCOPE)


@pytest.mark.parametrize("step", [r"GET .*/tasks", r"GET .*/sessions", r"DELETE .*/sessions/", r"DELETE .*/fs"])
async def test_a_failure_on_the_way_is_told_and_the_next_time_goes_on(step, monkeypatch):
    world, manager = await filled()
    later(monkeypatch)
    world.before = once(httpx.Response(500), step)
    with pytest.raises(BackendError):
        await manager.forget(SCOPE)
    assert await manager.forget(SCOPE)


async def test_one_conversation_is_deleted_alone():
    world, manager = await filled()
    assert await manager.forget(SCOPE, "th_1")
    assert SESSION not in world.state.sessions() and len(world.state.sessions()) == 3


async def test_a_conversation_that_is_being_worked_on_is_asked_about_again():
    world, manager = await filled(extraction_seconds=60)
    waits = once(httpx.Response(412, json={"status": "error", "error": {"code": "FAILED_PRECONDITION"}}), r"/cancel")
    world.before = waits
    assert not await manager.forget(SCOPE, "th_1")
    assert await manager.forget(SCOPE, "th_1")
    assert world.state.tasks().count("cancelled") == 1


async def test_a_conversation_that_is_gone_is_forgotten():
    assert await World().manager().forget(SCOPE, "th_9")


async def test_nobody_is_forgotten_at_a_server_that_does_not_keep_people_apart():
    world, manager = await filled()
    world.contract.auth_mode = "api_key"
    with pytest.raises(BackendError):
        await world.manager().forget(SCOPE)
    assert len(world.state.sessions()) == 4 and not [request for request in world.seen if request.method == "DELETE"]
