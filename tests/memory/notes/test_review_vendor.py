"""Where reviews of notes go (DESIGN §8; specs/notes_memory.md §3.2 Provider)."""

import pytest

from chat.memory.consent import answer
from chat.memory.notes import journal
from chat.memory.notes.base import Author
from chat.memory.notes.review import run_review
from chat.memory.notes.review_vendor import waits_for_consent
from chat.memory.notes.storage import Change
from chat.memory.notes.store import storage
from chat.models import Agent, Consent, MemoryOp, NoteOp, NoteReview, Owner, Provider, Thread
from tests import builders
from tests.fakes import ScriptedProvider, scripted
from tests.memory.answering import FreeLease, cloud_agent
from tests.memory.notes.reviewing import END, calls, due, note, place, review, talk

pytestmark = pytest.mark.django_db
STATE = NoteReview.State
ELSEWHERE = {"kind": "openai", "base_url": "https://other.example/v1", "is_local": False}


def owner_of(thread: Thread) -> Owner:
    return Owner(thread.tenant_id, thread.user_id, thread.agent_id)


def fresh(thread: Thread) -> Agent:
    return Agent.objects.select_related("provider", "review_provider").get(pk=thread.agent_id)


def fresh_thread(thread: Thread) -> Thread:
    return Thread.objects.select_related("agent__provider").get(pk=thread.pk)


def by_hand(thread: Thread, text: str) -> None:
    """What a teacher has put into the file of the notes with an editor of their own."""
    storage().change(
        place(thread), lambda _content: Change(text.encode(), journal.new_op(place(thread), "edit", Author(NoteOp.Origin.PANEL)))
    )


def ended(row: NoteReview) -> tuple[str, str]:
    return row.state, row.error_code


def other_service(thread: Thread, **fields):
    service = builders.provider(
        thread.agent.tenant, **{"name": "另一个", "kind": "ollama", "base_url": "http://127.0.0.1:9", "is_local": True} | fields
    )
    Agent.objects.filter(pk=thread.agent_id).update(review_provider=service, review_model="small")
    return service


def test_it_goes_to_the_assistants_own_service():
    thread = talk()
    _, model = review(thread)
    assert (model.endpoints[0].model, model.endpoints[0].base_url) == ("large", thread.agent.provider.base_url)


def test_or_to_the_one_that_is_set_for_reviews():
    thread = talk()
    service = other_service(thread)
    row = due(thread)
    with scripted(ScriptedProvider(END), "ollama") as model:
        run_review(row.pk, FreeLease())
    assert (model.endpoints[0].model, model.endpoints[0].kind) == ("small", "ollama")
    assert MemoryOp.objects.get().provider == service


def test_from_a_local_service_it_goes_to_no_other_than_a_local_one():
    thread = talk()
    type(thread.agent.provider).objects.update(is_local=True)
    other_service(thread, kind="openai", is_local=False)
    row, model = review(thread)
    assert ended(row) == (STATE.SKIPPED, "provider_not_allowed")
    assert not model.requests


def test_nor_to_the_service_of_another_school():
    thread = talk()
    foreign = cloud_agent().provider
    Agent.objects.filter(pk=thread.agent_id).update(review_provider=foreign, review_model="small")
    row, model = review(thread)
    assert ended(row) == (STATE.SKIPPED, "provider_not_allowed")
    assert not model.requests


def test_to_another_vendor_it_goes_only_with_the_teachers_consent():
    thread = talk()
    other_service(thread, **ELSEWHERE)
    row, model = review(thread)
    assert ended(row) == (STATE.SKIPPED, "no_consent")
    assert not model.requests


def test_with_it_it_goes_there_without_what_is_sensitive_in_the_notes():
    thread = talk()
    service = other_service(thread, **ELSEWHERE)
    answer(owner_of(thread), service, Consent.Purpose.REVIEW, is_agreed=True)
    note(thread, "教高二物理", "user")
    by_hand(thread, "班费卡号 6222020000000000000")
    row, model = review(thread, calls(("memory_show", {})), END)
    assert ended(row) == (STATE.DONE, "")
    assert model.endpoints[0].base_url == "https://other.example/v1"
    shown = model.requests[-1].messages[-1]["content"]
    assert "教高二物理" in shown
    assert "6222" not in shown


def test_a_consent_to_something_else_or_to_another_host_does_not_count():
    thread = talk()
    service = other_service(thread, **ELSEWHERE)
    answer(owner_of(thread), service, Consent.Purpose.RECALL, is_agreed=True)
    assert waits_for_consent(owner_of(thread), fresh(thread)) == service
    answer(owner_of(thread), service, Consent.Purpose.REVIEW, is_agreed=True)
    assert waits_for_consent(owner_of(thread), fresh(thread)) is None
    Provider.objects.filter(pk=service.pk).update(base_url="https://moved.example/v1")
    assert waits_for_consent(owner_of(thread), fresh(thread)) == service


@pytest.mark.parametrize("fields", [{"is_local": True}, {"base_url": "http://127.0.0.1:9/other"}])
def test_nothing_is_asked_where_no_other_vendor_comes_in(fields):
    thread = talk()
    other_service(thread, **ELSEWHERE | fields)
    assert waits_for_consent(owner_of(thread), fresh(thread)) is None
    assert ended(review(fresh_thread(thread))[0]) == (STATE.DONE, "")


def test_nothing_is_asked_where_there_are_no_reviews():
    thread = talk()
    other_service(thread, **ELSEWHERE)
    Agent.objects.update(review_every=0)
    assert waits_for_consent(owner_of(thread), fresh(thread)) is None


def test_an_assistant_without_a_service_for_reviews_costs_no_query(django_assert_num_queries):
    thread = talk()
    with django_assert_num_queries(0):
        assert waits_for_consent(owner_of(thread), thread.agent) is None
