"""`compile_threats` writes what the threat scan reads, and only when it must."""

import pytest
from django.core.management import call_command

from chat.management.commands import compile_threats
from chat.text.threat_index import index_of, unsealed
from chat.text.threats import patterns


@pytest.fixture
def file(tmp_path, monkeypatch):
    path = tmp_path / "threats.idx"
    monkeypatch.setattr(compile_threats, "INDEX_FILE", path)
    return path


def test_the_index_is_written_and_left_alone_while_it_is_that_of_the_rules(file, capsys):
    call_command("compile_threats")
    assert unsealed(file.read_bytes(), patterns()) == index_of(patterns())
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    assert "compiled" in capsys.readouterr().out
    first = file.stat()
    call_command("compile_threats")
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (first.st_ino, first.st_mtime_ns)
    assert "is as it should be" in capsys.readouterr().out


def test_a_stale_or_broken_index_is_replaced(file):
    file.write_bytes(b"broken")
    call_command("compile_threats", verbosity=0)
    assert unsealed(file.read_bytes(), patterns()) is not None
