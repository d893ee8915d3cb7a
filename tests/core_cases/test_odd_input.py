"""Words and numbers that no database, no float and no parser expects, on every way into core memory."""

from urllib.parse import quote

import pytest

from chat.memory.core import decide
from chat.memory.core.portable import BadFile, import_file
from chat.models import Candidate, Fact, LayerState
from tests import builders
from tests.memory.core.talking import learn, pending, said, thread

pytestmark = pytest.mark.django_db


@pytest.fixture
def teacher():
    return builders.teacher()


@pytest.fixture
def page(client, teacher):
    client.force_login(teacher)
    return client


def items(*found: str) -> str:
    """A model's answer, as raw JSON."""
    return "[" + ", ".join(found) + "]"


GOOD = '{"fact": "老师喜欢用表格", "confidence": 0.9}'


@pytest.mark.parametrize(
    "bad",
    [
        '{"fact": "👍👍"}',
        '{"fact": "……"}',
        '{"fact": "老师喜欢讲解", "confidence": 1' + "0" * 400 + "}",
        '{"fact": "老师喜欢\\ud83d讲解", "confidence": 0.9}',
        '{"fact": "老师喜欢\\u0000讲解", "confidence": 0.9}',
        '{"fact": "老师喜欢讲解", "reason": "\\ud83d\\u0000"}',
        '{"fact": "老师喜欢讲解", "quote": "我喜欢\\ud83d讲解"}',
    ],
)
def test_an_odd_item_of_the_models_answer_does_not_hold_the_others(bad):
    talk = thread()
    said(talk, "我喜欢用表格，也喜欢讲解。", items(bad, GOOD))
    assert LayerState.objects.get(layer="core").upto_slot == 1
    assert "老师喜欢用表格" in pending(talk.user)
    stored = "".join(str(row) for row in Candidate.objects.values())
    assert not any("\ud800" <= char <= "\udfff" or char == "\0" for char in stored)


def in_file(item: str) -> bytes:
    return f'{{"format": "core-memory", "version": 1, "candidates": [{item}, {{"text": "老师教高二", "kind": "profile"}}]}}'.encode()


@pytest.mark.parametrize(
    "item",
    [
        '{"text": "喜欢\\u0000表格", "kind": "profile"}',
        '{"text": "喜欢\\ud83d表格", "kind": "profile"}',
        '{"text": "喜欢表格", "kind": "profile", "quote": "\\ud83d", "reason": "\\u0000"}',
        '{"text": "喜欢表格", "kind": "profile", "confidence": 1' + "0" * 400 + "}",
        '{"text": "喜欢表格", "kind": ["profile"], "assistant": "\\u0000"}',
        '{"text": "喜欢表格", "kind": "profile", "created_at": "0001-01-01T00:00:00+23:59"}',
    ],
)
def test_an_odd_item_of_a_file_does_not_hold_the_others(teacher, item):
    import_file(teacher, builders.school_of(teacher).pk, in_file(item))
    assert "老师教高二" in pending(teacher)
    assert all("\0" not in one and "\ud83d" not in one for one in pending(teacher))


def test_a_number_without_end_in_a_file_is_no_json(teacher):
    with pytest.raises(BadFile):
        import_file(teacher, builders.school_of(teacher).pk, in_file('{"text": "喜欢表格", "confidence": ' + "9" * 5_000 + "}"))


@pytest.mark.parametrize("text", ["我\0教高二", "我教高二\ud83d"])
def test_what_no_database_can_hold_is_left_out_of_typed_words(teacher, text):
    [confirmed] = decide.confirm(teacher, [builders.candidate(teacher, "我教高三").pk], text=text)
    added = decide.add(teacher, builders.school_of(teacher).pk, f"{text}语文")
    edited = decide.edit(teacher, added.fact_id, f"{text}物理")
    assert (confirmed.outcome, added.outcome, edited.outcome) == ("done", "done", "done")
    assert all("\0" not in one and "\ud83d" not in one for one in Fact.objects.values_list("text", flat=True))


@pytest.mark.parametrize("field", ["scope", "kind", "accepted", "back", "in"])
def test_odd_values_in_the_form_for_new_memories_are_answered(page, field):
    response = page.post("/memory/add/", {"text": "我教高二", field: "x\0y"})
    assert response.status_code in (303, 422)


@pytest.mark.parametrize("field", ["replaces", "scope", "accepted", "back"])
def test_odd_values_in_the_form_of_a_candidate_are_answered(page, teacher, field):
    row = builders.candidate(teacher, "我教高二")
    response = page.post(f"/memory/candidates/{row.pk}/", {"verb": "replace", field: "x\0y"})
    assert response.status_code in (303, 422)


ODD_PLACES = [
    "[" * 3_000,
    '[0, 0.5, "2026-01-01T00:00:00Z", "\\ud800"]',
    "[NaN, 1e999, null, {}]",
    '[0, 0.5, "2026-01-01T00:00:00+99:99", "x"]',
]


@pytest.mark.parametrize("place", ODD_PLACES)
def test_an_odd_place_in_a_list_is_its_start(page, teacher, place):
    builders.candidate(teacher, "我教高二")
    assert "我教高二" in page.get(f"/memory/?after={quote(place)}").content.decode()
    assert page.get(f"/memory/?list=rejected&after={quote(place)}").status_code == 200


def test_a_wording_of_two_hundred_signs_is_kept_and_one_more_is_not(teacher):
    school = builders.school_of(teacher).pk
    assert decide.add(teacher, school, "👩‍🏫课" * 50).outcome == "done"
    assert decide.add(teacher, school, "教" * 201).outcome == "too_long"
    assert decide.add(teacher, school, "\ufdfa" * 200).outcome == "done"  # grows when it is normalised


def test_html_stays_text(page, teacher):
    builders.candidate(teacher, "<img src=x onerror=alert(1)>喜欢表格", quote="<b>我</b>", reason="<script>1</script>")
    builders.fact(teacher, "<script>alert(2)</script>教高二")
    for address in ("/memory/", "/memory/drawer/"):
        body = page.get(address).content.decode()
        assert "<img src=x" not in body and "<script>1" not in body and "<script>alert" not in body and "<b>我" not in body


def test_an_answer_that_is_never_usable_is_asked_for_three_times_only():
    talk = thread()
    builders.run(talk, "我喜欢用表格")
    asked = []
    for _ in range(6):
        LayerState.objects.update(retry_at=None)
        asked += learn(talk, "{坏").asked
    assert len(asked) == 3
    assert LayerState.objects.get(layer="core").upto_slot == 1


def test_a_fault_with_an_answer_costs_three_calls_and_not_one_for_ever(monkeypatch):
    def fails(*_: object) -> None:
        raise ZeroDivisionError

    talk = thread()
    builders.run(talk, "我喜欢用表格")
    monkeypatch.setattr("chat.memory.core.extract.grounded", fails)
    asked = []
    for _ in range(6):
        LayerState.objects.update(retry_at=None)
        asked += learn(talk, items(GOOD)).asked
    assert len(asked) == 3
    assert LayerState.objects.get(layer="core").upto_slot == 1
