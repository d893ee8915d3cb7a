"""Core memory as a file, out and in."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from chat.memory.core import decide
from chat.memory.core.portable import BYTES_MOST, BadFile, Refused, as_text, export, import_file
from chat.models import Candidate, Fact, RedlineRecord, Tenant
from tests import builders

pytestmark = pytest.mark.django_db
OLD = datetime(2026, 9, 1, 8, tzinfo=UTC)


@pytest.fixture
def teacher() -> User:
    return builders.teacher()


@pytest.fixture
def school(teacher) -> Tenant:
    return builders.school_of(teacher)


def file_of(*candidates: object, **fields: object) -> bytes:
    return json.dumps({"format": "core-memory", "version": 1, "candidates": candidates} | fields, ensure_ascii=False).encode()


def test_everything_but_the_deleted_goes_out_for_people_to_read(teacher, school):
    agent = builders.agent(school, name="命题助手")
    builders.fact(teacher, "我教高二", kind="teaching", quote="我教高二。", created_at=OLD, agent=agent)
    builders.fact(teacher, "旧的", status="archived")
    builders.fact(teacher, "", normal="删掉的", status="deleted")
    builders.candidate(teacher, "喜欢表格")
    builders.candidate(teacher, "拒绝的", status="rejected")
    text = as_text(export(teacher, school.pk))
    found = json.loads(text)
    assert [(fact["text"], fact["status"]) for fact in found["facts"]] == [("我教高二", "confirmed"), ("旧的", "archived")]
    assert [(one["text"], one["status"]) for one in found["candidates"]] == [("喜欢表格", "pending"), ("拒绝的", "rejected")]
    fact = found["facts"][0]
    assert (fact["assistant"], fact["quote"], fact["created_at"]) == ("命题助手", "我教高二。", "2026-09-01T08:00:00.000Z")
    assert (found["version"], "我教高二" in text, "删掉的" in text) == (1, True, False)


def test_nothing_of_others_goes_out(teacher, school):
    builders.fact(builders.teacher(school), "别人的")
    other = builders.tenant()
    other.memberships.create(user=teacher, role="teacher")
    builders.fact(teacher, "别的学校", decision=builders.decision(teacher, school=other))
    assert export(teacher, school.pk)["facts"] == []


def test_what_goes_out_comes_in_as_waiting_with_its_age(teacher, school):
    agent = builders.agent(school, name="命题助手")
    builders.fact(teacher, "我教高二", created_at=OLD, agent=agent, kind="teaching", quote="我教高二。", is_pinned=True)
    data = as_text(export(teacher, school.pk)).encode()
    colleague = builders.teacher(school)
    assert import_file(colleague, school.pk, data).waiting == 1
    found = Candidate.objects.get(user=colleague)
    assert (found.text, found.status, found.origin, found.created_at, found.agent) == ("我教高二", "pending", "import", OLD, agent)
    assert (found.kind, found.quote) == ("teaching", "我教高二。")
    assert not Fact.objects.filter(user=colleague).exists()


def test_the_same_file_twice_changes_nothing(teacher, school):
    data = file_of({"text": "喜欢表格"}, {"text": "喜欢表格。"})
    first, second = import_file(teacher, school.pk, data), import_file(teacher, school.pk, data)
    assert (first.waiting, first.known, second.waiting, second.known) == (1, 1, 0, 2)
    assert Candidate.objects.count() == 1


def test_what_was_rejected_or_deleted_does_not_come_back(teacher, school):
    builders.candidate(teacher, "拒绝的", status="rejected")
    decide.delete(teacher, [builders.fact(teacher, "删掉的").pk])
    found = import_file(teacher, school.pk, file_of({"text": "拒绝的。"}, {"text": "删掉的", "status": "confirmed"}))
    assert (found.waiting, found.known) == (0, 2)


def test_bad_items_are_named_and_the_others_come_in(teacher, school):
    items = [
        {"text": "喜欢表格"},
        "喜欢例题",
        {"text": "。"},
        {"text": "长" * 201},
        {"text": "甲", "kind": "secret"},
        {"text": "乙", "created_at": "gestern"},
        {"text": "丙", "created_at": (timezone.now() + timedelta(days=9)).isoformat()},
        {"text": "丁", "assistant": "没有的助手"},
        {"text": "小明数学考了45分"},
        {"text": "证件 110101190003070010"},
    ]
    found = import_file(teacher, school.pk, file_of(*items))
    reasons = ["not_an_object", "no_text", "too_long", "bad_kind", "bad_date", "bad_date", "unknown_agent", "stopped", "stopped"]
    assert found.waiting == 1
    assert [one.reason for one in found.refused] == reasons
    assert [one.place for one in found.refused] == [f"candidates {i}" for i in range(2, 11)]
    assert all(one.rules for one in found.refused if one.reason == "stopped")
    assert RedlineRecord.objects.filter(source_id="import").count() == 2
    assert isinstance(found.refused[0], Refused)


@pytest.mark.parametrize(
    ("data", "code", "line"),
    [
        (b"x" * (BYTES_MOST + 1), "too_large", 0),
        (b'{\n"a": "\xff"}', "not_text", 2),
        (b'{\n\n"format": }', "not_json", 3),
        (b"[" * 100_000, "not_json", 0),
        (b"[]", "not_ours", 0),
        (file_of(format="other"), "not_ours", 0),
        (file_of(version=True), "not_ours", 0),
        (file_of(facts={}), "not_ours", 0),
        (file_of(version=2), "newer_version", 0),
        (file_of(*[{"text": "甲"}] * 5_001), "too_many", 0),
    ],
)
def test_a_file_that_is_none_says_why_and_changes_nothing(teacher, school, data, code, line):
    with pytest.raises(BadFile) as caught:
        import_file(teacher, school.pk, data)
    assert (caught.value.code, caught.value.at) == (code, line)
    assert not Candidate.objects.exists()
