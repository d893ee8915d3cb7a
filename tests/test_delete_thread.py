"""A thread goes with everything that is its own, and with what its teacher chose of that which was learnt from it."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from asgiref.sync import sync_to_async
from django.test import TransactionTestCase
from django.utils import timezone

from chat.memory.core import decide
from chat.memory.core.propose import Proposal, propose
from chat.memory.core.sources import learnt_from
from chat.memory.ledger import ERASED
from chat.memory.notes import snapshot, store
from chat.memory.notes.base import Author, Place, Write
from chat.models import (
    Candidate,
    CoreEvent,
    Decision,
    Fact,
    LayerState,
    MemoryOp,
    NoteGuard,
    NoteOp,
    NoteSnapshot,
    NoteTarget,
    Notice,
    Owner,
    Preference,
    Run,
    RunLedger,
    Summary,
    Thread,
    Work,
)
from chat.runs import launch, live
from chat.runs.delete import delete_thread, erase_thread
from chat.runs.errors import ThreadMismatch
from chat.runs.start import Order
from tests import builders
from tests.fakes import ScriptedProvider, scripted

QUOTE = "我教高二(3)班，暗号青竹七号"


class Taught:
    """A thread from which a candidate and two facts were learnt, one of them used in the ledger of another thread."""

    def __init__(self) -> None:
        self.user = builders.teacher()
        self.school = builders.school_of(self.user)
        self.agent = builders.agent(self.school)
        self.thread = builders.thread(self.user, self.agent, rolling_summary="老师教高二")
        self.run = builders.run(self.thread, QUOTE, "好的。")
        self.other = builders.thread(self.user, self.agent, title="别的会话")
        self.candidate = self._candidate("老师喜欢表格")
        self.confirmed = self._candidate("老师教高二(3)班")
        self.kept = self._candidate("老师要简答题")
        decide.confirm(self.user, [self.confirmed.pk, self.kept.pk])
        self.fact = Fact.objects.get(text="老师教高二(3)班")
        self.kept_fact = Fact.objects.get(text="老师要简答题")
        self.ledger = RunLedger.objects.create(
            run=builders.run(self.other, "别的问题"),
            segments=[self._segment()],
        )

    def _candidate(self, text: str) -> Candidate:
        return Candidate.objects.create(
            tenant=self.school,
            user=self.user,
            agent=self.agent,
            text=text,
            normal=text,
            quote=QUOTE,
            thread=self.thread,
            source_run=self.run,
        )

    def _segment(self) -> dict:
        facts = [self.fact, self.kept_fact]
        text = "\n".join(["[核心记忆 — 资料]", *(f"- {fact.text}" for fact in facts), "[核心记忆结束]"])
        sources = [fact.pk for fact in facts]
        common = {"role": "user", "tokens": 9, "budget_tokens": 99, "truncated": [], "dropped": []}
        return {"name": "core", "text": text, "priority": 1, "source_ids": sources} | common

    def furnish(self) -> None:
        """One row of everything that belongs to a thread."""
        Summary.objects.create(thread=self.thread, upto_slot=1, upto_at=timezone.now(), text="老师教高二")
        RunLedger.objects.create(run=self.run, segments=[])
        LayerState.objects.create(thread=self.thread, layer="thread")
        Work.objects.mark("thread", self.thread.pk)
        MemoryOp.objects.create(tenant=self.school, user=self.user, thread=self.thread, kind="summary", outcome="done", cost=2)

    def erase(self, **chosen: list[str]):
        return erase_thread(self.user, self.thread.pk, **chosen)


@pytest.fixture
def taught(db) -> Taught:
    return Taught()


def test_all_that_belongs_to_it_goes_and_what_it_cost_stays(taught):
    taught.furnish()
    taught.erase()
    assert list(Thread.objects.all()) == [taught.other]
    assert list(Run.objects.values_list("thread", flat=True)) == [taught.other.pk]
    assert not Summary.objects.exists() and not LayerState.objects.exists() and not Work.objects.exists()
    assert RunLedger.objects.get() == taught.ledger
    assert (MemoryOp.objects.get().thread_id, MemoryOp.objects.get().cost) == (None, 2)


def test_what_was_learnt_from_it_is_told_before(taught):
    learnt = learnt_from(taught.user, taught.thread.pk)
    assert [one.text for one in learnt.candidates] == ["老师喜欢表格"]
    assert {one.text for one in learnt.facts} == {"老师教高二(3)班", "老师要简答题"}
    assert not learnt_from(taught.user, taught.other.pk).facts


def test_what_was_not_chosen_stays_without_the_threads_words(taught):
    deleted = taught.erase()
    assert (deleted.candidate_ids, deleted.fact_ids) == ([], [])
    taught.candidate.refresh_from_db()
    taught.fact.refresh_from_db()
    assert (taught.candidate.status, taught.fact.status) == ("pending", "confirmed")
    for model in (Candidate, Fact, CoreEvent, RunLedger):
        assert QUOTE not in str(list(model.objects.values())), model
        assert taught.run.pk not in str(list(model.objects.values())), model


def test_chosen_ones_go_by_a_decision_and_from_the_ledgers_of_other_threads(taught):
    deleted = taught.erase(candidate_ids=[taught.candidate.pk], fact_ids=[taught.fact.pk])
    assert (deleted.candidate_ids, deleted.fact_ids) == ([taught.candidate.pk], [taught.fact.pk])
    assert not Candidate.objects.filter(text="老师喜欢表格").exists()
    taught.fact.refresh_from_db()
    assert (taught.fact.status, taught.fact.text) == ("deleted", "")
    assert Decision.objects.filter(user=taught.user, verb="delete").count() == 1
    taught.ledger.refresh_from_db()
    text = taught.ledger.segments[0]["text"]
    assert ERASED in text and "高二" not in text and "老师要简答题" in text


def test_taking_an_earlier_decision_back_does_not_bring_the_threads_words_back(taught):
    decision = Decision.objects.get(verb="confirm")
    taught.erase()
    assert decide.undo(taught.user, decision.pk).outcome == "done"
    assert Candidate.objects.filter(status="pending", quote="").count() == 3
    assert not Candidate.objects.exclude(source_run=None, thread=None).exists()


def test_what_the_thread_said_again_goes_from_what_another_one_had_said_first(taught):
    first = builders.run(taught.other, "我常用投影")
    owner, said = Owner(taught.school.pk, taught.user.pk, taught.agent.pk), Proposal("老师常用投影", "profile", quote="我常用投影")
    propose(owner, [said], run=first)
    propose(owner, [replace(said, quote="投影还是要的，暗号蓝鲸")], run=taught.run)
    taught.erase()
    candidate = Candidate.objects.get(text="老师常用投影")
    assert (candidate.quote, candidate.source_run_id) == ("我常用投影", first.pk)
    told = str(list(CoreEvent.objects.values()))
    assert "我常用投影" in told and "蓝鲸" not in told and taught.run.pk not in told


def test_ids_of_something_else_are_left_alone(taught):
    elsewhere = decide.add(taught.user, taught.school.pk, "老师用人教版").fact_id
    deleted = taught.erase(candidate_ids=[taught.confirmed.pk], fact_ids=[elsewhere])
    assert (deleted.candidate_ids, deleted.fact_ids) == ([], [])
    assert Fact.objects.get(pk=elsewhere).status == "confirmed"


def test_a_thread_of_somebody_else_is_like_none(taught):
    for stranger in (builders.teacher(taught.school), builders.teacher()):
        assert erase_thread(stranger, taught.thread.pk, fact_ids=[taught.fact.pk]) is None
    assert Thread.objects.filter(pk=taught.thread.pk).exists()
    assert Fact.objects.get(pk=taught.fact.pk).status == "confirmed"


def test_what_other_threads_recalled_of_it_goes_from_their_ledgers(taught):
    segment = taught.ledger.segments[0] | {"name": "recall", "text": "青竹七号", "source_ids": [taught.run.pk], "priority": 4}
    RunLedger.objects.update(segments=[segment])
    taught.erase()
    taught.ledger.refresh_from_db()
    assert (taught.ledger.segments[0]["text"], taught.ledger.segments[0]["source_ids"]) == (ERASED, [taught.run.pk])


def test_a_failure_leaves_everything_as_it_was(taught, monkeypatch):
    monkeypatch.setattr("chat.runs.delete.blank", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        taught.erase(fact_ids=[taught.fact.pk])
    taught.fact.refresh_from_db()
    assert taught.fact.status == "confirmed"
    assert Thread.objects.filter(pk=taught.thread.pk).exists()


def test_other_pages_of_the_teacher_are_told(taught):
    before = timezone.now() - timedelta(seconds=1)
    taught.erase()
    assert Preference.objects.get(user=taught.user).news_at > before


def noted(taught, thread, content, *, is_staged=False) -> NoteOp:
    place = Place(Owner(taught.school.pk, taught.user.pk, taught.agent.pk), NoteTarget.USER)
    author = Author(NoteOp.Origin.TOOL, thread_id=thread.pk, run_id=thread.runs.first().pk, reason=QUOTE)
    return NoteOp.objects.get(pk=store.write(place, Write("add", content), author, is_staged=is_staged).op_id)


def test_what_it_knew_of_the_notes_goes_what_waited_goes_and_what_was_written_stays_without_it(taught):
    written = noted(taught, taught.thread, "老师喜欢表格")
    noted(taught, taught.thread, "老师要图", is_staged=True)
    kept = noted(taught, taught.other, "老师要简答题", is_staged=True)
    for thread in (taught.thread, taught.other):
        assert snapshot.refresh(thread).text
    NoteGuard.objects.create(subject_id=taught.run.pk, thread=taught.thread)
    Notice.objects.create(tenant=taught.school, user=taught.user, thread=taught.thread, code="notes_failed")
    taught.erase()
    assert [row.thread for row in NoteSnapshot.objects.all()] == [taught.other]
    assert not NoteGuard.objects.exists() and not Notice.objects.exists()
    assert set(NoteOp.objects.all()) == {written, kept}
    written.refresh_from_db()
    assert (written.state, written.thread_id, written.run_id, written.reason) == ("applied", None, None, "")
    place = Place(Owner(taught.school.pk, taught.user.pk, taught.agent.pk), NoteTarget.USER)
    assert store.look(place).entries == ("老师喜欢表格",)  # a note is the teacher's own, wherever it was said


class GoingTests(TransactionTestCase):
    def setUp(self) -> None:
        self.user = builders.teacher()
        school = builders.school_of(self.user)
        self.agent = builders.agent(school, provider=builders.provider(school, kind="openai", base_url="http://127.0.0.1:1/v1"))

    def order(self, **fields: str) -> Order:
        return Order(user_id=self.user.pk, agent_id=self.agent.pk, input="出题", **fields)

    async def test_a_run_that_is_going_is_stopped_first(self) -> None:
        model = ScriptedProvider(["写到一半", asyncio.Event()])
        with scripted(model):
            started = await launch.start(self.order())
            while not model.requests:
                await asyncio.sleep(0)
            assert await delete_thread(self.user, started.thread_id) is not None
        assert model.closed == 1
        assert live.get(started.run_id) is None
        assert not await Run.objects.aexists()

    async def test_a_run_that_does_not_stop_ends_when_its_row_is_gone(self) -> None:
        model = ScriptedProvider(["写到一半", asyncio.Event()])
        with scripted(model):
            started = await launch.start(self.order())
            going = live.get(started.run_id)
            await sync_to_async(erase_thread)(self.user, started.thread_id)
            await asyncio.wait([going.task], timeout=5)
        assert going.task.done() and model.closed == 1
        assert live.get(started.run_id) is None

    async def test_a_message_to_a_thread_that_has_just_gone_is_refused(self) -> None:
        with scripted(ScriptedProvider()):
            started = await launch.start(self.order())
            await launch.wait(started.run_id)
            await delete_thread(self.user, started.thread_id)
            with self.assertRaises(ThreadMismatch):
                await launch.start(self.order(thread_id=started.thread_id))
