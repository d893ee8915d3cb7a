"""The command that measures the filter for sensitive text."""

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.conftest import shared_folder

LINES = (
    {"text": "小明期末数学45分", "sensitive": True, "kind": "score"},
    {"text": "每题5分，共100分", "sensitive": False, "kind": "score"},
    {"text": "Call my dad on 13900000008.", "sensitive": True, "kind": "phone"},
    {"text": "喜欢先讲例题", "sensitive": True, "kind": "odd"},
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "lines.jsonl"
    path.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in LINES) + "\n\n")
    return path


def said(*arguments: object) -> str:
    out = io.StringIO()
    call_command("redlines", "check", *map(str, arguments), stdout=out)
    return out.getvalue()


def test_the_numbers_are_printed_by_kind_and_language(file):
    printed = said(file)
    assert "2/3 (66.7%)" in printed.splitlines()[-1]
    assert any(line.split()[:3] == ["score", "zh", "1/1"] for line in printed.splitlines())
    assert any(line.split()[:3] == ["phone", "en", "1/1"] for line in printed.splitlines())
    assert "例题" not in printed


def test_the_numbers_as_json(file):
    found = json.loads(said(file, "--json"))
    assert (found["sensitive"], found["harmless"]) == ({"stopped": 2, "total": 3}, {"stopped": 0, "total": 1})
    assert found["kinds"]["phone"]["en"]["sensitive"] == {"stopped": 1, "total": 1}


def test_what_was_judged_wrongly_can_be_seen(file):
    assert "missed  odd  喜欢先讲例题" in said(file, "--misses")
    assert json.loads(said(file, "--json", "--misses"))["misses"] == [{"kind": "odd", "text": "喜欢先讲例题", "sensitive": True}]


@pytest.mark.parametrize("line", ["{", "[]", '{"text": 1, "sensitive": true}', '{"text": "a"}'])
def test_a_bad_line_is_named(tmp_path, line):
    path = tmp_path / "lines.jsonl"
    path.write_text(f"\n{line}\n")
    with pytest.raises(CommandError, match="line 2"):
        said(path)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(CommandError, match="gone"):
        said(tmp_path / "gone.jsonl")


@pytest.mark.mock
def test_the_corpus_is_within_its_targets():
    folder = shared_folder()
    if folder is None:
        pytest.skip("needs the corpora beside the repository (SHARED_DIR)")
    found = json.loads(said(folder / "specs" / "redlines.jsonl", "--json"))
    assert found["sensitive"]["stopped"] >= 0.98 * found["sensitive"]["total"]
    assert found["harmless"]["stopped"] <= 0.01 * found["harmless"]["total"]
