"""A memory server that misbehaves: answers come in time and tell nothing of it, and what was said still gets there, once."""

import logging
import time
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient

from chat.models import RemoteGap, Run
from tests.fakes import scripted
from tests.openviking.classroom import Classroom, session_of
from tests.openviking.real import count
from tests.openviking_server.in_force import in_force
from tests.openviking_server.server import Server
from tests.openviking_server.state import Who

pytestmark = pytest.mark.django_db(transaction=True)
BUDGET_SECONDS = 0.5
SLACK_SECONDS = 2.0  # a loaded machine; the faults below last for ever or for half a minute
SAID = "I prefer tables with three columns."
QUESTION = "Which tables do I prefer?"
FOREIGN = "I prefer secret alpine marmots."
# What the server says besides, and what goes to it: none of it is anybody's business.
SECRETS = ("traceback", "/srv/private", "Bad Gateway", "test-root-key", "alpine marmots", "Upstream")
FIND = "search/find"

BROKEN: dict[str, dict[str, Any]] = {
    "slow": {"kind": "delay", "seconds": 30},
    "limited": {"kind": "status", "status": 429},
    "broken": {"kind": "status", "status": 500},
    "unavailable": {"kind": "status", "status": 503},
    "a proxy's page": {"kind": "html"},
    "its model refuses its key": {"kind": "upstream"},
    "half of an envelope": {"kind": "envelope", "body": '{"status": "ok", "result": {"memories": ['},
    "another envelope": {"kind": "envelope", "body": {"detail": "traceback"}},
    "no result": {"kind": "envelope", "body": {"status": "ok"}},
    "a list": {"kind": "envelope", "body": [1, 2, 3]},
    "a text for hits": {"kind": "envelope", "body": {"status": "ok", "result": {"memories": "traceback"}}},
    "deep": {"kind": "envelope", "body": "[" * 200_000},
    "no JSON": {"kind": "envelope", "body": "traceback"},
    "endless": {"kind": "endless"},
    "a byte now and then": {"kind": "trickle", "seconds": 0.2},
    "to another host": {"kind": "redirect"},
    "closed": {"kind": "closed"},
    "closed after its work": {"kind": "lost"},
}


@pytest.fixture
def server():
    with Server() as made:
        yield made


@pytest.fixture
def room(server):
    made = Classroom()
    limits = {f"{name}_timeout_seconds": 1 for name in ("connect", "read", "write", "pool")}
    limits |= {"unclear_wait_seconds": 0.1, "retrieval": {"timeout_seconds": BUDGET_SECONDS}}
    with in_force(server, **limits), scripted(made.model):
        yield made


@pytest.fixture
def log(caplog):
    caplog.set_level(logging.DEBUG, "chat")
    return caplog


async def remembering(room):
    """A teacher of whom something is remembered, and their assistant."""
    school, agent = await sync_to_async(room.school)()
    teacher = await sync_to_async(room.teacher)(school)
    await sync_to_async(room.agree)(teacher, agent)
    await room.ask(teacher, agent, SAID)
    await room.settled()
    return teacher, agent


async def timed(room, teacher, agent) -> tuple[Run, float]:
    began = time.monotonic()
    run = await room.ask(teacher, agent, QUESTION)
    return run, time.monotonic() - began


async def page_of(teacher, run: Run) -> str:
    browser = AsyncClient()
    await browser.aforce_login(teacher)
    return (await browser.get(f"/chat/t/{run.thread_id}/")).content.decode()


@pytest.mark.parametrize("name", BROKEN)
async def test_the_answer_comes_in_time_and_tells_nothing(room, server, log, name):
    teacher, agent = await remembering(room)
    _, usual = await timed(room, teacher, agent)
    assert SAID in room.told()
    server.faults.add(**BROKEN[name], where=FIND)
    run, took = await timed(room, teacher, agent)
    assert (run.status, run.output) == ("completed", "好的。")
    assert took < usual + BUDGET_SECONDS + SLACK_SECONDS
    assert run.backend_code and SAID not in room.told()
    html = await page_of(teacher, run)
    for secret in SECRETS:
        assert secret not in room.told() and secret not in html and secret not in log.text and secret not in run.backend_code
    assert QUESTION not in log.text and SAID not in log.text
    assert server.elsewhere_seen == []
    server.faults.clear()
    again, _ = await timed(room, teacher, agent)
    assert again.backend_code == "" and SAID in room.told()


