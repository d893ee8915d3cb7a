"""Recall as a file, out and in."""

import io
import json

from django.core.management import CommandError, call_command
from django.test import TestCase

from chat.memory.recall.log import export, load
from chat.models import Owner, RecallEntry, SearchIndex
from tests import builders


class RecallLog(TestCase):
    def setUp(self) -> None:
        self.user = builders.teacher()
        self.owner = Owner(builders.school_of(self.user).pk, self.user.pk)
        self.thread = builders.thread(self.user)
        builders.recalled(builders.run(self.thread, "出一份卷积的练习", "一、选择题"))
        other = builders.teacher()
        self.other = Owner(builders.school_of(other).pk, other.pk)

    def line(self, **fields: object) -> str:
        return json.dumps({"id": "run_1", "at": "2024-05-06T10:00:00+08:00", "input": "讲讲荷塘月色"} | fields, ensure_ascii=False)

    def test_what_goes_out_comes_in_elsewhere_once(self) -> None:
        lines = [line.replace(self.thread.runs.get().pk, "run_elsewhere") for line in export(self.owner)]
        first, again = load(self.other, lines), load(self.other, [*lines, self.line()])
        assert (first.added, again.added, again.known) == (1, 1, 1)
        assert SearchIndex.objects.get(user_id=self.other.user_id).records == 2

    def test_a_run_of_this_database_is_left_to_the_worker(self) -> None:
        assert load(self.owner, list(export(self.owner))).known == 1
        RecallEntry.objects.all().delete()
        assert load(self.owner, [self.line(id=self.thread.runs.get().pk)]).added == 0

    def test_what_comes_in_passes_the_filter(self) -> None:
        load(self.other, [self.line(output="电话13812345678", title="身份证110101190003070010")])
        entry = RecallEntry.objects.get(user_id=self.other.user_id)
        assert "13812345678" not in entry.head
        assert "110101190003070010" not in entry.title

    def test_lines_that_make_no_sense_are_named(self) -> None:
        lines = ["{", "[]", self.line(input=""), self.line(at="gestern"), self.line(id="x" * 41), self.line(title=3), "", self.line()]
        done = load(self.other, lines)
        assert (done.added, [one.line for one in done.refused]) == (1, [1, 2, 3, 4, 5, 6])
        assert done.refused[3].reason == "`at` is not a time (ISO 8601)"

    def test_the_commands(self) -> None:
        out = io.StringIO()
        call_command("reindex", stdout=out)
        assert out.getvalue().startswith("1 indexes built, 0 differed\n")
        with self.assertRaises(CommandError):
            call_command("recall_log", "export", "nobody")


def test_files_are_written_and_read(db, tmp_path):
    user = builders.teacher()
    builders.recalled(builders.run(builders.thread(user), "出一份卷积的练习"))
    path = tmp_path / "recall_log.jsonl"
    call_command("recall_log", "export", user.username, str(path))
    out = io.StringIO()
    call_command("recall_log", "import", user.username, str(path), stdout=out)
    assert out.getvalue() == "0 new, 1 known, 0 refused\n"
