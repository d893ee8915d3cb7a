"""How often the database is asked for a run: beside the stream this is most of what a run costs the web process."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from decimal import Decimal

import pytest

from chat.models import Agent, Run
from chat.runs.finish import Outcome, finish_run
from chat.runs.start import Order, start_run
from tests import builders

pytestmark = pytest.mark.django_db
Limit = Callable[[int], AbstractContextManager[object]]


@pytest.fixture
def agent() -> Agent:
    return builders.agent(builders.school_of(builders.teacher()))


def order(agent: Agent, **fields: object) -> Order:
    return Order(**{"user_id": agent.tenant.memberships.first().user_id, "agent_id": agent.pk, "input": "问", "key": "1"} | fields)


def test_first_message_of_a_teacher_of_whom_nothing_is_remembered_is_cheap(agent: Agent, django_assert_max_num_queries: Limit) -> None:
    one = order(agent)
    with django_assert_max_num_queries(15):
        start_run(one)


def test_later_message_reads_only_its_thread_besides(agent: Agent, django_assert_max_num_queries: Limit) -> None:
    started = start_run(order(agent))
    finish_run(started.run_id, started.thread_id, Outcome("completed", "答"))
    later = order(agent, thread_id=started.thread_id, key="2")
    with django_assert_max_num_queries(16):
        start_run(later)


def test_end_reads_the_run_once(agent: Agent, django_assert_max_num_queries: Limit) -> None:
    started = start_run(order(agent))
    with django_assert_max_num_queries(9):
        finish_run(started.run_id, started.thread_id, Outcome("completed", "答"))


@pytest.mark.parametrize("status", [Run.Status.COMPLETED, Run.Status.CANCELLED])
def test_end_is_told_as_it_is_stored(agent: Agent, status: str) -> None:
    agent.provider.input_price, agent.provider.output_price = Decimal("0.123457"), Decimal("1.5")
    agent.provider.save()
    started = start_run(order(agent))
    Run.objects.filter(pk=started.run_id).update(citations=["psg_a"])  # as the search of the knowledge base adds them meanwhile
    cost = agent.provider.cost(7, 3)
    outcome = Outcome(status, "答", reasoning="想", tool_calls=[{"name": "kb_search"}], input_tokens=7, output_tokens=3, cost=cost)
    told = finish_run(started.run_id, started.thread_id, outcome, started.prepared)
    stored = Run.objects.with_memory().get(pk=started.run_id)
    names = [field.attname for field in Run._meta.concrete_fields] + ["has_notes", "memory_tokens", "core_name", "core_ids", "backend_ids"]
    assert {name: getattr(told, name) for name in names} == {name: getattr(stored, name) for name in names}
    assert (told.provider.name, told.embedder) == (stored.provider.name, None)
    assert started.prepared.run.is_going, "viewers hold the row of the run that goes"
