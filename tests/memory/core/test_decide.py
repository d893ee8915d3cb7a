"""What people do with core memory, and what they are told."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from chat.memory.base import Segment
from chat.memory.core import decide
from chat.memory.core.journal import UNDO_DELETE, forget_deleted
from chat.memory.ledger import ERASED, Ledger, to_row
from chat.models import Candidate, CoreEvent, Decision, Fact, RedlineRecord, RunLedger
from tests import builders

pytestmark = pytest.mark.django_db


@pytest.fixture
def teacher() -> User:
    return builders.teacher()


def confirmed(user: User) -> list[str]:
    return sorted(Fact.objects.for_user(user).filter(status="confirmed").values_list("text", flat=True))


def state(user: User) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
    """Everything about facts and candidates that a person can change."""
    facts = Fact.objects.for_user(user).order_by("normal", "agent_id")
    candidates = Candidate.objects.for_user(user).order_by("normal")
    return (
        list(facts.values_list("pk", "text", "normal", "kind", "agent_id", "status", "is_pinned", "quote", "confirmed_at", "decision_id")),
        list(candidates.values_list("pk", "text", "status", "later_until", "agent_id", "quote", "reason", "decision_id")),
    )


# --- Each verb. ---


def test_a_confirmed_candidate_is_a_fact_with_its_source(teacher):
    run = builders.run(builders.thread(teacher))
    candidate = builders.candidate(teacher, "我教高二", source_run=run, quote="我教高二。", kind="teaching", agent=run.agent)
    [result] = decide.confirm(teacher, [candidate.pk])
    fact = Fact.objects.get(pk=result.fact_id)
    assert (result.outcome, fact.status, fact.text, fact.kind, fact.quote) == ("done", "confirmed", "我教高二", "teaching", "我教高二。")
    assert (fact.source_run, fact.agent, fact.created_at) == (run, run.agent, candidate.created_at)
    assert (fact.decision.verb, fact.decision.user, fact.decision_id) == ("confirm", teacher, result.decision_id)


def test_several_are_one_decision(teacher):
    results = decide.confirm(teacher, [builders.candidate(teacher, f"喜欢{i}").pk for i in range(3)])
    assert len({result.decision_id for result in results}) == 1
    assert Decision.objects.count() == 1


def test_the_wording_can_be_changed_while_confirming(teacher):
    candidate = builders.candidate(teacher, "我教高二")
    [result] = decide.confirm(teacher, [candidate.pk], text=" 我教高二（3）班 ")
    assert confirmed(teacher) == ["我教高二（3）班"]
    event = CoreEvent.objects.get(fact_id=result.fact_id)
    assert (event.before["text"], event.after["text"], event.candidate) == ("我教高二", "我教高二（3）班", candidate)


@pytest.mark.parametrize(("is_shared", "is_for_all"), [(None, False), (True, True), (False, False)])
def test_the_scope_can_be_chosen(teacher, is_shared, is_for_all):
    agent = builders.agent(builders.school_of(teacher))
    candidate = builders.candidate(teacher, "以后请用表格", agent=agent)
    decide.confirm(teacher, [candidate.pk], is_shared=is_shared)
    assert Fact.objects.get().agent == (None if is_for_all else agent)


def test_a_shared_proposal_can_be_kept_for_the_assistant_it_came_from(teacher):
    run = builders.run(builders.thread(teacher))
    candidate = builders.candidate(teacher, "我教高二", source_run=run)
    decide.confirm(teacher, [candidate.pk], is_shared=False)
    assert Fact.objects.get().agent == run.agent


def test_replacing_puts_the_old_fact_into_the_archive(teacher):
    old = builders.fact(teacher, "我教高二")
    [result] = decide.confirm(teacher, [builders.candidate(teacher, "我教高三").pk], replaces=old.pk)
    old.refresh_from_db()
    assert (confirmed(teacher), old.status) == (["我教高三"], "archived")
    assert Decision.objects.get(pk=result.decision_id).verb == "replace"


def test_rejected_later_and_added(teacher):
    one, two = builders.candidate(teacher, "一"), builders.candidate(teacher, "二")
    assert decide.reject(teacher, [one.pk])[0].outcome == "done"
    assert decide.later(teacher, [two.pk])[0].outcome == "done"
    added = decide.add(teacher, builders.school_of(teacher).pk, "我教高二", kind="teaching")
    one.refresh_from_db(), two.refresh_from_db()
    assert (one.status, two.status, two.later_until > timezone.now()) == ("rejected", "pending", True)
    assert (added.outcome, Fact.objects.get(pk=added.fact_id).kind) == ("done", "teaching")


def test_a_fact_can_be_edited_and_moved(teacher):
    agent = builders.agent(builders.school_of(teacher))
    fact = builders.fact(teacher, "我教高二", agent=agent)
    assert decide.edit(teacher, fact.pk, "我教高三", is_shared=True).outcome == "done"
    fact.refresh_from_db()
    assert (fact.text, fact.agent, fact.decision.verb) == ("我教高三", None, "edit")


def test_a_pinned_fact_is_never_evicted(teacher):
    old = timezone.now() - timedelta(days=9)
    facts = [builders.fact(teacher, f"事实{i}", confirmed_at=old + timedelta(minutes=i)) for i in range(30)]
    decide.pin(teacher, [facts[0].pk], is_pinned=True)
    [result] = decide.confirm(teacher, [builders.candidate(teacher, "新的").pk])
    assert result.evicted_id == facts[1].pk


def test_the_least_recently_used_goes(teacher):
    old = timezone.now() - timedelta(days=9)
    facts = [builders.fact(teacher, f"事实{i}", confirmed_at=old + timedelta(minutes=i)) for i in range(30)]
    Fact.objects.filter(pk=facts[0].pk).update(last_used_at=timezone.now())
    result = decide.add(teacher, builders.school_of(teacher).pk, "新的")
    assert (result.evicted_id, len(confirmed(teacher))) == (facts[1].pk, 30)
    assert Fact.objects.get(pk=facts[1].pk).status == "archived"
    assert CoreEvent.objects.get(fact=facts[1]).verb == "evicted"


def test_each_scope_has_thirty(teacher):
    agent = builders.agent(builders.school_of(teacher))
    for i in range(30):
        builders.fact(teacher, f"事实{i}")
    assert decide.add(teacher, agent.tenant_id, "新的", agent_id=agent.pk).evicted_id == ""
    assert len(confirmed(teacher)) == 31


def test_thirty_pinned_leave_no_room(teacher):
    archived = builders.fact(teacher, "旧的", status="archived")
    for i in range(30):
        builders.fact(teacher, f"事实{i}", is_pinned=True)
    candidate = builders.candidate(teacher, "新的")
    assert decide.confirm(teacher, [candidate.pk])[0].outcome == "full"
    assert decide.restore(teacher, [archived.pk])[0].outcome == "full"
    assert Candidate.objects.get().status == "pending"
    assert len(confirmed(teacher)) == 30


def test_restoring_brings_back_what_was_evicted(teacher):
    archived = builders.fact(teacher, "旧的", status="archived")
    assert decide.restore(teacher, [archived.pk])[0].outcome == "done"
    assert decide.restore(teacher, [archived.pk])[0].outcome == "already"
    assert confirmed(teacher) == ["旧的"]


# --- What really happened. ---


def test_a_double_click_is_told_so(teacher):
    candidate = builders.candidate(teacher, "我教高二")
    first, second = decide.confirm(teacher, [candidate.pk])[0], decide.confirm(teacher, [candidate.pk])[0]
    assert (first.outcome, second.outcome, second.fact_id) == ("done", "already", first.fact_id)
    assert decide.reject(teacher, [candidate.pk])[0].outcome == "already"


@pytest.mark.parametrize(
    "call",
    [
        lambda user, fact, candidate: decide.confirm(user, [candidate])[0],
        lambda user, fact, candidate: decide.reject(user, [candidate])[0],
        lambda user, fact, candidate: decide.later(user, [candidate])[0],
        lambda user, fact, candidate: decide.edit(user, fact, "别的"),
        lambda user, fact, candidate: decide.pin(user, [fact], is_pinned=True)[0],
        lambda user, fact, candidate: decide.delete(user, [fact])[0],
        lambda user, fact, candidate: decide.restore(user, [fact])[0],
        lambda user, fact, candidate: decide.allow(user, [fact])[0],
        lambda user, fact, candidate: decide.allow(user, [candidate])[0],
    ],
)
def test_another_teacher_finds_nothing(teacher, call):
    fact, candidate = builders.fact(teacher, "我教高二"), builders.candidate(teacher, "喜欢表格")
    other = builders.teacher(builders.school_of(teacher))
    before = state(teacher)
    assert call(other, fact.pk, candidate.pk).outcome == "gone"
    assert state(teacher) == before
    assert not Decision.objects.filter(user=other).exists()


def test_another_teacher_cannot_undo(teacher):
    [result] = decide.confirm(teacher, [builders.candidate(teacher, "我教高二").pk])
    other = builders.teacher(builders.school_of(teacher))
    assert decide.undo(other, result.decision_id).outcome == "gone"
    assert decide.undo(other).outcome == "nothing"


def test_nothing_is_added_to_another_school(teacher):
    other = builders.agent(builders.tenant())
    assert decide.add(teacher, other.tenant_id, "我教高二").outcome == "gone"
    assert decide.add(teacher, builders.school_of(teacher).pk, "我教高二", agent_id=other.pk).outcome == "gone"


@pytest.mark.parametrize(
    ("text", "outcome"), [("  。", "empty"), ("长" * 201, "too_long"), ("证件 110101190003070010", "stopped"), ("小明数学考了45分", "ask")]
)
def test_a_wording_that_cannot_be_kept(teacher, text, outcome):
    school = builders.school_of(teacher)
    fact, candidate = builders.fact(teacher, "我教高二"), builders.candidate(teacher, "喜欢表格")
    assert decide.add(teacher, school.pk, text).outcome == outcome
    assert decide.edit(teacher, fact.pk, text).outcome == outcome
    assert decide.confirm(teacher, [candidate.pk], text=text)[0].outcome == outcome
    assert confirmed(teacher) == ["我教高二"]


def test_the_filter_says_what_it_stopped_and_keeps_a_masked_record(teacher):
    result = decide.add(teacher, builders.school_of(teacher).pk, "小明数学考了45分")
    record = RedlineRecord.objects.get()
    assert (result.kinds, result.rules) == (("score",), (record.rule,))
    assert "45" not in record.excerpt
    assert "小明" not in record.excerpt


def test_what_was_asked_once_can_be_accepted(teacher):
    school = builders.school_of(teacher)
    asked = decide.add(teacher, school.pk, "小明数学考了45分")
    assert decide.add(teacher, school.pk, "小明数学考了45分", accepted=asked.kinds).outcome == "done"
    refused = decide.add(teacher, school.pk, "证件 110101190003070010")
    assert decide.add(teacher, school.pk, "证件 110101190003070010", accepted=refused.kinds).outcome == "stopped"


def test_the_same_wording_is_kept_once(teacher):
    fact = builders.fact(teacher, "老师喜欢用表格")
    result = decide.add(teacher, builders.school_of(teacher).pk, "老师喜欢用表格。")
    assert (result.outcome, result.fact_id) == ("duplicate", fact.pk)


def test_what_is_shared_need_not_be_kept_for_one_assistant(teacher):
    builders.fact(teacher, "老师喜欢用表格")
    agent = builders.agent(builders.school_of(teacher))
    candidate = builders.candidate(teacher, "老师喜欢用表格！", agent=agent)
    assert decide.confirm(teacher, [candidate.pk])[0].outcome == "duplicate"


def test_adding_by_hand_settles_the_candidate_that_says_the_same(teacher):
    candidate = builders.candidate(teacher, "我教高二")
    decide.add(teacher, builders.school_of(teacher).pk, "我教高二")
    candidate.refresh_from_db()
    assert candidate.status == "confirmed"


def test_a_deleted_fact_that_is_added_again_lives_on(teacher):
    fact = builders.fact(teacher, "我教高二", status="deleted")
    Fact.objects.update(text="")
    result = decide.add(teacher, builders.school_of(teacher).pk, "我教高二")
    assert (result.fact_id, confirmed(teacher)) == (fact.pk, ["我教高二"])


# --- Deleting. ---


def test_deleting_takes_the_wording_out_of_facts_candidates_and_ledgers(teacher):
    run = builders.run(builders.thread(teacher))
    candidate = builders.candidate(teacher, "暗号青竹", quote="暗号青竹。", reason="说过暗号青竹")
    fact_id = decide.confirm(teacher, [candidate.pk])[0].fact_id
    segment = Segment("core", "user", "[核心记忆]\n- 暗号青竹\n[核心记忆结束]", 9, 99, 1, source_ids=[fact_id])
    to_row(run.pk, Ledger([segment], 1_000)).save()
    assert decide.delete(teacher, [fact_id])[0].outcome == "done"
    fact = Fact.objects.get()
    candidate.refresh_from_db()
    assert (fact.text, fact.quote, fact.normal, fact.status) == ("", "", "暗号青竹", "deleted")
    assert (candidate.text, candidate.quote, candidate.reason) == ("", "", "")
    kept = RunLedger.objects.get().segments[0]
    assert (kept["text"], kept["source_ids"]) == (f"[核心记忆]\n{ERASED}\n[核心记忆结束]", [fact_id])


def test_history_forgets_the_wording_when_it_cannot_be_undone_any_more(teacher):
    fact_id = decide.confirm(teacher, [builders.candidate(teacher, "甲", quote="甲。").pk], text="暗号青竹")[0].fact_id
    decide.edit(teacher, fact_id, "暗号赤松")
    deleted = decide.delete(teacher, [fact_id])[0]
    assert forget_deleted() == 0
    Fact.objects.update(updated_at=timezone.now() - UNDO_DELETE)
    forget_deleted()
    told = "".join(f"{event.before}{event.after}" for event in CoreEvent.objects.all())
    assert not any(f"'{word}" in told.replace("'normal': '", "") for word in ("暗号青竹", "暗号赤松", "甲"))
    assert decide.undo(teacher, deleted.decision_id).outcome == "nothing"


def test_an_allowed_fact_is_forgotten(teacher):
    fact_id = decide.confirm(teacher, [builders.candidate(teacher, "甲").pk])[0].fact_id
    decide.delete(teacher, [fact_id])
    assert decide.allow(teacher, [fact_id])[0].outcome == "done"
    assert not Fact.objects.exists()
    assert not Candidate.objects.exists()


def test_a_rejected_candidate_that_is_allowed_waits_again(teacher):
    candidate = builders.candidate(teacher, "甲", status="rejected")
    assert decide.allow(teacher, [candidate.pk])[0].outcome == "done"
    assert Candidate.objects.get().status == "pending"


# --- Undo. ---


VERBS = {
    "confirm": lambda user, ids: decide.confirm(user, [ids["candidate"], ids["other"]], text=None),
    "confirm edited": lambda user, ids: decide.confirm(user, [ids["candidate"]], text="改过的", is_shared=True),
    "replace": lambda user, ids: decide.confirm(user, [ids["candidate"]], replaces=ids["fact"]),
    "reject": lambda user, ids: decide.reject(user, [ids["candidate"], ids["other"]]),
    "later": lambda user, ids: decide.later(user, [ids["candidate"]]),
    "add": lambda user, ids: decide.add(user, ids["school"], "手写的"),
    "add what waits": lambda user, ids: decide.add(user, ids["school"], "候选甲"),
    "add what was deleted": lambda user, ids: decide.add(user, ids["school"], "删掉的"),
    "edit": lambda user, ids: decide.edit(user, ids["fact"], "改过的事实"),
    "edit over an archived one": lambda user, ids: decide.edit(user, ids["fact"], "存档的"),
    "pin": lambda user, ids: decide.pin(user, [ids["fact"]], is_pinned=True),
    "unpin": lambda user, ids: decide.pin(user, [ids["pinned"]], is_pinned=False),
    "delete": lambda user, ids: decide.delete(user, [ids["fact"], ids["archived"]]),
    "restore": lambda user, ids: decide.restore(user, [ids["archived"]]),
    "allow": lambda user, ids: decide.allow(user, [ids["rejected"], ids["deleted"]]),
}


@pytest.mark.parametrize("verb", VERBS)
def test_every_action_can_be_taken_back(teacher, verb):
    ids = {
        "school": builders.school_of(teacher).pk,
        "candidate": builders.candidate(teacher, "候选甲").pk,
        "other": builders.candidate(teacher, "候选乙").pk,
        "rejected": builders.candidate(teacher, "拒绝的", status="rejected").pk,
        "fact": builders.fact(teacher, "事实", quote="原话").pk,
        "pinned": builders.fact(teacher, "钉住的", is_pinned=True).pk,
        "archived": builders.fact(teacher, "存档的", status="archived").pk,
        "deleted": builders.fact(teacher, "删掉的", status="deleted").pk,
    }
    Fact.objects.filter(pk=ids["deleted"]).update(text="")
    for i in range(28):
        builders.fact(teacher, f"别的{i}")
    before = state(teacher)
    VERBS[verb](teacher, ids)
    assert state(teacher) != before
    undone = decide.undo(teacher)
    assert undone.outcome == "done"
    assert state(teacher) == before
    assert decide.undo(teacher, Decision.objects.get(pk=undone.decision_id).undoes_id).outcome == "already"


def test_undo_walks_back(teacher):
    candidate = builders.candidate(teacher, "甲")
    before = state(teacher)
    fact_id = decide.confirm(teacher, [candidate.pk])[0].fact_id
    decide.pin(teacher, [fact_id], is_pinned=True)
    assert [decide.undo(teacher).outcome for _ in range(3)] == ["done", "done", "nothing"]
    assert state(teacher) == before


def test_undo_leaves_alone_what_was_changed_since(teacher):
    one, two = builders.candidate(teacher, "甲"), builders.candidate(teacher, "乙")
    first, second = decide.confirm(teacher, [one.pk, two.pk])
    decide.edit(teacher, first.fact_id, "甲，改过")
    assert decide.undo(teacher, first.decision_id).outcome == "done"
    assert confirmed(teacher) == ["甲，改过"]
    assert Candidate.objects.get(pk=one.pk).status == "confirmed"
    assert Candidate.objects.get(pk=two.pk).status == "pending"


def test_undoing_a_deletion_never_makes_thirty_one(teacher):
    facts = [builders.fact(teacher, f"事实{i}") for i in range(30)]
    deleted = decide.delete(teacher, [facts[0].pk])[0]
    decide.add(teacher, builders.school_of(teacher).pk, "新的")
    assert decide.undo(teacher, deleted.decision_id).outcome == "done"
    assert len(confirmed(teacher)) == 30
    assert "事实0" in confirmed(teacher)
