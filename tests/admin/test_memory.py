"""What an administrator may and may not do with memory: the school's switch, red lines in numbers, nothing confirmed."""

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse

from chat.memory.switches import off_by
from chat.models import Candidate, Decision, Fact, Owner, Preference, RedlineRecord
from tests.admin.conftest import SECRET
from tests.admin.test_pages import REMEMBERED, adding, listing, page

COUNTS = "/admin/chat/redlinerecord/counts/"
SENSITIVE = "李雷爸爸的电话是15900000003"


def test_the_schools_administrator_switches_memory_off_for_the_school(at_school, own, foreign):
    at_school.post(page(own.tenant), {"name": own.tenant.name})
    assert off_by(Owner(own.tenant.pk, own.teacher.pk)) == "school"
    assert off_by(Owner(foreign.tenant.pk, foreign.teacher.pk)) == ""
    assert Preference.objects.get(user=own.teacher).news_at is not None
    at_school.post(page(own.tenant), {"name": own.tenant.name, "has_memory": "on"})
    assert off_by(Owner(own.tenant.pk, own.teacher.pk)) == ""


def test_another_change_of_the_school_rings_at_nobodys_page(at_school, own):
    at_school.post(page(own.tenant), {"name": "新名字", "has_memory": "on"})
    assert Preference.objects.get(user=own.teacher).news_at is None


@pytest.mark.parametrize("model", REMEMBERED)
def test_nothing_of_memory_is_made_or_changed_here(model, everywhere, own):
    """With every permission there is: what is confirmed is confirmed by its owner."""
    before = list(model.objects.values())
    row = own.rows[model]
    fields = {"status": "confirmed", "verb": "confirm", "text": "改掉", "decision": own.rows[Decision].pk, "_save": "1"}
    for address in (adding(model), page(row), page(row, "delete"), listing(model)):
        everywhere.post(address, fields | {"post": "yes", "action": "delete_selected", "_selected_action": [row.pk]})
    assert list(model.objects.values()) == before


def test_a_waiting_candidate_stays_waiting_whatever_is_sent(everywhere, own):
    candidate = own.rows[Candidate]
    everywhere.post(listing(Candidate), {f"form-0-{name}": value for name, value in {"id": candidate.pk, "status": "confirmed"}.items()})
    candidate.refresh_from_db()
    assert candidate.status == "pending"
    assert Fact.objects.count() == 1


def test_red_lines_are_counted_for_the_school_alone(at_school, own, foreign):
    RedlineRecord.objects.create(tenant=own.tenant, user=own.teacher, layer="title", kind="score", rule="mark of somebody")
    RedlineRecord.objects.create(tenant=foreign.tenant, user=foreign.teacher, layer="title", kind="rank", rule="rank of somebody")
    response = at_school.get(COUNTS)
    found = {(row["kind"], row["rule"], row["layer"], row["count"]) for row in response.context["rows"]}
    assert found == {("phone", "mobile number", "core", 1), ("score", "mark of somebody", "title", 1)}
    assert foreign.tenant.name not in response.content.decode()


def test_no_excerpt_and_no_teacher_is_shown_even_to_those_who_may_read_texts(at_school, everywhere, own, administrator):
    administrator.user_permissions.add(Permission.objects.get(codename="view_content"))
    at_school.force_login(administrator)
    html = at_school.get(COUNTS).content.decode()
    assert SECRET not in html and own.teacher.username not in html


def test_an_excerpt_is_for_its_owner_only(everywhere, own):
    record = own.rows[RedlineRecord]
    for address in (page(record), listing(RedlineRecord), COUNTS):
        assert SECRET not in everywhere.get(address).content.decode()


def test_sentences_are_tried_and_nothing_is_stored(at_school, own, caplog):
    before = list(RedlineRecord.objects.values())
    response = at_school.post(COUNTS, {"text": SENSITIVE})
    tried = response.context["tried"]
    assert [hit["kind"] for hit in tried.hits] == ["phone"]
    assert "(涉及联系方式，略)" in tried.redacted
    assert list(RedlineRecord.objects.values()) == before
    assert "15900000003" not in caplog.text


def test_a_harmless_sentence_passes(at_school):
    assert at_school.post(COUNTS, {"text": "每题5分，共100分"}).context["tried"].hits == []


def test_the_page_is_for_administrators_only(client, own):
    own.teacher.is_staff = True
    own.teacher.save()
    own.teacher.user_permissions.add(Permission.objects.get(codename="view_redlinerecord"))
    client.force_login(own.teacher)
    assert client.get(COUNTS).status_code == 403
    assert client.post(COUNTS, {"text": SENSITIVE}).status_code == 403


def test_the_index_leads_there(at_school):
    assert reverse("admin:chat_redlinerecord_counts") in at_school.get(reverse("admin:index")).content.decode()


def test_red_lines_are_named_in_the_reader_s_language(at_school, own):
    words = {"en": ("mobile number", "a telephone number", "core memory"), "zh-hans": ("手机号码", "电话号码", "核心记忆")}
    for language, expected in words.items():
        html = at_school.get(COUNTS, headers={"Accept-Language": language}).content.decode()
        assert all(f"<td>{one}</td>" in html for one in expected), language
    tried = at_school.post(COUNTS, {"text": SENSITIVE}, headers={"Accept-Language": "zh-hans"}).content.decode()
    assert "手机号码 ·" in tried
