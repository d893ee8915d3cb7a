"""What the built-in backend keeps of a scope: found as the layers would find it, and erased without a trace."""

from datetime import timedelta

import pytest
from django.utils import timezone

from chat.jobs.worker import Worker
from chat.memory import catch_up
from chat.memory.backends.base import MemoryScope
from chat.memory.backends.builtin import records
from chat.memory.core import decide
from chat.memory.external.forgetting import ask_everything, scope_of
from chat.memory.ledger import ERASED
from chat.memory.recall.entries import reindex
from chat.models import Candidate, CoreEvent, Fact, Owner, RecallEntry, Run, RunLedger, SearchIndex, SearchTerm, Thread, Work
from chat.models.work import rewind_layers
from tests import builders
from tests.fakes import scripted
from tests.memory.answering import AnsweringProvider, FreeLease
from tests.memory.external.delivering import in_thread

pytestmark = pytest.mark.django_db(transaction=True)
WORDS = "青竹七号"


class World:
    """A teacher with two assistants; with the first a round was recalled, and something was confirmed, proposed and removed."""

    def __init__(self) -> None:
        self.school = builders.tenant()
        self.user = builders.teacher(self.school)
        builders.provider(self.school, kind="openai", base_url="http://127.0.0.1:9/v1")  # the demo model learns by rule
        self.agent, self.other = builders.agent(self.school), builders.agent(self.school)
        self.thread = builders.thread(self.user, self.agent, title=f"卷积{WORDS}")
        self.run = builders.run(self.thread, f"出一份卷积运算的练习题{WORDS}", "第一题。")
        builders.recalled(self.run)
        waiting = [builders.candidate(self.user, f"{text}{WORDS}", agent=self.agent, quote=WORDS) for text in ("教高二", "用表格", "待定")]
        decide.confirm(self.user, [waiting[0].pk, waiting[1].pk])
        self.fact, edited = Fact.objects.order_by("text")
        decide.edit(self.user, edited.pk, f"要用大表格{WORDS}")
        decide.delete(self.user, [edited.pk])
        decide.add(self.user, self.school.pk, f"上晚自习{WORDS}", agent_id=self.agent.pk)
        decide.undo(self.user)

    @property
    def scope(self) -> MemoryScope:
        return scope_of(Owner(self.school.pk, self.user.pk, self.agent.pk))

    def ledger(self, *segments: dict[str, object]) -> RunLedger:
        whole = [{"priority": 4, "notes": [], "text": WORDS} | one for one in segments]
        return RunLedger.objects.create(run=builders.run(builders.thread(self.user, self.other), "别的"), segments=whole)


@pytest.fixture
def world(db) -> World:
    return World()


def test_nothing_of_the_words_is_left_anywhere_but_in_the_conversation(world):
    core = {"name": "core", "priority": 1, "source_ids": [world.fact.pk], "text": f"开\n- 教高二{WORDS}\n关"}
    ledger = world.ledger(core, {"name": "recall", "source_ids": [world.run.pk]})
    assert CoreEvent.objects.filter(fact=None, candidate=None).exists()  # of what was undone
    records.forget_scope(world.scope)
    ledger.refresh_from_db()
    assert [segment["text"] for segment in ledger.segments] == [f"开\n{ERASED}\n关", ERASED]
    for model in (Fact, Candidate, RecallEntry, CoreEvent):
        told = [value for row in model.objects.values() for value in row.values()]
        assert WORDS not in str(told), model.__name__
    assert WORDS in Run.objects.get(pk=world.run.pk).input
    assert reindex(Owner(world.school.pk, world.user.pk))


