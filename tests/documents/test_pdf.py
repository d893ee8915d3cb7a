from chat.documents import extract
from tests import files


def text_of(data: bytes) -> str:
    return "\n".join(piece.text for piece in extract("a.pdf", data).pieces)


def test_lines_become_a_paragraph_and_a_hyphenated_word_one_word():
    assert text_of(files.pdf_in_english()) == (
        "A stack is a collection of elements with two principal operations. "
        "Its order is last in, first out, and an example is a pile of plates."
    )


def test_lines_that_were_drawn_from_the_bottom_are_read_from_the_top():
    assert text_of(files.pdf_out_of_order()).split() == ["先看题目。", "再画图。", "然后列式。", "最后检查。", "写上单位。"]


def test_the_left_column_is_read_first():
    text = text_of(files.pdf_in_columns())
    places = [text.index(f"{side}栏第{line}行") for side in "左右" for line in range(1, 9)]
    assert places == sorted(places)


def test_the_foot_of_a_page_is_said_once():
    assert text_of(files.pdf_in_chinese(5)).count("数据结构讲义") == 1


def test_what_is_on_two_pages_may_be_said_twice():
    assert text_of(files.pdf_in_chinese(2)).count("数据结构讲义") == 2


def test_a_number_at_the_foot_that_is_not_of_the_page_is_kept():
    text = text_of(files.score_sheets())
    assert [f"得分：{score}" in text for score in (91, 78, 85, 64)] == [True] * 4
