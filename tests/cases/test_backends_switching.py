"""To a memory server and back again: what becomes of what was said before, meanwhile and afterwards (docs/openviking.md)."""

from contextlib import ExitStack

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient

from chat.jobs import sweep
from chat.memory.backends.openviking import forgetting
from chat.memory.external.lost import LostMarks, mark_lost
from chat.models import Candidate, RecallEntry, RemoteScope
from tests.fakes import scripted
from tests.openviking.classroom import Classroom
from tests.openviking_server.in_force import forget, in_force
from tests.openviking_server.server import Server

pytestmark = pytest.mark.django_db(transaction=True)
BEFORE, MEANWHILE, AFTER = "我喜欢三栏表格，暗号青竹七号。", "我喜欢三栏表格，暗号白桦十一号。", "我喜欢三栏表格，暗号赤松五号。"
QUESTION = "我喜欢几栏表格，暗号呢？"


@pytest.fixture
def server():
    forget()
    with Server() as made:
        yield made


@pytest.fixture
def room():
    made = Classroom()
    with scripted(made.model):
        yield made


async def teacher_of(room):
    school, agent = await sync_to_async(room.school)()
    return await sync_to_async(room.teacher)(school), agent


async def words(room, teacher, agent):
    """Which of the three are told."""
    await room.ask(teacher, agent, QUESTION)
    return [word for word in ("青竹七号", "白桦十一号", "赤松五号") if word in room.told()]


async def test_nothing_of_the_past_goes_there_and_nothing_there_is_lost(room, server, monkeypatch):
    teacher, agent = await teacher_of(room)
    await room.ask(teacher, agent, BEFORE)
    await room.settled()
    entries = await RecallEntry.objects.acount()
    with in_force(server):
        await sync_to_async(room.agree)(teacher, agent)
        assert await words(room, teacher, agent) == []  # recall stands back
        extractions = [request for request in room.model.requests if request.purpose == "extraction"]
        meanwhile = await room.ask(teacher, agent, MEANWHILE)
        await room.settled()
        assert await words(room, teacher, agent) == ["白桦十一号"]
        assert "青竹" not in str(server.state.messages())
        assert await RecallEntry.objects.acount() == entries
    seen = len(server.seen)
    assert await words(room, teacher, agent) == ["青竹七号"]  # what recall had is in use again at once
    monkeypatch.setattr(sweep, "_lost_marks", LostMarks())  # looks once in a minute
    await room.settled()
    assert await RecallEntry.objects.filter(input=MEANWHILE).aexists()  # and it takes up what was said meanwhile
    assert await sync_to_async(mark_lost)() == 0
    await room.ask(teacher, agent, AFTER, meanwhile.thread_id)
    await room.settled()
    assert len(server.seen) == seen
    asked = [request for request in room.model.requests if request.purpose == "extraction"]
    assert "白桦十一号" not in str([request.messages for request in asked[len(extractions) :]])
    assert not await Candidate.objects.filter(text__contains="白桦").aexists()
    with in_force(server):
        await room.settled()
        assert await words(room, teacher, agent) == ["白桦十一号"]
        assert "赤松" not in str(server.state.messages())


async def test_what_was_to_be_forgotten_there_waits_for_it(room, server, monkeypatch):
    monkeypatch.setattr(forgetting, "SETTLING_SECONDS", 0.0)
    teacher, agent = await teacher_of(room)
    with in_force(server):
        await sync_to_async(room.agree)(teacher, agent)
        await room.ask(teacher, agent, MEANWHILE)
        await room.settled()
    browser = AsyncClient()
    await browser.aforce_login(teacher)
    await browser.post("/memory/forget/", {"sure": "yes"})
    await room.work()
    assert server.state.memories() and await RemoteScope.objects.filter(forget_asked_at__isnull=False).aexists()
    with in_force(server):
        await room.settled()
        assert (server.state.memories(), server.state.messages()) == ([], [])
        assert not await RemoteScope.objects.filter(forget_asked_at__isnull=False).aexists()


async def test_at_another_address_the_teacher_is_asked_anew(room, server):
    teacher, agent = await teacher_of(room)
    with in_force(server):
        await sync_to_async(room.agree)(teacher, agent)
    with ExitStack() as stack:
        other = stack.enter_context(Server())
        stack.enter_context(in_force(other))
        await room.ask(teacher, agent, AFTER)
        await room.work()
        assert not [one for one in other.seen if one.path != "/health"]
