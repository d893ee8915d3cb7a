"""Incognito: only the conversation itself is used, and it goes when it is closed or a day after its last run."""

from datetime import timedelta

import pytest
from asgiref.sync import sync_to_async
from django.test import TransactionTestCase
from django.utils import timezone

from chat.jobs.sweep import sweep
from chat.memory import catch_up
from chat.memory.core import decide
from chat.memory.notes import store
from chat.memory.notes.base import Author, Place, Write
from chat.models import (
    Agent,
    Candidate,
    LayerState,
    MemoryOp,
    NoteOp,
    NoteSnapshot,
    NoteTarget,
    Owner,
    RedlineRecord,
    Run,
    RunLedger,
    Summary,
    Thread,
    Work,
)
from chat.providers.base import Delta, ToolCall
from chat.runs.start import Order, start_run
from chat.runs.sweep import RunSweeper
from tests import builders
from tests.api.cases import ApiCase
from tests.fakes import ScriptedProvider
from tests.memory.answering import FreeLease

pytestmark = pytest.mark.django_db


@pytest.fixture
def teacher():
    return builders.teacher()


@pytest.fixture
def agent(teacher):
    return builders.agent(builders.school_of(teacher))


def begin(teacher, agent, text="出一份试卷") -> Thread:
    """An incognito thread whose first run has ended."""
    started = start_run(Order(user_id=teacher.pk, agent_id=agent.pk, input=text, is_incognito=True))
    end(started.run_id)
    return Thread.objects.get(pk=started.thread_id)


def end(run_id: str) -> None:
    Run.objects.filter(pk=run_id).update(status="completed", output="好的。", finished_at=timezone.now())


def aged(thread: Thread, hours: float) -> None:
    """Lets that much time pass."""
    past = timezone.now() - timedelta(hours=hours)
    Run.objects.filter(thread=thread).update(created_at=past, finished_at=past)
    Thread.objects.filter(pk=thread.pk).update(created_at=past)


class Prompts(ApiCase):
    """What the model is told, in the requests that a scripted service has received."""

    async def say(self, text: str, **fields: object) -> tuple[str, str]:
        """Sends a message; returns the prompt and the thread's id."""
        model = ScriptedProvider(["好的。"])
        response = await self.ask(text, model=model, **fields)
        return "\n".join(message["content"] for message in model.requests[0].messages), response.json()["thread_id"]

    def setUp(self) -> None:
        super().setUp()
        decide.add(self.user, self.school.pk, "老师教高二，暗号青竹七号")

    async def test_confirmed_facts_are_told_elsewhere_and_not_here(self) -> None:
        told, _ = await self.say("出题")
        assert "青竹七号" in told
        hidden, thread_id = await self.say("出题", incognito=True)
        assert "青竹七号" not in hidden
        again, _ = await self.say("再来两道", thread_id=thread_id)
        assert "青竹七号" not in again and "出题" in again

    async def test_notes_are_told_elsewhere_and_neither_told_nor_written_here(self) -> None:
        place = Place(Owner(self.school.pk, self.user.pk, self.agent.pk), NoteTarget.USER)
        assert (await sync_to_async(store.write)(place, Write("add", "我教高二，暗号紫藤六号"), Author(NoteOp.Origin.PANEL))).is_done
        told, _ = await self.say("出题")
        assert "紫藤六号" in told
        call = ToolCall("c1", "memory_add", '{"content": "甲", "target": "user"}')
        model = ScriptedProvider([Delta(tool_calls=(call,), finish="tool_calls")], ["好的。"])
        response = await self.ask("记住：甲", model=model, incognito=True)
        assert response.json()["status"] == "completed"
        assert [tool.name for tool in model.requests[0].tools] == ["thread_read"]
        assert "紫藤六号" not in str(model.requests[0].messages)
        assert (await sync_to_async(store.look)(place)).entries == ("我教高二，暗号紫藤六号",)
        assert not await NoteSnapshot.objects.filter(thread__is_incognito=True).aexists()
        await Agent.objects.filter(pk=self.agent.pk).aupdate(has_tools=False)
        await self.say("记住：乙", incognito=True)
        assert await NoteOp.objects.acount() == 1

    async def test_nothing_of_it_is_told_elsewhere(self) -> None:
        await self.say("白桦十一号", incognito=True)
        told, _ = await self.say("上次我们聊了什么？")
        assert "白桦" not in told


def test_nothing_is_learnt_from_it(teacher, agent):
    thread = begin(teacher, agent, "我教高二，以后请用表格")
    catch_up.settle(thread.pk, FreeLease())
    assert not Candidate.objects.exists()
    assert not MemoryOp.objects.exists()


