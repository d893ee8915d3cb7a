"""What an administrator sees of memory backends: the choice for an assistant, and how it stands; never a text."""

from datetime import timedelta

import pytest
from asgiref.sync import async_to_sync
from django.urls import reverse
from django.utils import timezone

from chat.memory.backends.base import Health
from chat.memory.external import chosen, start
from chat.models import Agent, RemoteScope, RemoteSession, Work
from tests import builders
from tests.admin.test_pages import listing, page
from tests.scripted_backend import NAME, scripted_backend

FIELD = 'name="memory_manager"'


@pytest.fixture
def backend():
    with scripted_backend() as manager:
        yield manager
    start._found = Health(is_usable=True)


@pytest.fixture(autouse=True)
def managers_anew():
    chosen.forget_managers()
    yield
    chosen.forget_managers()


def fields_of(agent: Agent) -> dict[str, object]:
    """The form of an assistant as the page sends it."""
    names = [field.name for field in Agent._meta.fields if field.name not in ("id", "created_at", "tenant", "examples", "temperature")]
    values = {name: getattr(agent, f"{name}_id", getattr(agent, name)) for name in names}
    return {name: "" if value is None else "on" if value is True else value for name, value in values.items() if value is not False} | {
        "examples": "",
        "temperature": "",
        "modes-TOTAL_FORMS": 0,
        "modes-INITIAL_FORMS": 0,
    }


def test_an_assistants_backend_is_offered_only_where_the_installation_allows_it(at_school, own, settings):
    assert FIELD not in at_school.get(page(own.agent)).content.decode()
    settings.MEMORY_MANAGER_PER_AGENT = True
    html = at_school.get(page(own.agent)).content.decode()
    assert FIELD in html and 'value="noop"' in html and 'value="openviking"' not in html


def test_the_choice_is_kept(at_school, own, settings):
    settings.MEMORY_MANAGER_PER_AGENT = True
    assert at_school.post(page(own.agent), fields_of(own.agent) | {"memory_manager": "noop"}).status_code == 302
    assert Agent.objects.get(pk=own.agent.pk).memory_manager == "noop"


def test_a_forged_field_changes_nothing_where_it_is_not_allowed(at_school, own):
    assert at_school.post(page(own.agent), fields_of(own.agent) | {"memory_manager": "noop"}).status_code == 302
    assert Agent.objects.get(pk=own.agent.pk).memory_manager == ""


def index(client) -> str:
    return client.get(reverse("admin:index"), headers={"Accept-Language": "en"}).content.decode()


def test_with_the_built_in_backend_the_overview_says_nothing_of_it(at_school):
    assert "memory backend</th>" not in index(at_school)


def test_one_that_works_is_named_with_its_place(at_school, backend):
    html = index(at_school)
    assert "OpenViking (memory.example.org):<br>in use" in html


def test_what_the_start_found_is_said(at_school, backend):
    backend.health = Health(is_usable=False, code="memory_unreachable")
    async_to_sync(start.warm_up)()
    assert "it could not be used when this process started (memory_unreachable)" in index(at_school)


def test_answers_that_came_without_it_are_counted_for_the_own_school(at_school, own, foreign, backend):
    now = timezone.now()
    for school, code, at in (
        (own, "memory_timeout", now),
        (own, "memory_timeout", now),
        (own, "memory_not_agreed", now),
        (own, "memory_timeout", now - timedelta(hours=2)),
        (foreign, "memory_timeout", now),
    ):
        builders.run(school.thread, backend=NAME, backend_code=code, created_at=at)
    html = index(at_school)
    assert "2 answers of the last hour came without it (memory_timeout)" in html
    assert "memory_not_agreed" not in html


def test_work_about_a_backend_is_that_of_the_own_school(at_school, own, foreign):
    for school in (own, foreign):
        Work.objects.mark("remote", school.rows[RemoteSession].pk)
    shown = {row.subject_id for row in at_school.get(listing(Work)).context["cl"].queryset}
    assert own.rows[RemoteSession].pk in shown and foreign.rows[RemoteSession].pk not in shown


def test_a_forgetting_that_waits_is_told_of_the_own_school_until_it_is_done(at_school, own, foreign):
    assert "waiting to be forgotten" not in index(at_school)
    for school in (own, foreign):
        RemoteScope.objects.filter(pk=school.rows[RemoteSession].scope_id).update(
            backend=NAME, forget_asked_at=timezone.now() - timedelta(days=3)
        )
    html = index(at_school)
    assert "waiting to be forgotten at openviking" in html
    assert "1 request to forget everything" in html
    assert "not set up any more. Set it up again (MEMORY_MANAGER=openviking)" in html
