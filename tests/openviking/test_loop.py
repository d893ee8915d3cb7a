"""The whole way, in the product: what was said to an assistant is remembered in another conversation, by its teacher alone."""

import pytest
from asgiref.sync import sync_to_async

from chat.memory.backends.base import MemoryMessage, MemoryScope
from chat.memory.backends.openviking import forgetting
from chat.memory.external import chosen
from chat.memory.external.forgetting import ask_everything, scope_of
from chat.models import RemoteGap, Run, RunLedger
from tests.fakes import scripted
from tests.openviking.classroom import BACKEND, Classroom, pause, session_of
from tests.openviking.real import count
from tests.openviking_server.in_force import in_force
from tests.openviking_server.server import Server

pytestmark = pytest.mark.django_db(transaction=True)
PREFERS = "I prefer tables with three columns."  # a preference: the real server takes ten seconds for one
DECIDED = "We decided to read the {word} poem in May."  # an event: one second
QUESTION = "What was decided about the poem in May?"


@pytest.fixture
def room(memory_server):
    made = Classroom()
    with in_force(memory_server, retrieval={"timeout_seconds": 5}), scripted(made.model):
        yield made


async def agreed(room, *teachers_and_agents):
    for user, agent in teachers_and_agents:
        await sync_to_async(room.agree)(user, agent)


async def test_a_preference_said_is_injected_in_a_new_thread(room, memory_server):
    school, agent = await sync_to_async(room.school)()
    teacher = await sync_to_async(room.teacher)(school)
    await agreed(room, (teacher, agent))
    said = await room.ask(teacher, agent, PREFERS)
    assert (said.backend, said.backend_code) == (BACKEND, "")
    await room.settled()
    user, session = session_of(memory_server.account, teacher, agent, said.thread_id)
    assert count(memory_server, user, session) == 2
    run = await room.remembers(teacher, agent, "Which tables do I prefer?", "three columns")
    assert run.thread_id != said.thread_id and run.backend_code == ""
    assert "- [preferences] I prefer tables with three columns." in room.told()
    ledger = await RunLedger.objects.aget(run=run)
    assert "external" in [segment["name"] for segment in ledger.segments]


async def test_nobody_meets_what_another_said(room, memory_server):
    (one, agent), (other, elsewhere) = [await sync_to_async(room.school)() for _ in range(2)]
    second = await sync_to_async(room.assistant)(one)
    first_teacher, colleague, both = [await sync_to_async(room.teacher)(*schools) for schools in ((one,), (one,), (one, other))]
    pairs = [(first_teacher, agent), (first_teacher, second), (colleague, agent), (both, agent), (both, elsewhere)]
    words = ["青竹七号", "白桦十一号", "赤松五号", "黑檀三号", "红松二号"]
    await agreed(room, *pairs)
    for (user, assistant), word in zip(pairs, words, strict=True):
        await room.ask(user, assistant, DECIDED.format(word=word))
    await room.settled()
    for (user, assistant), word in zip(pairs, words, strict=True):
        await room.remembers(user, assistant, QUESTION, word)
        assert [one for one in words if one in room.told()] == [word]
    assert not await Run.objects.exclude(backend_code="").aexists()


async def test_rounds_of_which_no_memory_came_are_known_by_name(room, memory_server):
    school, agent = await sync_to_async(room.school)()
    teacher = await sync_to_async(room.teacher)(school)
    await agreed(room, (teacher, agent))
    good = await room.ask(teacher, agent, DECIDED.format(word="marmot"))
    bad = await room.ask(teacher, agent, "We decided nothing. [[stub:garbage]]")  # its models answer nonsense to this
    await room.settled()
    assert [gap.run_key async for gap in RemoteGap.objects.all()] == [bad.pk]
    await room.remembers(teacher, agent, QUESTION, "marmot")
    assert good.thread_id != bad.thread_id


async def test_a_teacher_is_forgotten_there_for_good_and_nobody_else(room, memory_server, monkeypatch):
    if isinstance(memory_server, Server):
        monkeypatch.setattr(forgetting, "SETTLING_SECONDS", 0.0)  # it writes at once what a task has found
    school, agent = await sync_to_async(room.school)()
    pairs = [(await sync_to_async(room.teacher)(school), agent) for _ in range(2)]
    await agreed(room, *pairs)
    runs = []
    for (user, assistant), word in zip(pairs, ("marmot", "badger"), strict=True):
        runs.append(await room.ask(user, assistant, DECIDED.format(word=word)))
    await room.settled()
    await room.remembers(*pairs[0], QUESTION, "marmot")
    await sync_to_async(ask_everything)(agent.tenant_id, pairs[0][0].pk)
    await room.settled()
    manager = chosen.manager(BACKEND)
    assert await manager.search(scope_of(room.owner(*pairs[0])), "", limit=50) == []
    assert count(memory_server, *session_of(memory_server.account, *pairs[0], runs[0].thread_id)) == 0
    await room.ask(*pairs[0], QUESTION)
    assert "marmot" not in room.told()
    await room.remembers(*pairs[1], QUESTION, "badger")


async def test_the_scope_of_no_assistant_is_one_of_its_own(room, memory_server):
    scopes = [MemoryScope("tn_1", "7"), MemoryScope("tn_1", "7", "ag_1"), MemoryScope("tn_1", "7", "ag_2"), MemoryScope("tn_2", "7")]
    words = ["marmots", "badgers", "otters", "herons"]
    manager = chosen.manager(BACKEND)
    for scope, word in zip(scopes, words, strict=True):
        said = [message("m1", DECIDED.format(word=word))]
        assert (await manager.add(scope, "th_1", said)).sent == 1
    for scope, word in zip(scopes, words, strict=True):
        found = await found_of(manager, scope, QUESTION)
        assert [one for one in words if any(one in item.content for item in found)] == [word]
        listed = await manager.search(scope, "", limit=50)
        assert [one for one in words if any(one in item.content for item in listed)] == [word]
    await manager.close()


async def found_of(manager, scope, query):
    for _ in range(200):
        if found := await manager.search(scope, query, limit=20):
            return found
        await pause()
    raise AssertionError("nothing was found")


def message(key, text):
    return MemoryMessage(key, "user", text)