async def test_after_some_failures_the_server_is_not_waited_for_any_more(room, server):
    teacher, agent = await remembering(room)
    server.faults.add("delay", FIND, seconds=30)
    for _ in range(3):
        await timed(room, teacher, agent)
    asked = len(server.seen)
    run, _ = await timed(room, teacher, agent)
    assert run.backend_code == "memory_paused" and len(server.seen) == asked


async def test_a_kept_connection_that_was_closed_costs_nothing(room, server):
    teacher, agent = await remembering(room)
    server.faults.add("stale")  # each answer is followed by a close without a word
    for _ in range(3):
        run, _ = await timed(room, teacher, agent)
        assert run.backend_code == "" and SAID in room.told()


async def test_hits_of_others_are_dropped_and_counted(room, server, log):
    teacher, agent = await remembering(room)
    other = Who(server.account, "df_" + "0" * 40)
    server.state.add(other, "s", [{"role": "user", "content": FOREIGN}])
    server.state.commit(other, "s")
    server.faults.add("foreign", FIND)
    run, _ = await timed(room, teacher, agent)
    assert (run.status, run.backend_code) == ("completed", "")
    assert SAID in room.told() and "marmots" not in room.told()
    assert "foreign_hit" in log.text and "marmots" not in log.text
    browser = AsyncClient()
    await browser.aforce_login(teacher)
    shown = (await browser.get("/memory/backend/", {"q": "marmots tables"})).content.decode()
    assert "alpine marmots" not in shown


async def test_a_server_that_tells_no_identities_apart_is_given_nothing(room, server):
    server.contract.auth_mode = "api_key"
    school, agent = await sync_to_async(room.school)()
    teacher = await sync_to_async(room.teacher)(school)
    await sync_to_async(room.agree)(teacher, agent)
    run = await room.ask(teacher, agent, SAID)
    await room.work()
    assert run.status == "completed" and run.backend_code
    assert server.state.messages() == []
    assert {one.path.partition("?")[0] for one in server.seen} == {"/health"}


WRITES = ["GET /api/v1/sessions", "messages/batch", "/commit", "/tasks"]


@pytest.mark.slow
@pytest.mark.parametrize("where", WRITES)
@pytest.mark.parametrize("name", BROKEN)
async def test_what_was_said_gets_there_once_after_the_trouble(room, server, log, name, where):
    school, agent = await sync_to_async(room.school)()
    teacher = await sync_to_async(room.teacher)(school)
    await sync_to_async(room.agree)(teacher, agent)
    fault = BROKEN[name] | ({"seconds": 3} if name == "slow" else {})
    server.faults.add(**fault, where=where)
    run = await room.ask(teacher, agent, SAID)
    await room.work()
    server.faults.clear()
    await room.settled()
    user, session = session_of(server.account, teacher, agent, run.thread_id)
    assert count(server, user, session) == 2 and server.state.messages() == [SAID, "好的。"]
    assert server.state.live() == [] and server.state.memories() == [f"- {SAID}"]
    assert not await RemoteGap.objects.aexists()
    assert server.elsewhere_seen == []
    for secret in (*SECRETS, SAID):
        assert secret not in log.text


async def test_rounds_of_which_no_memory_came_are_told(room, server):
    school, agent = await sync_to_async(room.school)()
    teacher = await sync_to_async(room.teacher)(school)
    await sync_to_async(room.agree)(teacher, agent)
    server.faults.add("task", "/commit")
    run = await room.ask(teacher, agent, SAID)
    await room.settled()
    assert [gap.run_key async for gap in RemoteGap.objects.filter(outcome="failed")] == [run.pk]
    browser = AsyncClient()
    await browser.aforce_login(teacher)
    shown = (await browser.get("/memory/backend/", headers={"accept-language": "en"})).content.decode()
    assert "not captured" in shown
