"""Lines of a body that arrives in pieces."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.providers.lines import MAX_LINE_BYTES, LineSplitter, LineTooLong

PARTS = st.lists(st.sampled_from([b"a", b"\n", b"\r", "你\u2028".encode(), b"\r\n", b""]), max_size=30)


@given(PARTS, st.integers(1, 5))
def test_lines_are_the_same_however_the_body_is_cut(parts, size):
    body = b"".join(parts)
    splitter = LineSplitter()
    lines = [line for i in range(0, len(body), size) for line in splitter.feed(body[i : i + size])]
    assert [*lines, splitter.finish()] == re.split(rb"\r\n|\r|\n", body)


def test_a_line_is_handed_out_at_its_end():
    splitter = LineSplitter()
    assert splitter.feed(b"one\r") == [b"one"]
    assert splitter.feed(b"\ntwo") == []
    assert splitter.feed(b"\n") == [b"two"]


@pytest.mark.parametrize("piece", [b"x" * (MAX_LINE_BYTES + 1), b"x" * (MAX_LINE_BYTES + 1) + b"\n"])
def test_a_line_has_a_limit(piece):
    with pytest.raises(LineTooLong):
        LineSplitter().feed(piece)


def test_a_long_body_of_short_lines_has_none():
    splitter = LineSplitter()
    body = (b"x" * 1023 + b"\n") * 5_000
    assert len(body) > MAX_LINE_BYTES
    assert len(splitter.feed(body)) == 5_000
