"""What is told of a review: notices as the assistant is set, and the report from the log (specs/notes_memory.md §3.2)."""

import pytest

from chat.memory.notes import files
from chat.memory.notes.review import run_review
from chat.memory.notes.review_report import report
from chat.models import NoteReview, NoteText, Notice, Preference, Run, RunLedger, Work
from tests import builders
from tests.fakes import ScriptedProvider, scripted
from tests.memory.answering import FreeLease
from tests.memory.notes.reviewing import END, LABELS, add, calls, due, note, review, talk

pytestmark = pytest.mark.django_db
STATE = NoteReview.State


@pytest.mark.parametrize(("notify", "told"), [("off", []), ("on", [False]), ("verbose", [True])])
def test_a_notice_is_made_as_the_assistant_says(notify, told):
    thread = talk(review_notify=notify)
    review(thread, calls(add("教高二物理")), END)
    assert list(Notice.objects.values_list("is_verbose", flat=True)) == told


def test_the_notice_stands_behind_the_newest_round_and_open_pages_look_again():
    thread = talk()
    row = due(thread)
    builders.run(thread, "第11问")
    with scripted(ScriptedProvider(calls(add("教高二物理")), END)):
        run_review(row.pk, FreeLease())
    row.refresh_from_db()
    notice = Notice.objects.get()
    assert (notice.after_slot, notice.code, notice.review, notice.user) == (11, "review", row, thread.user)
    assert Preference.objects.get(user=thread.user).news_at >= row.finished_at  # not only as it was proposed


def test_that_the_notes_cannot_be_written_is_told_whatever_the_setting(settings):
    settings.NOTES_STORAGE = "database"
    thread = talk(review_notify="off")
    own = {"tenant_id": thread.tenant_id, "user_id": thread.user_id, "agent_id": thread.agent_id, "target": "memory"}
    NoteText.objects.create(**own, text="长" * 5_000)
    row, _ = review(thread, calls(add("教高二物理")), END)
    assert (row.state, row.error_code) == (STATE.FAILED, "drift")
    assert list(Notice.objects.values_list("code", flat=True)) == ["notes_failed"]


def test_a_disk_that_fails_is_the_state_of_the_review_and_told(settings, tmp_path, monkeypatch):
    def full(*_arguments, **_more):
        raise OSError(28, "No space left on device")

    settings.NOTES_STORAGE, settings.DATA_DIR = "files", tmp_path
    monkeypatch.setattr(files, "_create", full)
    row, _ = review(talk(review_write="add"), calls(add("教高二物理")), END)
    assert (row.state, row.error_code) == (STATE.FAILED, "unwritable")
    assert list(Notice.objects.values_list("code", flat=True)) == ["notes_failed"]


def test_that_a_model_proposed_in_vain_is_not():
    review(talk(), *(calls(("memory_remove", {"old_text": f"没有{number}", **LABELS})) for number in range(5)), END)
    assert not Notice.objects.exists()


def test_the_report_counts_what_the_log_has_and_nothing_else():
    thread = talk(review_write="add")
    note(thread, "旧的")
    long = "以后试卷都附上双向细目表，" * 8
    script = calls(
        add("教高二物理", "user"),
        ("memory_remove", {"old_text": "旧的", "scope": "user", "durability": "durable", "authority": "descriptive"}),
    )
    row, _ = review(thread, script, calls(add(long), text="我又加了十条"), END)
    told = report(row)
    assert (told.applied, told.staged) == (2, 1)
    assert [verb for verb, _ in told.lines] == ["add", "remove", "add"]
    assert told.lines[0][1] == "教高二物理"
    assert len(told.lines[2][1]) == 80


def test_notices_are_in_no_prompt_and_wake_nobody():
    thread = talk()
    review(thread, calls(add("教高二物理")), END)
    assert not Run.objects.exclude(input__startswith="第").exists()
    assert not RunLedger.objects.exists()
    assert not Work.objects.filter(kind="thread").exists()
