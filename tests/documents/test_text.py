import pytest

from chat.documents import DocumentError, Limits, extract
from chat.documents.decode import decode
from chat.documents.text import read_markdown, read_plain
from tests import files


def headings(text: str, reader=read_markdown):
    blocks = reader(text.encode(), Limits(), lambda done, total: None).blocks
    return [(block.level, block.text) for block in blocks if block.kind == "heading"]


@pytest.mark.parametrize("encoding", ["gb18030", "big5", "utf-8", "utf-16"])
@pytest.mark.parametrize("text", ["堆疊是後進先出的", "「品德」與生活", "天地人"])
def test_a_short_traditional_text_is_read_in_each_encoding(text, encoding):
    assert decode(text.encode(encoding))[0] == text


def test_a_scratch_does_not_change_the_encoding():
    for encoding in ("utf-8", "gb18030"):
        data = files.LECTURE.encode(encoding)
        text, name = decode(data[:40] + b"\xff" + data[40:])
        assert name == encoding
        assert "循环队列为什么要空出一个单元" in text


@pytest.mark.parametrize(
    "data", ["Café à Noël, déjà vu".encode("latin-1"), "Привет, мир".encode("cp1251"), "こんにちは".encode("shift-jis")]
)
def test_other_encodings_are_refused(data):
    with pytest.raises(DocumentError) as refused:
        decode(data)
    assert refused.value.code == "unknown_encoding"


def test_control_characters_and_odd_line_ends_are_gone():
    text, _ = decode("甲\x00乙\x07\r\n丙\r丁\u2028戊\ufeff \t\n".encode())
    assert text == "甲乙\n丙\n丁\n戊\n"


def test_a_program_is_no_text_whatever_it_begins_with():
    with pytest.raises(DocumentError) as refused:
        extract("a.txt", bytes(range(256)) * 10)
    assert refused.value.code == "not_what_it_says"


def test_a_line_of_a_megabyte_is_read():
    pieces = extract("a.txt", ("一" * 400_000).encode()).pieces
    assert sum(len(piece.text) for piece in pieces) == 400_000


def test_markdown_headings_of_both_kinds():
    assert headings("# 甲\n\n乙\n---\n\n```\n# 码\n```\n### 丙 ###\n") == [(1, "# 甲"), (2, "乙"), (3, "### 丙 ###")]


def test_front_matter_and_rules_are_no_headings():
    assert headings("---\ntitle: 甲\n---\n正文\n\n---\n\n正文\n") == []


def test_chinese_headings_of_plain_text():
    text = "第一章 绪论\n一、背景\n（一）起因\n1. 什么是栈？\n正文在第一章之后，\n目录 ...... 12\n第二章 栈 …… 15\n# 不是标题\n"
    assert [line for _, line in headings(text, read_plain)] == ["第一章 绪论", "一、背景", "（一）起因"]
