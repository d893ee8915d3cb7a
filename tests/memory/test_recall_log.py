"""Recall as a file, out and in."""

import io
import json

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import TestCase

from chat.memory.recall.entries import reindex
from chat.memory.recall.log import export, load
from chat.models import Owner, RecallEntry, RedlineRecord, SearchIndex
from chat.runs.start import Order, start_run
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

    def test_a_round_trip_changes_nothing_but_where_it_is_from(self) -> None:
        long = "一、选择题\n" + "卷积的题目，每题五分。" * 200 + "\n## 二、简答题\n答案略。"
        for said, answer in (
            ("学生电话13812345678，出一份试卷", long),
            ("C++ 指针\u2028与引用 🧠", '{"id": "x"}'),
            ("الضرب", 'a\\b"c\n\t'),
        ):
            builders.recalled(builders.run(self.thread, said, answer))
        lines = list(export(self.owner))
        assert load(self.other, lines).added == len(lines) == 4
        assert list(export(self.other)) == [line.replace(self.thread.agent.name, "") for line in lines]
        assert not RecallEntry.objects.filter(user_id=self.other.user_id).exclude(run=None, thread=None, provider=None).exists()

    def test_the_assistant_of_that_name_is_theirs(self) -> None:
        agent = builders.agent(builders.school_of(User.objects.get(pk=self.other.user_id)), name=self.thread.agent.name)
        load(self.other, list(export(self.owner)))
        assert RecallEntry.objects.get(user_id=self.other.user_id).agent == agent

    def test_an_imported_round_is_recalled(self) -> None:
        load(self.other, [self.line(title="散文", input="讲讲荷塘月色", output="朱自清的散文，暗号赤松五号。")])
        agent = builders.agent(builders.school_of(User.objects.get(pk=self.other.user_id)))
        ledger = start_run(Order(user_id=self.other.user_id, agent_id=agent.pk, input="荷塘月色讲什么")).prepared.ledger
        assert "赤松五号" in str(ledger.messages())

    def test_a_file_that_has_grown_adds_what_is_new(self) -> None:
        lines = [self.line(id=f"run_{number}") for number in range(450)]
        assert load(self.other, lines[:300]).added == 300
        done = load(self.other, [*lines, *lines[:5]])
        assert (done.added, done.known) == (150, 305)
        assert SearchIndex.objects.get(user_id=self.other.user_id).records == 450
        assert reindex(self.other)

    def test_what_is_known_already_is_not_filtered_and_recorded_again(self) -> None:
        lines = [self.line(input="电话13812345678")]
        load(self.other, lines)
        RedlineRecord.objects.all().delete()
        load(self.other, lines)
        assert not RedlineRecord.objects.exists()

    def test_odd_lines_are_read_or_refused_and_nothing_breaks(self) -> None:
        refused = ["null", "3", '"x"', "[" * 100_000, self.line(at=5), self.line(at="0001-01-01T00:00:00"), self.line(id=""), "\x00"]
        taken = [
            self.line(id="a", input="x" * 3_000_000),
            self.line(id="b", at="2024-05-06"[:10] + " 10:00"),
            self.line(id="c", extra={"more": 1}),
            self.line(id="d", title="题" * 500, keywords="要点" * 2_000),
            '{"id": "e", "at": "2024-05-06T10:00:00Z", "input": "\\ud800 半个 \\u0000"}',
        ]
        done = load(self.other, [*refused, *taken])
        assert [one.line for one in done.refused] == list(range(1, 9))
        assert done.added == len(taken)
        longest = RecallEntry.objects.get(source="a", user_id=self.other.user_id)
        assert len(longest.input) == 2_000
        assert all(len(entry.title) <= 200 and len(entry.keywords) <= 800 for entry in RecallEntry.objects.all())

    def test_another_teachers_file_does_not_touch_theirs(self) -> None:
        before = list(export(self.owner))
        load(self.other, [*before, self.line(id=self.thread.runs.get().pk, input="改掉")])
        assert list(export(self.owner)) == before

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


def test_the_command_names_each_line_that_it_refuses(db, tmp_path):
    user = builders.teacher()
    path = tmp_path / "recall_log.jsonl"
    path.write_text('\ufeff{"id": "a", "at": "2024-05-06T10:00:00Z", "input": "讲讲荷塘月色"}\nkaputt\n{"id": "b"}\n', "utf-8")
    out, err = io.StringIO(), io.StringIO()
    call_command("recall_log", "import", user.username, str(path), stdout=out, stderr=err)
    assert out.getvalue() == "1 new, 0 known, 2 refused\n"
    assert err.getvalue().splitlines() == ["Line 2: not JSON", "Line 3: `input` is empty"]


@pytest.mark.slow
def test_a_large_file_goes_in_and_out(db, tmp_path):
    user = builders.teacher()
    path, out = tmp_path / "large.jsonl", tmp_path / "out.jsonl"
    row = {"at": "2024-05-06T10:00:00Z", "title": "数列", "output": "等差数列的通项公式与求和。" * 20}
    with path.open("w") as file:
        for number in range(1_000):
            file.write(json.dumps(row | {"id": f"run_{number}", "input": f"第{number}份等差数列的练习"}) + "\n")
    call_command("recall_log", "import", user.username, str(path), stdout=io.StringIO())
    call_command("recall_log", "export", user.username, str(out))
    assert [json.loads(line)["id"] for line in out.open()] == [f"run_{number}" for number in range(1_000)]
