"""From which rounds something is learnt, for whom, and what never comes back by itself."""

import pytest

from chat.memory.core import decide
from chat.models import Candidate, Fact
from chat.models.work import rewind_layers
from chat.runs.delete import erase_thread
from tests import builders
from tests.memory.answering import replace_run
from tests.memory.core.talking import answer, confirmed, learn, pending, propose_texts, said, thread

pytestmark = pytest.mark.django_db

TABLES = "老师喜欢用表格"


def test_a_round_that_failed_after_it_was_replaced_takes_its_proposals_along():
    talk = thread()
    run = said(talk, "我喜欢用表格", answer(TABLES))
    replace_run(run, "", status="failed", error_code="provider_unreachable")
    rewind_layers(talk.pk, run.slot)
    learn(talk, answer(TABLES))
    assert pending(talk.user) == []


@pytest.mark.parametrize("how", ["rejected", "deleted", "erased with its conversation"])
def test_what_a_person_did_not_want_is_not_proposed_by_another_assistant_either(how):
    talk = thread()
    user = talk.user
    said(talk, "我喜欢用表格", answer(TABLES))
    [key] = Candidate.objects.values_list("pk", flat=True)
    if how == "rejected":
        decide.reject(user, [key])
    else:
        fact = decide.confirm(user, [key])[0].fact_id
        if how == "deleted":
            decide.delete(user, [fact])
        else:
            erase_thread(user, talk.pk, fact_ids=[fact])
    elsewhere = builders.thread(user, builders.agent(talk.tenant, provider=talk.agent.provider))
    said(elsewhere, "我喜欢用表格。", answer(f" {TABLES}。", kind="profile"))
    propose_texts(user, [TABLES])
    assert (pending(user), confirmed(user)) == ([], [])


def test_taken_back_and_put_again_a_rejection_stands():
    talk = thread()
    said(talk, "我喜欢用表格", answer(TABLES))
    [key] = Candidate.objects.values_list("pk", flat=True)
    [rejected] = decide.reject(talk.user, [key])
    back = decide.undo(talk.user, rejected.decision_id)
    decide.undo(talk.user, back.decision_id)
    said(talk, "我喜欢用表格", answer(TABLES))
    assert pending(talk.user) == [] and Candidate.objects.get().status == "rejected"


def test_the_same_wording_for_two_assistants_and_for_all_is_kept_once_each_and_told_once():
    teacher = builders.teacher()
    school = builders.school_of(teacher)
    agents = [builders.agent(school), builders.agent(school)]
    for agent in agents:
        assert decide.add(teacher, school.pk, TABLES, agent_id=agent.pk).outcome == "done"
        assert decide.add(teacher, school.pk, f"{TABLES}。", agent_id=agent.pk).outcome == "duplicate"
    assert decide.add(teacher, school.pk, TABLES).outcome == "done"
    assert decide.add(teacher, school.pk, TABLES, agent_id=agents[0].pk).outcome == "duplicate"
    assert Fact.objects.filter(status="confirmed").count() == 3
