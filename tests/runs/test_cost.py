"""How often the database is asked for a run: beside the stream this is most of what a run costs the web process."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from chat.models import Agent
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