def test_what_is_for_other_assistants_and_for_all_stays(world):
    shared = builders.fact(world.user, "姓李")
    other = builders.fact(world.user, "只给另一个", agent=world.other)
    candidate = builders.candidate(world.user, "另一个的候选", agent=world.other)
    entry = builders.recalled(builders.run(builders.thread(world.user, world.other), "另一个助手的问题"))
    records.forget_scope(world.scope)
    assert set(Fact.objects.values_list("pk", flat=True)) == {shared.pk, other.pk}
    assert Candidate.objects.get().pk == candidate.pk
    assert RecallEntry.objects.get().pk == entry.pk
    records.forget_scope(scope_of(Owner(world.school.pk, world.user.pk)))
    assert set(Fact.objects.values_list("pk", flat=True)) == {other.pk}


def test_confirmed_facts_and_rounds_are_found_and_what_waits_is_not(world):
    found = records.found(world.scope, "卷积运算练习题", 10, "")
    assert found[0].id == world.run.pk
    everything = records.found(world.scope, "", 10, "")
    assert [item.id for item in everything] == [world.fact.pk, world.run.pk]
    assert [item.id for item in records.found(world.scope, "", 10, world.fact.kind)] == [world.fact.pk]


def test_a_round_that_was_replaced_or_put_away_is_not_found(world):
    Run.objects.filter(pk=world.run.pk).update(is_latest=False)
    assert records.found(world.scope, "卷积运算练习题", 10, "recall") == []
    Run.objects.filter(pk=world.run.pk).update(is_latest=True)
    Thread.objects.filter(pk=world.thread.pk).update(status="archived")
    assert records.found(world.scope, "", 10, "recall") == []


@pytest.mark.parametrize("user_id", ["", "x", "-1", "１２x"])
def test_a_user_that_nobody_is_has_nothing(world, user_id):
    scope = MemoryScope(world.school.pk, user_id, world.agent.pk)
    assert records.found(scope, "", 10, "") == []
    records.forget_scope(scope)
    records.mark(scope, world.thread.pk)
    assert Fact.objects.exists() and not Work.objects.exists()


def test_what_is_handed_over_marks_the_thread_of_its_owner_alone(world):
    records.mark(scope_of(Owner(world.school.pk, world.user.pk, world.other.pk)), world.thread.pk)
    assert not Work.objects.exists()
    records.mark(world.scope, world.thread.pk)
    assert Work.objects.get().subject_id == world.thread.pk


# Afterwards


def settle(thread: Thread, reply: str = "NONE") -> None:
    with scripted(AnsweringProvider(lambda request: reply)):
        catch_up.settle(thread.pk, FreeLease())


LEARNT = '[{"fact": "教师教高三", "quote": "我教高三", "kind": "profile", "confidence": 0.9, "reason": "自述"}]'


def test_of_what_was_said_before_nothing_is_made_afterwards_and_of_the_rest_it_is(world):
    late = builders.run(world.thread, "我教高三", "好的。")  # not caught up yet
    ask_everything(world.school.pk, world.user.pk)
    Worker("w").drain()
    rewind_layers(world.thread.pk, 1)  # as when the first round is edited
    settle(world.thread, LEARNT)
    assert not RecallEntry.objects.exists() and not Candidate.objects.exists()
    after = builders.run(world.thread, "我教高三", "好的。", created_at=timezone.now() + timedelta(seconds=1))
    settle(world.thread, LEARNT)
    assert [entry.run_id for entry in RecallEntry.objects.all()] == [after.pk] != [late.pk]
    assert Candidate.objects.count() == 1


def test_what_is_asked_while_the_model_answers_stores_nothing(world):
    builders.run(world.thread, "我教高三", "好的。")

    def answer(request):
        if "我教高三" not in request.messages[-1]["content"]:
            return "NONE"
        in_thread(lambda: ask_everything(world.school.pk, world.user.pk))
        return LEARNT

    with scripted(AnsweringProvider(answer)):
        catch_up.settle(world.thread.pk, FreeLease())
    assert not Candidate.objects.filter(text__contains="高三").exists()


def test_an_index_without_entries_is_left_whole(world):
    records.forget_scope(world.scope)
    index = SearchIndex.objects.get(kind="recall")
    assert index.records == 0 and not SearchTerm.objects.filter(index=index).exclude(count=0).exists()
