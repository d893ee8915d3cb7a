import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.documents.base import Limits
from chat.documents.blocks import Block
from chat.documents.passages import MOST, PATH_CHARS, passages
from chat.documents.text import read_markdown, read_plain
from chat.text.tokens import count_tokens
from tests import files

SENTENCE = "栈是一种后进先出的线性表，只允许在一端插入和删除。"


def read(text: str, reader=read_plain):
    return passages(reader(text.encode(), Limits(), lambda done, total: None).blocks)


def bare(text: str) -> str:
    return "".join(text.split())


LINES = st.one_of(
    st.text("栈队列，。：；0aA.- |#`\t　\U0001f600\u0301", max_size=80),
    st.sampled_from(
        [
            "第三章 栈",
            "一、选择题",
            "## 栈",
            "1. 什么是栈？",
            "A. 甲",
            "| a | b |",
            "|---|---|",
            "```",
            "---",
            "",
            SENTENCE * 30,
            "字" * 2000,
        ]
    ),
)


@given(st.lists(LINES, max_size=60))
@settings(max_examples=300, deadline=None)
def test_no_character_is_lost_and_no_passage_too_long(lines):
    text = "\n".join(lines)
    for reader in (read_plain, read_markdown):
        blocks = reader(text.encode(), Limits(), lambda done, total: None).blocks
        pieces = passages([Block(block.text, block.kind, block.level, after_blank=block.after_blank) for block in blocks])
        assert bare("".join(piece.text for piece in pieces)) == bare("".join(block.text for block in blocks))
        assert all(0 < len(piece.text) <= MOST and len(piece.heading) <= PATH_CHARS for piece in pieces)


def test_plain_text_is_whole_in_its_blocks():
    text = files.LECTURE + files.text_of_pages(20) + files.MARKDOWN
    for reader in (read_plain, read_markdown):
        assert bare("".join(piece.text for piece in read(text, reader))) == bare(text)


def test_passages_of_prose_have_a_length_that_a_search_likes():
    lengths = [len(piece.text) for piece in read("\n\n".join(SENTENCE * (n % 7 + 1) for n in range(200)))]
    assert all(200 <= length <= 700 for length in lengths)


def test_a_sentence_is_not_cut():
    pieces = read(SENTENCE * 200)
    assert len(pieces) > 5
    assert all(piece.text.startswith("栈是") and piece.text.endswith("删除。") for piece in pieces)


def test_headings_lead_to_the_text_below_them():
    text = f"第三章 栈与队列\n一、定义\n{SENTENCE * 12}\n二、应用\n{SENTENCE * 12}\n第四章 树\n{SENTENCE * 12}\n"
    assert [piece.heading for piece in read(text)] == ["第三章 栈与队列 > 一、定义", "第三章 栈与队列 > 二、应用", "第四章 树"]


def test_short_sections_stand_together_under_what_they_share():
    text = "# 课程\n" + "".join(f"## 第{n}节\n{SENTENCE}\n" for n in range(6))
    pieces = read(text, read_markdown)
    assert len(pieces) < 4
    assert {piece.heading for piece in pieces} == {"课程"}


def test_a_list_of_questions_stays_whole_where_it_fits():
    questions = "\n".join(f"{n}. 下列关于栈的说法正确的是（ ）\nA. 甲\nB. 乙\nC. 丙\nD. 丁" for n in range(1, 13))
    pieces = read(f"{SENTENCE * 8}\n\n{questions}\n\n{SENTENCE * 12}")
    assert questions in [piece.text for piece in pieces]


def test_a_long_list_is_cut_between_questions():
    questions = "\n".join(f"{n}. 下列关于栈的说法正确的是（ ）\nA. 甲\nB. 乙\nC. 丙\nD. 丁" for n in range(1, 100))
    assert all(piece.text[0].isdigit() and piece.text.endswith("D. 丁") for piece in read(questions))


def test_rows_of_a_long_table_stand_below_its_header():
    rows = "\n".join(f"| {n} 班 | 语文 | 第 {n} 考场 |" for n in range(200))
    header = "| 班级 | 科目 | 考场 |\n|---|---|---|"
    pieces = read(f"# 考场\n\n{header}\n{rows}\n", read_markdown)
    assert len(pieces) > 3
    assert all(header in piece.text and len(piece.text) <= MOST for piece in pieces)
    assert all(line.endswith("|") or line.startswith("#") or not line for piece in pieces for line in piece.text.split("\n"))


def test_small_sections_with_nothing_above_them_are_all_named():
    text = "# 卷头\n\n写明学校和学科。\n\n# 分值\n\n选择题每题三分。"
    assert [piece.heading for piece in read(text, read_markdown)] == ["卷头 / 分值"]


def test_comments_in_code_are_no_headings():
    [piece] = read(files.MARKDOWN.split("## 对照表")[0], read_markdown)
    assert piece.heading == "Python 入门"
    assert read("```\n# 不是标题\n```\n" + SENTENCE, read_markdown)[0].heading == ""


@pytest.mark.parametrize("text", ["😀🎉" * 2000, "龘齉爩鱻麤" * 500, "ab1" * 2000, "ئۇيغۇر تىلى " * 400, "0x7f," * 1000, "字" * 5000])
def test_a_passage_has_fewer_than_700_tokens(text):
    assert max(count_tokens(piece.text) for piece in read(text)) < 700


def test_the_path_of_headings_keeps_its_end_when_it_is_long():
    text = "\n".join(f"{'#' * level} {'长' * 70}{level}" for level in range(1, 7)) + f"\n{SENTENCE}"
    heading = read(text, read_markdown)[0].heading
    assert len(heading) <= PATH_CHARS
    assert heading.endswith("…")


@pytest.mark.parametrize("line", ["." * 300_000, "-" + " " * 300_000 + "x", "|\n" + "-|" * 150_000 + "x", "。" + "”" * 300_000 + "x"])
def test_a_line_made_to_be_slow_is_not(line):
    started = time.process_time()
    assert read(line, read_markdown)
    assert time.process_time() - started < 5
