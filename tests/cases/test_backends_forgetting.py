"""Forgetting, with the built-in backend and with a memory server alike: everything, at once, for good, and nobody else's."""

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient

from chat.memory.backends.openviking import forgetting
from chat.memory.external import chosen
from chat.models import RecallEntry, RemoteScope, RemoteSession, Run
from tests.fakes import scripted
from tests.openviking.classroom import Classroom, session_of
from tests.openviking_server.in_force import forget, in_force
from tests.openviking_server.server import Server

pytestmark = pytest.mark.django_db(transaction=True)
SAID, WORD = "我喜欢三栏表格，暗号青竹七号。", "青竹七号"
OTHER, OTHERS = "我喜欢三栏表格，暗号白桦十一号。", "白桦十一号"
LATER, LATERS = "我喜欢三栏表格，暗号赤松五号。", "赤松五号"
QUESTION = "我喜欢几栏表格？"


class Place:
    """A backend, and what it keeps of the words."""

    def __init__(self, server: Server | None) -> None:
        self.server = server

    async def kept(self) -> str:
        if self.server:
            return str(self.server.state.messages() + self.server.state.memories())
        return str([row async for row in RecallEntry.objects.values_list("input", "head")])


@pytest.fixture(params=["builtin", "openviking"])
def place(request, monkeypatch):
    monkeypatch.setattr(forgetting, "SETTLING_SECONDS", 0.0)  # the server on loopback writes at once what a task has found
    forget()
    if request.param == "builtin":
        yield Place(None)
        return
    with Server() as server, in_force(server):
        yield Place(server)


@pytest.fixture
def room(place):
    made = Classroom()
    with scripted(made.model):
        yield made


async def two_teachers(room, place):
    """Each has said something that is remembered; with the assistant, and the run of the first."""
    school, agent = await sync_to_async(room.school)()
    teachers = [await sync_to_async(room.teacher)(school) for _ in range(2)]
    runs = []
    for teacher, text in zip(teachers, (SAID, OTHER), strict=True):
        if place.server:
            await sync_to_async(room.agree)(teacher, agent)
        runs.append(await room.ask(teacher, agent, text))
    await room.settled()
    await room.ask(teachers[0], agent, QUESTION)
    assert WORD in room.told() and OTHERS not in room.told()
    return (*teachers, agent, runs[0])


async def forget_everything(teacher):
    browser = AsyncClient()
    await browser.aforce_login(teacher)
    assert (await browser.post("/memory/forget/", {"sure": "yes"})).status_code == 302


async def test_everything_is_forgotten_and_nothing_of_others(room, place):
    teacher, colleague, agent, _ = await two_teachers(room, place)
    await forget_everything(teacher)
    await room.settled()
    assert WORD not in await place.kept() and OTHERS in await place.kept()
    run = await room.ask(teacher, agent, QUESTION)
    assert WORD not in room.told() and run.backend_code == ""
    await room.ask(colleague, agent, QUESTION)
    assert OTHERS in room.told()
    assert not await RemoteScope.objects.filter(forget_asked_at__isnull=False).aexists()


async def test_what_is_said_afterwards_is_remembered_again(room, place):
    teacher, _, agent, _ = await two_teachers(room, place)
    await forget_everything(teacher)
    await room.settled()
    await room.ask(teacher, agent, LATER)
    await room.settled()
    await room.ask(teacher, agent, QUESTION)
    assert LATERS in room.told() and WORD not in room.told() and WORD not in await place.kept()


async def test_what_was_said_before_and_not_yet_delivered_never_gets_there(room, place):
    teacher, _, agent, first = await two_teachers(room, place)
    await room.ask(teacher, agent, f"再说一次，{SAID}", first.thread_id)  # and no worker has come by
    await forget_everything(teacher)
    await room.settled()
    assert WORD not in await place.kept()
    await room.ask(teacher, agent, QUESTION)
    assert WORD not in room.told()


async def test_a_conversation_that_is_deleted_is_gone_there_too(room, place):
    teacher, _, agent, run = await two_teachers(room, place)
    browser = AsyncClient()
    await browser.aforce_login(teacher)
    await browser.post(f"/chat/t/{run.thread_id}/delete/", {"sure": "yes"})
    assert not await Run.objects.filter(thread_id=run.thread_id).aexists()
    await room.settled()
    if place.server:
        _, session = session_of(place.server.account, teacher, agent, run.thread_id)
        assert session not in place.server.state.sessions() and len(place.server.state.sessions()) >= 1
        assert not await RemoteSession.objects.filter(thread_key=run.thread_id).aexists()
    if not place.server or chosen.installed().capabilities.forgets_with_thread:
        assert WORD not in await place.kept()
    assert OTHERS in await place.kept()


@pytest.mark.parametrize("place", ["openviking"], indirect=True)  # the other one is never away
async def test_a_server_that_is_away_is_asked_until_all_is_gone(room, place):
    teacher, _, agent, _ = await two_teachers(room, place)
    place.server.faults.add("status", "DELETE")
    await forget_everything(teacher)
    await room.work()
    assert WORD in await place.kept()
    await room.ask(teacher, agent, QUESTION)
    assert WORD not in room.told()  # meanwhile it is not used either
    place.server.faults.clear()
    await room.settled()
    assert WORD not in await place.kept()
