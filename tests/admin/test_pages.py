"""Every model has pages, they are quick, and what the product writes can only be read."""

import re

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.admin.utils import quote
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from chat.models import (
    Agent,
    AgentMode,
    ApiToken,
    Candidate,
    CoreEvent,
    Decision,
    Document,
    Fact,
    LayerState,
    Membership,
    MemoryOp,
    NoteGuard,
    NoteOp,
    NoteReview,
    NoteSnapshot,
    NoteText,
    Notice,
    RecallEntry,
    RedlineRecord,
    RemoteGap,
    RemoteScope,
    RemoteSession,
    Run,
    RunLedger,
    Summary,
    Tenant,
    Thread,
    Work,
    WorkerBeat,
)
from tests import builders
from tests.admin.conftest import furnish

# Without pages: what search is made of, which nobody reads, as it repeats what has pages; what stands in documents; what
# each teacher said, which is shown in numbers with the service; and what is only told to /metrics.
OF_SEARCH = {"SearchIndex", "SearchTerm", "SearchBlock", "SearchText", "VectorBlock", "Consent", "DocumentFile", "Passage"}
MODELS = [model for model in apps.get_app_config("chat").get_models() if model.__name__ not in OF_SEARCH | {"RemoteFigure"}]
REMEMBERED = [Fact, Candidate, Decision, CoreEvent, RedlineRecord]
NOTES = [NoteText, NoteOp, NoteReview, NoteGuard, NoteSnapshot, Notice]
OUTSIDE = [RemoteScope, RemoteSession, RemoteGap]
RECORDS = [Thread, Summary, Run, RunLedger, MemoryOp, Work, LayerState, RecallEntry, Document, *REMEMBERED, *NOTES, *OUTSIDE]


SAME_EVERYWHERE = {"ID", "Id", "Token"}


def listing(model) -> str:
    return reverse(f"admin:chat_{model._meta.model_name}_changelist")


def page(row, name: str = "change", key: object = None) -> str:
    """The address as the site writes it: `_25` in a key would be read as `%`."""
    return reverse(f"admin:chat_{row._meta.model_name}_{name}", args=[quote(row.pk if key is None else key)])


def adding(model) -> str:
    return reverse(f"admin:chat_{model._meta.model_name}_add")


@pytest.mark.parametrize("model", MODELS)
def test_every_model_has_pages_with_search_and_dates(model):
    pages = admin.site._registry[model]
    assert pages.search_fields
    assert len(pages.list_display) > 1
    assert pages.date_hierarchy or "created_at" not in {field.name for field in model._meta.fields}


@pytest.mark.parametrize("model", MODELS)
def test_list_and_row_open(model, everywhere, own):
    assert everywhere.get(listing(model)).status_code == 200
    assert everywhere.get(page(own.rows[model])).status_code == 200
    assert everywhere.get(listing(model), {"q": "x"}).status_code == 200


@pytest.mark.parametrize("model", MODELS)
def test_columns_and_fields_are_named_in_the_readers_language(model, everywhere, own):
    for address in (listing(model), page(own.rows[model])):
        html = everywhere.get(address, headers={"Accept-Language": "zh-hans"}).content.decode()
        names = re.findall(
            r'<label[^>]*>([^<]+):?</label>|<th scope="col".*?<div class="text">(?:<a [^>]*>|<span>)([^<]*)<', html, re.DOTALL
        )
        assert names
        assert [one for pair in names for one in pair if re.fullmatch(r"[A-Za-z ]+:?", one) and one.strip(":") not in SAME_EVERYWHERE] == []


def queries_of_lists(client) -> dict[str, int]:
    """How many queries each list makes."""
    counts = {}
    for model in MODELS:
        with CaptureQueriesContext(connection) as queries:
            assert client.get(listing(model)).status_code == 200
        counts[model.__name__] = len(queries)
    return counts


def grow(rows: int) -> None:
    for _ in range(rows):
        furnish(builders.tenant())


def test_lists_ask_as_little_for_thirty_rows_as_for_three(everywhere):
    grow(3)
    few = queries_of_lists(everywhere)
    grow(27)
    assert queries_of_lists(everywhere) == few


@pytest.mark.parametrize("model", RECORDS)
def test_records_are_neither_added_nor_changed_nor_deleted_one_by_one(model, everywhere, own):
    row = own.rows[model]
    assert everywhere.get(adding(model)).status_code == 403
    assert everywhere.post(page(row), {}).status_code == 403
    if model is not Thread:
        assert everywhere.get(page(row, "delete")).status_code == 403


def test_a_superuser_deletes_a_whole_conversation(everywhere, own):
    everywhere.post(page(own.thread, "delete"), {"post": "yes"})
    assert not Thread.objects.exists()
    assert not Run.objects.exists()
    assert [work.kind for work in Work.objects.all()] == ["remote"]  # the memory backend forgets it too
    assert Fact.objects.get().quote == ""  # what was learnt stays its teacher's, without the conversation's words


def test_several_conversations_are_deleted_from_the_list_the_same_way(everywhere, own):
    everywhere.post(listing(Thread), {"action": "delete_selected", "_selected_action": [own.thread.pk], "post": "yes"})
    assert not Thread.objects.exists()
    assert not Work.objects.exclude(kind="remote").exists()


@pytest.mark.parametrize("model", [ApiToken, WorkerBeat])
def test_what_only_the_product_can_make_is_not_added_by_hand(model, everywhere):
    assert everywhere.get(adding(model)).status_code == 403


def test_a_tokens_digest_is_not_shown(everywhere, own):
    token = own.rows[ApiToken]
    assert token.digest not in everywhere.get(page(token)).content.decode()


def test_tokens_are_revoked_from_the_list(everywhere, own):
    everywhere.post(listing(ApiToken), {"action": "revoke", "_selected_action": [own.rows[ApiToken].pk]})
    assert not ApiToken.objects.usable().exists()


def test_the_school_of_a_membership_is_not_changed_afterwards(everywhere, own, foreign):
    membership = own.rows[Membership]
    everywhere.post(page(membership), {"role": "admin", "tenant": foreign.tenant.pk, "user": foreign.teacher.pk})
    membership.refresh_from_db()
    assert (membership.role, membership.tenant_id, membership.user_id) == ("admin", own.tenant.pk, own.teacher.pk)


def test_ids_are_shown_and_not_asked_for(everywhere, own):
    for model in (Tenant, Agent):
        html = everywhere.get(page(own.rows[model])).content.decode()
        assert own.rows[model].pk in html
        assert 'name="id"' not in html
    assert everywhere.get(page(own.rows[AgentMode])).status_code == 200
