"""Ledgers after what they tell of was erased."""

import pytest

from chat.memory.base import Segment
from chat.memory.ledger import ERASED, Ledger, blank, to_row
from chat.models import Run, RunLedger
from tests import builders

pytestmark = pytest.mark.django_db


def ledger_of(run: Run, *segments: Segment) -> None:
    to_row(run.pk, Ledger(list(segments), 1_000)).save()


def core(*facts: str) -> Segment:
    names = {"青竹": "fact_a", "青竹甲": "fact_ab", "赤松": "fact_b"}
    lines = ["[核心记忆 — 资料]", *(f"- {fact}" for fact in facts), "[核心记忆结束]"]
    return Segment("core", "user", "\n".join(lines), 9, 99, 1, source_ids=[names[fact] for fact in facts])


def texts(run: Run) -> list[str]:
    return [segment["text"] for segment in RunLedger.objects.get(pk=run.pk).segments]


@pytest.fixture
def run() -> Run:
    return builders.run(builders.thread(builders.teacher()))


def test_only_the_line_of_an_erased_fact_goes(run):
    ledger_of(run, core("青竹", "赤松"))
    assert blank(run.user_id, ["fact_a"]) == 1
    assert texts(run) == [f"[核心记忆 — 资料]\n{ERASED}\n- 赤松\n[核心记忆结束]"]
    assert RunLedger.objects.get().segments[0]["source_ids"] == ["fact_a", "fact_b"]


def test_other_segments_lose_their_whole_text(run):
    ledger_of(run, Segment("recall", "user", "白桦与黑檀", 9, 99, 4, source_ids=["run_a", "run_b"]), core("赤松"))
    blank(run.user_id, ["run_b"])
    assert texts(run)[0] == ERASED
    assert "赤松" in texts(run)[1]


def test_blanking_twice_changes_nothing_more(run):
    ledger_of(run, core("青竹"))
    blank(run.user_id, ["fact_a"])
    assert blank(run.user_id, ["fact_a"]) == 0


def test_ledgers_of_other_teachers_stay(run):
    ledger_of(run, core("青竹"))
    assert blank(run.user_id + 1, ["fact_a"]) == 0
    assert "青竹" in texts(run)[0]


def test_an_id_that_only_begins_the_same_is_another_one(run):
    ledger_of(run, core("青竹甲"))
    assert blank(run.user_id, ["fact_a"]) == 0
