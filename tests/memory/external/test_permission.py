"""Whether text may go to a memory backend: asked once, held to the place that was told, from the next message on."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chat.memory.external.permission import NOT_AGREED, agreed_at, answer, kept_at, may_send, waits_for_answer
from chat.memory.switches import switch_memory
from chat.models import Agent, Consent, Owner
from tests import builders
from tests.scripted_backend import NAME, PLACE, SENDS, ScriptedManager, scripted_backend

pytestmark = pytest.mark.django_db


@pytest.fixture
def backend() -> Iterator[ScriptedManager]:
    with scripted_backend() as made:
        yield made


@pytest.fixture
def agent() -> Agent:
    return builders.agent(builders.school_of(builders.teacher()))


@pytest.fixture
def owner(agent: Agent) -> Owner:
    return Owner(agent.tenant_id, agent.tenant.memberships.get().user_id, agent.pk)


def test_nothing_may_go_there_before_the_teacher_has_agreed(backend: ScriptedManager, owner: Owner, agent: Agent) -> None:
    assert waits_for_answer(owner, agent)
    assert not may_send(owner, NAME)
    assert agreed_at(owner, NAME) is None


def test_what_was_agreed_to_is_kept_with_its_time_and_place(backend: ScriptedManager, owner: Owner, agent: Agent) -> None:
    answer(owner, NAME, is_agreed=True)
    row = Consent.objects.get()
    assert (row.purpose, row.provider, row.host, row.is_agreed) == ("memory", None, PLACE, True)
    assert may_send(owner, NAME)
    assert agreed_at(owner, NAME) == row.agreed_at
    assert not waits_for_answer(owner, agent)


def test_a_refusal_is_an_answer_too(backend: ScriptedManager, owner: Owner, agent: Agent) -> None:
    answer(owner, NAME, is_agreed=False)
    assert not may_send(owner, NAME)
    assert agreed_at(owner, NAME) is None
    assert not waits_for_answer(owner, agent)


def test_it_holds_for_all_assistants_of_the_school_and_no_other_school(backend: ScriptedManager, owner: Owner) -> None:
    answer(owner, NAME, is_agreed=True)
    assert may_send(replace(owner, agent_id="ag_other"), NAME)
    assert not may_send(replace(owner, tenant_id=builders.tenant().pk), NAME)
    assert not may_send(replace(owner, user_id=builders.teacher().pk), NAME)


def test_what_is_withdrawn_and_agreed_to_again_starts_anew(backend: ScriptedManager, owner: Owner) -> None:
    answer(owner, NAME, is_agreed=True)
    first = agreed_at(owner, NAME)
    answer(owner, NAME, is_agreed=False)
    assert agreed_at(owner, NAME) is None
    answer(owner, NAME, is_agreed=True)
    assert agreed_at(owner, NAME) > first
    assert Consent.objects.count() == 1


def test_to_agree_twice_leaves_nothing_behind_that_waits_to_be_sent(backend: ScriptedManager, owner: Owner) -> None:
    answer(owner, NAME, is_agreed=True)
    first = agreed_at(owner, NAME)
    answer(owner, NAME, is_agreed=True)
    assert agreed_at(owner, NAME) == first


def test_a_backend_that_moved_is_asked_about_again(backend: ScriptedManager, owner: Owner, agent: Agent) -> None:
    answer(owner, NAME, is_agreed=True)
    backend.capabilities = replace(SENDS, place="elsewhere.example")
    assert waits_for_answer(owner, agent)
    assert not may_send(owner, NAME)
    assert agreed_at(owner, NAME) is None


def test_nothing_is_asked_while_memory_is_off(backend: ScriptedManager, owner: Owner, agent: Agent) -> None:
    switch_memory(owner.user_id, is_on=False)
    assert not waits_for_answer(owner, agent)


def test_the_built_in_backend_is_not_asked_about_and_costs_no_query(owner: Owner, agent: Agent) -> None:
    with CaptureQueriesContext(connection) as caught:
        assert not waits_for_answer(owner, agent)
        assert may_send(owner, "builtin")
        assert may_send(owner, "noop")
    assert not caught.captured_queries


def test_what_a_row_was_kept_at_is_known_without_importing_a_backend_of_old() -> None:
    assert kept_at(NAME, "") == (NAME, "")
    assert kept_at("noop", "") is None
    assert kept_at("", "") is None


def test_of_a_run_that_was_not_agreed_to_nothing_is_kept(backend: ScriptedManager) -> None:
    assert kept_at(NAME, "memory_timeout") == ("OpenViking", PLACE)
    assert kept_at(NAME, NOT_AGREED) is None
