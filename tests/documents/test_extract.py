import os
import time
from pathlib import Path

import pytest

from chat.documents import DocumentError, Limits, extract
from chat.documents.base import FORMATS
from chat.documents.formats import READERS
from tests import files

PROCESSES = Path("/proc")


def code_of(name: str, data: bytes, limits: Limits) -> str:
    with pytest.raises(DocumentError) as refused:
        extract(name, data, limits)
    return refused.value.code


def test_every_format_has_a_reader():
    assert set(READERS) == set(FORMATS)


@pytest.mark.parametrize(
    ("name", "make", "limits", "code"),
    [
        ("a.txt", files.long_text, Limits(size=1000), "too_large"),
        ("a.txt", files.long_text, Limits(characters=1000), "too_much_text"),
        ("a.docx", files.docx_with_tables, Limits(characters=10), "too_much_text"),
        ("a.pdf", files.long_pdf, Limits(characters=1000), "too_much_text"),
        ("a.pdf", files.pdf_in_chinese, Limits(pages=2), "too_many_pages"),
        ("a.pdf", files.long_pdf, Limits(seconds=0.01), "too_slow"),
    ],
)
def test_a_limit_is_named(name, make, limits, code):
    assert code_of(name, make(), limits) == code


def test_many_pages_are_refused_before_they_are_read():
    data = files.pdf_of_10_000_pages()
    started = time.process_time()
    assert code_of("a.pdf", data, Limits(seconds=20)) == "too_many_pages"
    assert time.process_time() - started < 5


def test_a_file_that_takes_more_memory_than_it_may_is_broken():
    data = files.docx_of("<w:p/>" * 2_500_000, packed=False)  # packed it were a bomb
    assert code_of("a.docx", data, Limits(memory=256 * 1024 * 1024)) == "broken"


def test_what_progress_raises_ends_the_reading():
    def progress(done: int, total: int) -> None:
        raise KeyError("deleted meanwhile")

    with pytest.raises(KeyError):
        extract("a.pdf", files.pdf_in_chinese(), progress=progress)


@pytest.mark.skipif(not PROCESSES.is_dir(), reason="This system does not show the environment of a process.")
def test_the_process_that_reads_knows_no_keys(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    seen: list[bytes] = []
    extract("a.pdf", files.pdf_in_chinese(), progress=lambda done, total: seen.extend(environments_of_children()))
    assert any(b"PATH=" in one for one in seen)
    assert not any(b"sk-secret" in one for one in seen)


def environments_of_children() -> list[bytes]:
    found = []
    for status in PROCESSES.glob("[0-9]*/stat"):
        try:
            if int(status.read_text().rpartition(")")[2].split()[1]) == os.getpid():
                found.append((status.parent / "environ").read_bytes())
        except OSError:
            continue  # it has ended
    return found