def test_its_title_is_clean_and_leaves_no_record(teacher, agent):
    thread = begin(teacher, agent, "家长电话 15900000003")
    assert "159" not in thread.title
    assert not RedlineRecord.objects.exists()


def furnish(thread: Thread) -> None:
    Summary.objects.create(thread=thread, upto_slot=1, upto_at=timezone.now(), text="摘要")
    LayerState.objects.create(thread=thread, layer="thread")
    Work.objects.mark("thread", thread.pk)
    MemoryOp.objects.create(tenant_id=thread.tenant_id, user_id=thread.user_id, thread=thread, kind="summary", outcome="done")


def test_a_day_after_its_last_run_it_is_gone_with_all_its_rows(teacher, agent):
    thread = begin(teacher, agent)
    furnish(thread)
    aged(thread, 25)
    assert sweep(RunSweeper()) >= 1
    for model in (Thread, Run, RunLedger, Summary, LayerState, Work):
        assert not model.objects.exists(), model
    assert MemoryOp.objects.get().thread_id is None
    assert sweep(RunSweeper()) == 0


def test_it_lives_while_it_is_used(teacher, agent):
    thread = begin(teacher, agent)
    aged(thread, 25)
    builders.run(Thread.objects.get(pk=thread.pk), created_at=timezone.now() - timedelta(hours=23))
    sweep(RunSweeper())
    assert Thread.objects.filter(pk=thread.pk).exists()


def test_a_long_answer_that_is_still_written_keeps_it(teacher, agent):
    thread = begin(teacher, agent)
    aged(thread, 25)
    going = builders.run(Thread.objects.get(pk=thread.pk), status="running", created_at=timezone.now() - timedelta(hours=25))
    sweep(RunSweeper())
    assert Run.objects.filter(pk=going.pk).exists()


def test_other_threads_stay_however_old_they_are(teacher, agent):
    thread = builders.thread(teacher, agent)
    builders.run(thread)
    aged(thread, 24 * 365)
    sweep(RunSweeper())
    assert Thread.objects.filter(pk=thread.pk).exists()


def test_it_goes_although_its_teacher_has_left_the_school(teacher, agent):
    thread = begin(teacher, agent)
    aged(thread, 25)
    teacher.memberships.all().delete()
    sweep(RunSweeper())
    assert not Thread.objects.exists()


@pytest.fixture
def page(client, teacher):
    client.force_login(teacher)
    client.cookies["django_language"] = "en"
    return client


def test_the_page_of_a_new_thread_has_the_switch_with_its_sentence(page, agent):
    html = page.get(f"/chat/{agent.pk}/").content.decode()
    assert 'name="incognito"' in html
    assert "deleted when you close it, or 24 hours after its last message" in html


def test_the_page_says_what_it_is_and_offers_to_close_it(page, teacher, agent):
    thread = begin(teacher, agent)
    html = page.get(f"/chat/t/{thread.pk}/").content.decode()
    assert 'data-action="close-thread"' in html and 'data-off-by="thread"' in html
    assert 'data-action="archive"' not in html and 'name="incognito"' not in html
    assert "data-incognito" in html


@pytest.mark.django_db(transaction=True)
def test_closing_deletes_it_at_once(page, teacher, agent):
    thread = begin(teacher, agent)
    response = page.post(f"/chat/t/{thread.pk}/delete/", follow=True)
    assert "The conversation is deleted." in response.content.decode()
    assert not Thread.objects.exists()
    assert f'data-thread="{thread.pk}"' not in page.get(f"/chat/{agent.pk}/").content.decode()


def test_it_stands_in_the_sidebar_while_it_lives_but_is_not_where_one_begins(page, teacher, agent):
    thread = begin(teacher, agent)
    assert f'data-thread="{thread.pk}"' in page.get(f"/chat/{agent.pk}/").content.decode()
    assert page.get("/")["Location"] == f"/chat/{agent.pk}/"


def test_it_is_not_put_into_the_archive(page, teacher, agent):
    thread = begin(teacher, agent)
    page.post(f"/chat/t/{thread.pk}/archive/")
    thread.refresh_from_db()
    assert thread.status == "active"


class FormTests(TransactionTestCase):
    """Sending by form, as the page does for a first message."""

    def setUp(self) -> None:
        self.user = builders.teacher()
        self.agent = builders.agent(builders.school_of(self.user))

    async def send(self, **fields: str) -> Thread:
        await self.async_client.aforce_login(self.user)
        await self.async_client.post(f"/chat/{self.agent.pk}/send", {"input": "出题", "key": "k-1"} | fields)
        return await Thread.objects.aget()

    async def test_the_switch_makes_the_thread_incognito(self) -> None:
        assert (await self.send(incognito="on")).is_incognito

    async def test_without_the_switch_it_is_a_plain_one(self) -> None:
        assert not (await self.send()).is_incognito
