"""Titles are short, on one line, and hold nothing sensitive."""

import pytest

from chat.models import Owner, RedlineRecord, Thread
from chat.runs.start import Order, start_run
from chat.runs.title import title_of
from tests import builders

pytestmark = pytest.mark.django_db
PHONE = "15900000003"


@pytest.fixture
def owner() -> Owner:
    user = builders.teacher()
    return Owner(builders.school_of(user).pk, user.pk)


def test_first_words_on_one_line(owner):
    assert title_of("  出一份\n数据结构  试卷 ", 40, owner, "th_a") == "出一份 数据结构 试卷"
    assert title_of("题" * 100, 40, owner, "th_a") == "题" * 40
    assert not RedlineRecord.objects.exists()


def test_sensitive_place_becomes_a_placeholder_and_leaves_a_record(owner):
    title = title_of(f"家长电话 {PHONE}，帮我写通知", 40, owner, "th_a")
    assert PHONE not in title and "(涉及联系方式，略)" in title and "写通知" in title
    kept = RedlineRecord.objects.get()
    assert (kept.layer, kept.kind, kept.source_id) == ("title", "phone", "th_a")


def test_number_that_reaches_over_the_end_is_not_shown_in_part(owner):
    title = title_of("请" * 34 + f"，{PHONE}是家长电话", 40, owner, "th_a")
    assert "159" not in title
    assert "(" not in title


def test_what_stands_behind_the_title_leaves_no_record(owner):
    title_of("请" * 60 + f"家长电话 {PHONE}", 40, owner, "th_a")
    assert not RedlineRecord.objects.exists()


def test_without_a_thread_nothing_is_recorded(owner):
    assert PHONE not in title_of(f"家长电话 {PHONE}", 40, owner, "")
    assert not RedlineRecord.objects.exists()


def test_new_thread_gets_a_clean_title_and_keeps_the_message_as_written():
    teacher = builders.teacher()
    agent = builders.agent(builders.school_of(teacher))
    start_run(Order(user_id=teacher.pk, agent_id=agent.pk, input=f"家长电话 {PHONE}"))
    thread = Thread.objects.get()
    assert PHONE not in thread.title
    assert thread.runs.get().input == f"家长电话 {PHONE}"
    assert RedlineRecord.objects.get().source_id == thread.pk


def test_rename_is_cleaned_too(client):
    thread = builders.thread(builders.teacher())
    client.force_login(thread.user)
    client.post(f"/chat/t/{thread.pk}/rename/", {"title": f"家长电话 {PHONE}"})
    thread.refresh_from_db()
    assert thread.title == "家长电话 (涉及联系方式，略)"
