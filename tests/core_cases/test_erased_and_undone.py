"""What is erased stays erased, and what is taken back comes back whole, whatever happened between."""

import pytest

from chat.memory.core import decide
from chat.memory.core.journal import forget_wordings
from chat.memory.ledger import ERASED
from chat.models import Candidate, CoreEvent, Fact, RunLedger
from chat.runs.delete import erase_thread
from tests import builders

pytestmark = pytest.mark.django_db

WORDS = "青竹七号"


@pytest.fixture
def teacher():
    return builders.teacher()


@pytest.fixture
def school(teacher):
    return builders.school_of(teacher).pk


def used(teacher, fact_id: str) -> RunLedger:
    """The ledger of a run in whose prompt the fact stood."""
    text = Fact.objects.get(pk=fact_id).text
    talk = teacher.threads.first() or builders.thread(teacher)
    segment = {
        "name": "core",
        "role": "user",
        "text": f"[核心记忆 — 资料]\n- {text}\n[核心记忆结束]",
        "tokens": 9,
        "budget_tokens": 99,
        "priority": 1,
        "source_ids": [fact_id],
        "truncated": [],
        "dropped": [],
    }
    return RunLedger.objects.create(run=builders.run(talk), segments=[segment])


def told(ledger: RunLedger) -> str:
    ledger.refresh_from_db()
    return ledger.segments[0]["text"]


def only(results):
    [result] = results
    return result


def test_a_wording_confirmed_twice_and_then_deleted_is_in_no_ledger(teacher):
    key = builders.candidate(teacher, f"暗号{WORDS}").pk
    first = only(decide.confirm(teacher, [key]))
    ledger = used(teacher, first.fact_id)
    decide.undo(teacher, first.decision_id)
    again = only(decide.confirm(teacher, [key]))
    decide.delete(teacher, [again.fact_id])
    assert WORDS not in told(ledger) and ERASED in told(ledger)


def test_a_wording_that_another_fact_took_over_is_in_no_ledger_when_it_is_deleted(teacher, school):
    old = decide.add(teacher, school, f"暗号{WORDS}").fact_id
    ledger = used(teacher, old)
    Fact.objects.filter(pk=old).update(status="archived")
    new = decide.add(teacher, school, "我教高二").fact_id
    decide.edit(teacher, new, f"暗号{WORDS}")
    decide.delete(teacher, [new])
    assert WORDS not in told(ledger)


def test_deleting_a_fact_leaves_what_waits_again_alone(teacher, school):
    old = decide.add(teacher, school, "我教高二").fact_id
    Fact.objects.filter(pk=old).update(status="archived")
    waiting = builders.candidate(teacher, "我教高二物理")
    decision = only(decide.confirm(teacher, [waiting.pk], text="我教高二")).decision_id
    decide.undo(teacher, decision)
    decide.delete(teacher, [old])
    waiting.refresh_from_db()
    assert (waiting.status, waiting.text) == ("pending", "我教高二物理")
    forget_wordings([old])
    decide.allow(teacher, [old])
    assert Candidate.objects.filter(pk=waiting.pk, status="pending").exists()


def revived(teacher) -> tuple[object, str, str]:
    """A fact that came from one conversation and was confirmed anew from another; the first one, the fact, the decision."""
    first = builders.thread(teacher)
    run = builders.run(first, f"我教高二，{WORDS}")
    second = builders.run(builders.thread(teacher, first.agent), "我教高二")
    origin = builders.candidate(teacher, "我教高二", source_run=run, thread=first, quote=f"我教高二，{WORDS}")
    fact = only(decide.confirm(teacher, [origin.pk])).fact_id
    Fact.objects.filter(pk=fact).update(status="archived")
    again = builders.candidate(teacher, "我教高二物理", source_run=second, thread=second.thread, quote="我教高二物理")
    decision = only(decide.confirm(teacher, [again.pk], text="我教高二")).decision_id
    assert Fact.objects.get(pk=fact).source_run == second
    return first, fact, decision


def test_the_history_of_a_fact_forgets_a_conversation_that_it_no_longer_comes_from(teacher):
    first, _, _ = revived(teacher)
    erase_thread(teacher, first.pk)
    assert WORDS not in str(list(CoreEvent.objects.values()))


@pytest.mark.django_db(transaction=True)
def test_taking_back_what_came_from_a_deleted_conversation_is_no_error(teacher):
    first, fact, decision = revived(teacher)
    erase_thread(teacher, first.pk)
    assert decide.undo(teacher, decision).outcome == "done"
    assert Fact.objects.values_list("status", "quote", "source_run").get(pk=fact) == ("archived", "", None)


@pytest.mark.django_db(transaction=True)
def test_taking_back_what_pointed_at_something_gone_is_no_error(teacher, school):
    gone = decide.add(teacher, school, "我教高三")
    deleted = only(decide.confirm(teacher, [builders.candidate(teacher, "我教高二", contradicts_id=gone.fact_id).pk])).fact_id
    decide.delete(teacher, [deleted])
    allowed = only(decide.allow(teacher, [deleted]))
    decide.undo(teacher, gone.decision_id)
    assert decide.undo(teacher, allowed.decision_id).outcome in ("done", "nothing")


def test_undoing_an_undo_pins_nothing_that_was_deleted(teacher, school):
    fact_id = decide.add(teacher, school, WORDS, kind="profile").fact_id
    pinned = only(decide.pin(teacher, [fact_id], is_pinned=True))
    taken_back = decide.undo(teacher, pinned.decision_id)
    decide.delete(teacher, [fact_id])
    assert decide.undo(teacher, taken_back.decision_id).outcome == "nothing"
    assert not Fact.objects.get(pk=fact_id).is_pinned


def test_undoing_an_undo_is_no_way_round_thirty(teacher, school):
    first = decide.add(teacher, school, "事实零")
    back = decide.undo(teacher, first.decision_id)
    for i in range(30):
        decide.add(teacher, school, f"事实{i}号")
    decide.undo(teacher, back.decision_id)
    assert Fact.objects.filter(status="confirmed").count() == 30
    assert not Fact.objects.filter(status="confirmed", decision=None).exists()


def test_a_fact_of_another_school_is_not_replaced(teacher, school):
    other = builders.teacher().memberships.get().tenant
    teacher.memberships.create(tenant=other)
    elsewhere = decide.add(teacher, other.pk, "我教高三").fact_id
    key = builders.candidate(teacher, "我教高二", tenant=builders.Tenant.objects.get(pk=school)).pk
    decide.confirm(teacher, [key], replaces=elsewhere)
    assert Fact.objects.get(pk=elsewhere).status == "confirmed"


def test_a_user_is_deleted_with_all_their_memory(teacher, school):
    key = builders.candidate(teacher, "我教高二").pk
    decide.confirm(teacher, [key])
    added = decide.add(teacher, school, "我教高三")
    decide.undo(teacher, added.decision_id)
    decide.reject(teacher, [builders.candidate(teacher, "我教高一").pk])
    teacher.delete()
    assert not Fact.objects.exists() and not Candidate.objects.exists() and not CoreEvent.objects.exists()
