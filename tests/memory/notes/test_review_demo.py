"""A demo school shows reviews at work, without a model."""

import pytest

from chat.jobs.worker import Worker
from chat.memory.notes.review_report import report
from chat.models import NoteOp, NoteReview, Notice, Thread, Work
from chat.providers.demo import Demo
from tests import builders
from tests.memory.notes.reviewing import note

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def quickly(monkeypatch):
    monkeypatch.setattr(Demo, "delay_seconds", 0)


def worked(*inputs: str) -> Thread:
    thread = builders.thread(builders.teacher())
    for text in inputs:
        builders.run(thread, text)
    Work.objects.mark(Work.Kind.THREAD, thread.pk)
    assert Worker("w").drain() == 0
    return thread


def test_what_lasts_is_put_forward_and_what_is_noted_already_is_not():
    thread = builders.thread(builders.teacher())
    note(thread, "我教高二物理", "user")
    for text in ["我教高二物理。出一份试卷", "以后请附上细目表\n我喜欢表格", "我喜欢简短吗？", *["换一题"] * 7]:
        builders.run(thread, text)
    Work.objects.mark(Work.Kind.THREAD, thread.pk)
    assert Worker("w").drain() == 0
    row = NoteReview.objects.get()
    assert (row.state, row.error_code, row.steps) == ("done", "", 4)
    waiting = NoteOp.objects.filter(review=row, state="staged")
    assert {(op.target, op.changes[0]["new"]) for op in waiting} == {("memory", "以后请附上细目表"), ("user", "我喜欢表格")}
    assert (report(row).applied, report(row).staged) == (0, 2)
    assert Notice.objects.get().thread == thread


def test_where_nothing_lasts_nothing_is_put_forward():
    worked(*["出一份试卷"] * 10)
    assert NoteReview.objects.get().state == "done"
    assert not NoteOp.objects.exists()
    assert not Notice.objects.exists()
