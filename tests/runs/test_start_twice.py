"""Orders that come twice, and orders that meet in one thread."""

from threading import Barrier, Thread
from unittest.mock import patch

import pytest
from django.db import connection

from chat.models import Agent, Run
from chat.models import Thread as Conversation
from chat.runs import errors, start
from chat.runs.start import Order, Started, start_run
from tests import builders


@pytest.fixture
def agent() -> Agent:
    return builders.agent(builders.school_of(builders.teacher()))


def order(agent: Agent, text: str = "出一份数据结构试卷", **fields: object) -> Order:
    user_id = agent.tenant.memberships.first().user_id
    return Order(**{"user_id": user_id, "agent_id": agent.pk, "input": text} | fields)


def finished(agent: Agent, **fields: object) -> Run:
    thread = builders.thread(agent.tenant.memberships.first().user, agent)
    return builders.run(thread, **fields)


several_writers = pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite in memory has one writer")


def at_once(*orders: Order) -> list[Started | errors.RunRefused]:
    """Starts the orders in threads of their own, all at the same moment."""
    gate, results = Barrier(len(orders)), []

    def work(one: Order) -> None:
        gate.wait(5)
        try:
            results.append(start_run(one))
        except errors.RunRefused as refused:
            results.append(refused)
        finally:
            connection.close()

    threads = [Thread(target=work, args=(one,)) for one in orders]
    for one in threads:
        one.start()
    for one in threads:
        one.join(30)
    return results


@pytest.mark.django_db
def test_retry_that_is_sent_twice_is_one_run_also_when_the_first_is_just_being_stored(agent: Agent) -> None:
    failed = finished(agent, status="failed", error_code="provider_timeout")
    retry = order(agent, failed.input, thread_id=failed.thread_id, replaces=failed.pk, key="k1")
    first: list[Started] = []
    known = start._known

    def known_too_late(one: Order) -> Started | None:
        found = known(one)
        if not first:
            first.append(None)
            first[0] = start_run(one)  # the other request is stored between our look and our own
        return found

    with patch.object(start, "_known", known_too_late):
        second = start_run(retry)
    assert (second.run_id, second.is_new) == (first[0].run_id, False)


@pytest.mark.django_db
def test_key_of_a_message_in_a_thread_does_not_stand_for_a_new_thread(agent: Agent) -> None:
    thread = finished(agent).thread
    start_run(order(agent, thread_id=thread.pk, key="k1"))
    with pytest.raises(errors.KeyConflict):
        start_run(order(agent, key="k1"))


@pytest.mark.django_db
def test_question_that_no_conversation_can_hold_is_refused_before_it_is_stored(agent: Agent) -> None:
    Agent.objects.update(context_tokens=2_000_000)
    with pytest.raises(errors.InputTooLong):
        start_run(order(agent, "题目" * 60_000))
    assert not Run.objects.exists()


@pytest.mark.django_db
def test_small_window_still_takes_a_question() -> None:
    user = builders.teacher()
    agent = builders.agent(builders.school_of(user), context_tokens=4_096, reply_tokens=1_000, system_prompt="你出题。" * 60)
    assert start_run(order(agent)).is_new


@pytest.mark.django_db
def test_as_many_rounds_are_read_as_the_assistant_lets_stand(agent: Agent) -> None:
    Agent.objects.update(
        compress_over_rounds=60, compress_over_tokens=20_000, rounds_tokens=20_000, thread_tokens=20_000, shared_tokens=8_000
    )
    thread = finished(agent).thread
    for number in range(40):
        builders.run(thread, f"第{number}问", "好")
    text = start_run(order(agent, thread_id=thread.pk)).prepared.request.messages[1]["content"]
    assert "‹用户› 第0问" in text and "因篇幅未放入" not in text


@several_writers
@pytest.mark.django_db(transaction=True)
def test_of_several_retries_at_once_one_takes_the_place(agent: Agent) -> None:
    failed = finished(agent, status="failed", error_code="provider_timeout")
    results = at_once(*[order(agent, thread_id=failed.thread_id, replaces=failed.pk)] * 4)
    assert sorted(getattr(one, "code", "started") for one in results) == ["replaces_mismatch"] * 3 + ["started"]
    assert Run.objects.filter(thread=failed.thread).active_path().count() == 1


@several_writers
@pytest.mark.django_db(transaction=True)
def test_one_form_sent_many_times_at_once_is_one_run(agent: Agent) -> None:
    results = at_once(*[order(agent, key="k1")] * 4)
    assert len({one.run_id for one in results}) == 1 and [one.is_new for one in results].count(True) == 1
    assert Conversation.objects.count() == Run.objects.count() == 1


@several_writers
@pytest.mark.django_db(transaction=True)
def test_messages_that_meet_in_a_thread_have_places_of_their_own(agent: Agent) -> None:
    thread = finished(agent).thread
    at_once(*[order(agent, f"第{number}问", thread_id=thread.pk) for number in range(4)])
    assert sorted(Run.objects.values_list("slot", flat=True)) == [1, 2, 3, 4, 5]
