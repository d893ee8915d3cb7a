"""Sensitive words are in no store but the transcript, also in pieces: quotes, reasons, titles, other conversations, exports."""

import json

import pytest
from django.apps import apps

from chat.memory.core import decide
from chat.memory.core.portable import as_text, export, import_file
from chat.models import Candidate, Run, Thread
from chat.runs.start import Order, start_run
from tests import builders
from tests.conftest import shared_folder
from tests.memory.core.talking import answer, learn, pending, said, thread

pytestmark = pytest.mark.django_db

TRANSCRIPT = ("Run", "RunLedger", "SearchText")


def corpus() -> list[str]:
    folder = shared_folder()
    if folder is None:
        pytest.skip("needs the lines of the shared folder (SHARED_DIR)")
    rows = map(json.loads, (folder / "specs" / "redlines.jsonl").read_text().splitlines())
    return [row["text"] for row in rows if row["sensitive"]]


def stored(*but: str) -> str:
    """Every row of our tables but those of these models."""
    models = [model for model in apps.get_app_config("chat").get_models() if model.__name__ not in but]
    return "\n".join(str(list(model._base_manager.values())) for model in models)


@pytest.mark.parametrize(
    ("words", "quote", "piece"),
    [
        ("我教高二物理，家长电话 13812345678，请记住", "我教高二物理，家长电话 1381234567", "1381234567"),
        ("我教高二物理，证件 11010119900307109X 已交", "1010119900307109X 已交", "199003071"),
        ("我教高二物理 卡号 6222020200112233 请登记", "我教高二物理 卡号 622202020011", "622202020011"),
    ],
)
def test_nothing_that_is_learnt_cuts_a_number_in_two(words, quote, piece):
    talk = thread()
    said(talk, words, answer("老师教高二物理", quote=quote, reason=quote))
    said(talk, words, answer(f"老师记下{piece}", quote=words))
    assert pending(talk.user) == ["老师教高二物理"]
    assert piece not in stored(*TRANSCRIPT)


def test_lines_about_people_are_in_no_quote_reason_title_or_export():
    lines = corpus()
    talk = thread()
    for line in lines:
        said(talk, f"我教高二物理。{line}", answer("老师教高二物理", quote=line, reason=line))
        learn(talk, answer(line, quote=line))
    for line in lines[:20]:
        start_run(Order(user_id=talk.user_id, agent_id=talk.agent_id, input=line))
    decide.confirm(talk.user, list(Candidate.objects.values_list("pk", flat=True)))
    kept = stored(*TRANSCRIPT) + as_text(export(talk.user, talk.tenant_id))
    assert [line for line in lines if line in kept] == []


def test_what_was_stopped_is_in_no_other_conversation():
    talk = thread()
    said(talk, "我教高二物理，学生甲患有哮喘，身份证11010119900307109X", answer("老师教高二物理", "学生甲患有哮喘"))
    decide.confirm(talk.user, list(Candidate.objects.values_list("pk", flat=True)))
    started = start_run(Order(user_id=talk.user_id, agent_id=talk.agent_id, input="学生有哪些病？身份证是多少？"))
    ledger = Run.objects.get(pk=started.run_id).ledger
    assert "老师教高二物理" in str(ledger.segments)
    assert "哮喘" not in str(ledger.segments) and "19900307" not in str(ledger.segments)
    assert "哮喘" not in str(list(Thread.objects.values()))


def test_an_imported_quote_and_reason_pass_the_filter():
    teacher = builders.teacher()
    item = {"text": "老师教高二物理", "kind": "teaching", "quote": "学生甲患有哮喘", "reason": "电话13812345678"}
    data = json.dumps({"format": "core-memory", "version": 1, "facts": [item]}).encode()
    import_file(teacher, builders.school_of(teacher).pk, data)
    assert pending(teacher) == ["老师教高二物理"]
    assert "哮喘" not in stored() and "138123" not in stored()
