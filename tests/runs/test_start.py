"""Start: what is accepted, what is refused, and what is stored."""

from datetime import timedelta

import pytest
from django.utils import timezone

from chat.models import Agent, Run, Summary, Thread
from chat.runs import errors
from chat.runs.start import Order, start_run
from tests import builders

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent() -> Agent:
    return builders.agent(builders.school_of(builders.teacher()))


def order(agent: Agent, text: str = "出一份数据结构试卷", **fields: object) -> Order:
    user_id = agent.tenant.memberships.first().user_id
    return Order(**{"user_id": user_id, "agent_id": agent.pk, "input": text} | fields)


def finished(agent: Agent, **fields: object) -> Run:
    thread = builders.thread(agent.tenant.memberships.first().user, agent)
    return builders.run(thread, **fields)


def refusal(order: Order) -> errors.RunRefused:
    before = (Thread.objects.count(), Run.objects.count())
    with pytest.raises(errors.RunRefused) as refused:
        start_run(order)
    assert (Thread.objects.count(), Run.objects.count()) == before
    return refused.value


def test_first_message_makes_a_thread_titled_by_its_first_forty_characters(agent: Agent) -> None:
    started = start_run(order(agent, "出一份\n数据结构试卷" * 10))
    thread = Thread.objects.get(pk=started.thread_id)
    assert thread.title == ("出一份 数据结构试卷" * 10)[:40]
    assert (thread.last_position, thread.runs.get().slot) == (1, 1)


def test_second_message_sees_the_first_round(agent: Agent) -> None:
    first = finished(agent)
    started = start_run(order(agent, "简答题换两道", thread_id=first.thread_id))
    assert "出一份数据结构试卷" in started.prepared.request.messages[1]["content"]


def test_run_that_is_still_going_is_not_seen(agent: Agent) -> None:
    going = finished(agent, status="running", output="还在写")
    started = start_run(order(agent, "另一问", thread_id=going.thread_id))
    assert started.prepared.request.messages[1]["content"] == "另一问"


def test_same_key_is_the_same_run(agent: Agent) -> None:
    first, second = (start_run(order(agent, key="k1")) for _ in range(2))
    assert (first.run_id, first.is_new, second.run_id, second.is_new) == (first.run_id, True, first.run_id, False)
    assert Thread.objects.count() == 1


def test_same_key_with_another_message_is_refused(agent: Agent) -> None:
    start_run(order(agent, key="k1"))
    assert refusal(order(agent, "别的", key="k1")).code == "idempotency_key_reused"


def test_same_key_with_another_mode_is_refused(agent: Agent) -> None:
    start_run(order(agent, key="k1"))
    assert refusal(order(agent, key="k1", mode=builders.mode(agent).slug)).code == "idempotency_key_reused"


def test_archived_thread_comes_back(agent: Agent) -> None:
    thread = finished(agent).thread
    Thread.objects.update(status="archived")
    start_run(order(agent, thread_id=thread.pk))
    assert Thread.objects.get().status == "active"


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_empty_input_is_refused(agent: Agent, text: str) -> None:
    assert refusal(order(agent, text)).code == "input_empty"


@pytest.mark.parametrize("text", ["a\x00b", "a\ud800b"])
def test_characters_that_cannot_be_stored_are_refused(agent: Agent, text: str) -> None:
    assert refusal(order(agent, text)).code == "input_invalid"


def test_question_beyond_the_window_is_refused_whole(agent: Agent) -> None:
    refused = refusal(order(agent, "题目。" * 30_000))
    assert refused.code == "input_too_long" and refused.details["limit"] > 0


def test_foreign_thread_and_missing_thread_are_refused_alike(agent: Agent) -> None:
    foreign = finished(builders.agent(builders.school_of(builders.teacher()))).thread
    answers = {(r.code, r.status, r.field) for r in (refusal(order(agent, thread_id=t)) for t in (foreign.pk, "th_none"))}
    assert answers == {("thread_mismatch", 400, "thread_id")}


def test_thread_of_another_assistant_is_refused(agent: Agent) -> None:
    other = builders.agent(agent.tenant)
    assert refusal(order(other, thread_id=finished(agent).thread_id)).code == "thread_mismatch"


def test_assistant_of_another_school_is_not_found(agent: Agent) -> None:
    other = builders.agent(builders.tenant())
    assert refusal(order(agent, agent_id=other.pk)).code == "not_found"


def test_unknown_mode_is_refused(agent: Agent) -> None:
    assert refusal(order(agent, mode="nope")).code == "invalid_mode"


def test_mode_prompt_is_part_of_the_system_message(agent: Agent) -> None:
    mode = builders.mode(agent)
    started = start_run(order(agent, mode=mode.slug))
    assert mode.prompt in started.prepared.request.messages[0]["content"]


def test_more_runs_a_minute_than_allowed_are_refused(agent: Agent, settings: object) -> None:
    settings.RUNS_PER_MINUTE = 2
    for _ in range(2):
        start_run(order(agent))
    assert refusal(order(agent)).status == 429
    Run.objects.update(created_at=timezone.now() - timedelta(minutes=2))
    assert start_run(order(agent)).is_new


def test_retry_takes_the_place_of_the_failed_run(agent: Agent) -> None:
    failed = finished(agent, status="failed", error_code="provider_timeout")
    later = builders.run(failed.thread, "后一问", "后一答")
    started = start_run(order(agent, failed.input, thread_id=failed.thread_id, replaces=failed.pk))
    path = list(Run.objects.filter(thread=failed.thread).active_path().values_list("pk", flat=True))
    assert path == [started.run_id, later.pk]
    assert "后一答" not in started.prepared.request.messages[1]["content"]


def test_run_can_be_replaced_only_once(agent: Agent) -> None:
    failed = finished(agent, status="failed", error_code="provider_timeout")
    start_run(order(agent, thread_id=failed.thread_id, replaces=failed.pk))
    assert refusal(order(agent, thread_id=failed.thread_id, replaces=failed.pk)).code == "replaces_mismatch"


def test_run_that_is_going_cannot_be_replaced(agent: Agent) -> None:
    going = finished(agent, status="running")
    assert refusal(order(agent, thread_id=going.thread_id, replaces=going.pk)).code == "replaces_mismatch"


def test_replacing_a_summarised_round_takes_the_summary_back_before_it(agent: Agent) -> None:
    first = finished(agent)
    thread = first.thread
    second = builders.run(thread, "第二问", "第二答")
    for run in (first, second):
        Summary.objects.create(thread=thread, upto_slot=run.slot, upto_at=run.created_at, text=f"摘要{run.slot}")
    Thread.objects.update(rolling_summary="摘要2", summary_upto_slot=2)
    started = start_run(order(agent, thread_id=thread.pk, replaces=second.pk))
    thread.refresh_from_db()
    assert (thread.rolling_summary, thread.summary_upto_slot) == ("摘要1", 1)
    assert "摘要1" in started.prepared.request.messages[1]["content"]
    assert "摘要2" not in started.prepared.request.messages[1]["content"]
