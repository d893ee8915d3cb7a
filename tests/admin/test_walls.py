"""The wall between schools, and the texts of messages."""

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.core.management import call_command
from django.urls import reverse

from chat.models import (
    Agent,
    AgentMode,
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
    Provider,
    RecallEntry,
    RemoteGap,
    RemoteScope,
    RemoteSession,
    Run,
    RunLedger,
    Summary,
    Tenant,
    Thread,
    Work,
)
from chat.roles import SCHOOL_ADMINISTRATORS
from tests import builders
from tests.admin.conftest import SECRET
from tests.admin.test_pages import MODELS, adding, listing, page

NOTES = [NoteText, NoteOp, NoteReview, NoteGuard, NoteSnapshot, Notice]
REMEMBERED = [Fact, Candidate, Decision, CoreEvent, RecallEntry, Document]
SCHOOLS_OWN = [
    Tenant,
    Membership,
    Provider,
    Agent,
    AgentMode,
    Thread,
    Run,
    RunLedger,
    Summary,
    MemoryOp,
    Work,
    LayerState,
    *REMEMBERED,
    *NOTES,
    RemoteScope,
    RemoteSession,
    RemoteGap,
]
OF_NO_SCHOOL = [model for model in MODELS if model not in SCHOOLS_OWN]
WITH_TEXTS = [Thread, Run, RunLedger, Summary, Fact, Candidate, CoreEvent, RecallEntry]
WITH_TEXTS += [NoteText, NoteOp, NoteGuard, NoteSnapshot]


def rows_in(response) -> set:
    return set(response.context["cl"].queryset)


@pytest.mark.parametrize("model", SCHOOLS_OWN)
def test_a_schools_administrator_sees_that_schools_rows(model, at_school, own, foreign):
    response = at_school.get(listing(model))
    assert own.rows[model] in rows_in(response)
    assert foreign.rows[model] not in rows_in(response)
    assert foreign.tenant.name not in response.content.decode()
    assert at_school.get(page(own.rows[model])).status_code == 200


@pytest.mark.parametrize("name", ["change", "history", "delete"])
@pytest.mark.parametrize("model", SCHOOLS_OWN)
def test_a_row_of_another_school_is_like_one_that_does_not_exist(model, name, at_school, foreign):
    row = foreign.rows[model]
    known, unknown = at_school.get(page(row, name)), at_school.get(page(row, name, key="99999999"))
    assert known.status_code == unknown.status_code != 200


@pytest.mark.parametrize("model", OF_NO_SCHOOL)
def test_rows_of_no_school_are_for_superusers(model, at_school):
    assert at_school.get(listing(model)).status_code == 403


@pytest.mark.parametrize("name", ["auth_user", "auth_group"])
def test_a_superuser_edits_log_ins_and_groups(name, everywhere):
    assert everywhere.get(reverse(f"admin:{name}_changelist")).status_code == 200


@pytest.mark.parametrize("name", ["auth_user", "auth_group"])
def test_a_schools_administrator_cannot_edit_log_ins(name, at_school, administrator):
    administrator.user_permissions.add(*Permission.objects.filter(content_type__app_label="auth"))
    assert at_school.get(reverse(f"admin:{name}_changelist")).status_code == 403
    assert at_school.get(reverse(f"admin:{name}_add")).status_code == 403


def test_permissions_without_the_role_open_nothing(client, own):
    own.teacher.is_staff = True
    own.teacher.save()
    own.teacher.groups.add(Group.objects.get(name=SCHOOL_ADMINISTRATORS))
    client.force_login(own.teacher)
    assert client.get(listing(Thread)).status_code == 403


def test_the_role_without_permissions_opens_nothing(client, own):
    user = builders.teacher(own.tenant, role="admin")
    user.is_staff = True
    user.save()
    client.force_login(user)
    assert client.get(listing(Thread)).status_code == 403


def test_only_rows_of_the_school_are_offered_in_forms(at_school, own, foreign):
    fields = at_school.get(adding(Agent)).context["adminform"].form.fields
    assert set(fields["tenant"].queryset) == {own.tenant}
    assert set(fields["provider"].queryset) == {own.rows[Provider]}


def test_the_only_school_is_chosen_already(at_school, own):
    assert at_school.get(adding(Provider)).context["adminform"].form.initial["tenant"] == own.tenant.pk


def test_an_autocomplete_finds_nothing_of_another_school(at_school, foreign):
    answer = at_school.get(
        reverse("admin:autocomplete"),
        {"app_label": "chat", "model_name": "agent", "field_name": "provider", "term": foreign.rows[Provider].name},
    )
    assert foreign.rows[Provider].pk not in answer.content.decode()


@pytest.mark.parametrize("model", WITH_TEXTS)
def test_texts_of_messages_are_not_in_the_pages(model, at_school, own):
    assert SECRET not in at_school.get(listing(model)).content.decode()
    assert SECRET not in at_school.get(page(own.rows[model])).content.decode()


@pytest.mark.parametrize("model", WITH_TEXTS)
def test_with_the_permission_texts_are_shown(model, at_school, own, administrator):
    administrator.user_permissions.add(Permission.objects.get(codename="view_content"))
    html = at_school.get(page(own.rows[model])).content.decode()
    assert SECRET in html or SECRET.encode("unicode_escape").decode() in html


@pytest.mark.parametrize("model", [Thread, Run, Fact, Candidate])
def test_texts_are_searched_only_with_the_permission(model, at_school, own, administrator):
    assert rows_in(at_school.get(listing(model), {"q": SECRET})) == set()
    administrator.user_permissions.add(Permission.objects.get(codename="view_content"))
    assert rows_in(at_school.get(listing(model), {"q": SECRET})) == {own.rows[model]}


@pytest.mark.parametrize(
    ("model", "lookup"),
    [(Thread, "title__contains"), (Thread, "rolling_summary__contains"), (Run, "output__startswith"), (Run, "thread__title__contains")]
    + [(Fact, "quote__contains"), (Candidate, "text__startswith"), (CoreEvent, "after__contains"), (CoreEvent, "fact__text__contains")]
    + [(NoteText, "text__contains"), (NoteOp, "reason__contains"), (NoteOp, "changes__0__new__contains"), (NoteSnapshot, "text__contains")],
)
def test_texts_cannot_be_guessed_by_filters(model, lookup, at_school):
    assert at_school.get(listing(model), {lookup: SECRET[:2]}).status_code == 400


def test_deleting_an_assistant_in_use_names_no_text(at_school, own):
    response = at_school.get(page(own.agent, "delete"))
    assert response.status_code == 200
    assert SECRET not in response.content.decode()
    at_school.post(page(own.agent, "delete"), {"post": "yes"})
    assert Agent.objects.filter(pk=own.agent.pk).exists()


def test_the_group_is_kept_by_every_migration(db):
    group = Group.objects.get(name=SCHOOL_ADMINISTRATORS)
    extra = Permission.objects.get(codename="view_content")
    group.permissions.add(extra)
    group.permissions.remove(Permission.objects.get(codename="change_agent"))
    call_command("migrate", verbosity=0)
    codenames = set(group.permissions.values_list("codename", flat=True))
    assert {"change_agent", "view_content", "view_run"} <= codenames
    assert "change_run" not in codenames
    assert User.objects.count() == 0
