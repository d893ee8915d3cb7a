"""Asking again for an answer repeats words that were said before; they are judged by when they were first said."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.utils import timezone

from chat.memory.external.forgetting import is_forgotten
from chat.models import Consent, Owner, RemoteScope, Run
from tests.memory.external.delivering import Delivered, deliver, ids, said, talk
from tests.scripted_backend import scripted_backend

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def backend() -> Iterator[Delivered]:
    with scripted_backend(Delivered()) as made:
        yield made


def again(run: Run, text: str = "") -> Run:
    """The round in the place of `run`, made just now."""
    Run.objects.filter(pk=run.pk).update(is_latest=False)
    return said(run.thread, text or run.input, replaces=run, created_at=timezone.now(), finished_at=timezone.now())


def agreed_since(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(created_at=timezone.now() - timedelta(days=2))
    Consent.objects.update(agreed_at=timezone.now() - timedelta(days=1))


def test_words_from_before_the_yes_do_not_go_when_they_are_answered_anew(backend):
    thread = talk()
    first = said(thread)
    agreed_since(first)
    again(again(first))
    assert deliver(thread) == ""
    assert backend.arrived(thread) == []


def test_other_words_in_their_place_go(backend):
    thread = talk()
    first = said(thread)
    agreed_since(first)
    edited = again(first, "改过的问题")
    deliver(thread)
    assert backend.arrived(thread) == ids(edited)


def test_nothing_is_made_of_forgotten_words_that_are_answered_anew(backend):
    thread = talk()
    first = said(thread)
    owner = Owner(thread.tenant_id, thread.user_id, thread.agent_id)
    RemoteScope.objects.create(
        backend="builtin", tenant_key=owner.tenant_id, user_key=owner.user_id, agent_key=owner.agent_id, forgotten_at=timezone.now()
    )
    new = again(first)
    assert is_forgotten(owner, new)
    assert not is_forgotten(owner, again(new, "改过的问题"))
