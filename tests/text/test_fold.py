"""The folded form of a text, and the words around what is found in it."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.text.fold import BEFORE_CHARS, CUT, Piece, excerpt, fold, holds, marked, plain, words_of

TEXTS = st.text(st.one_of(st.characters(codec="utf-8"), st.sampled_from("卷积aAÅé\u0301ﬁ①İΣς가ㄱ\u11a8ｶﾞ\u3000 ")), max_size=60)


@pytest.mark.parametrize(
    ("text", "word"),
    [("Python", "PYTHON"), ("ＰＹＴＨＯＮ", "python"), ("Straße", "strasse"), ("é", "e\u0301"), ("ﬁle", "fi"), ("ガ", "ｶﾞ"), ("⼀", "一")],
)
def test_what_looks_alike_is_alike(text: str, word: str):
    assert fold(word) in fold(text)


def test_signs_stand_for_themselves():
    assert words_of("%_% C++ \\ .* [a]") == ["%_%", "c++", "\\", ".*", "[a]"]
    assert not holds(fold("100% ok_"), words_of("%_%"))


def test_every_kind_of_space_parts_words():
    assert words_of("\u3000卷积\u3000\u00a0练习\t卷积\n") == ["卷积", "练习"]
    assert words_of(" \u3000") == []


def test_excerpt_has_the_words_around_the_place():
    text = "前" * 200 + "讲卷积的练习" + "后" * 200
    pieces = excerpt(text, ["卷积"])
    assert [piece.text for piece in pieces if piece.is_hit] == ["卷积"]
    assert pieces[0] == Piece(CUT) and pieces[-1] == Piece(CUT)
    assert pieces[1].text == "前" * (BEFORE_CHARS - 1) + "讲"


def test_excerpt_shows_each_word_that_stands_far_away():
    pieces = excerpt("栈" + "中" * 500 + "队列", ["队列", "栈"])
    assert [piece.text for piece in pieces if piece.is_hit] == ["栈", "队列"]


def test_place_is_that_of_the_text_also_behind_what_folding_made_longer():
    assert Piece("卷积", is_hit=True) in marked("ﬃ½…①ßＡ卷积ﬁ", ["卷积"])
    assert Piece("ﬁ", is_hit=True) in marked("ﬃ卷ﬁ", ["i卷fi"[2:]])


@given(TEXTS, st.integers(0, 60), st.integers(1, 5))
def test_pieces_are_the_text_and_hits_hold_a_word(text: str, start: int, length: int):
    words = words_of(text[start : start + length])
    pieces = marked(text, words)
    assert "".join(piece.text for piece in pieces) == text
    assert all(any(word in fold(piece.text) for word in words) for piece in pieces if piece.is_hit)


@given(TEXTS)
def test_folding_twice_changes_nothing(text: str):
    assert fold(fold(text)) == fold(text)
    assert unicodedata.is_normalized("NFKC", fold(text))


@pytest.mark.parametrize(
    ("text", "word", "shown"),
    [
        ("先看图。\n## 一、**卷积**核\n> 见 `conv.py`", "卷积", "先看图。\n一、卷积核\n见 conv.py"),
        ("| 层 | 大小 |\n|---|---|\n| 卷积 | 3 |", "卷积", "| 层 | 大小 |\n\n| 卷积 | 3 |"),
        ("## 卷积核\n先看图。", "图", "卷积核\n先看图。"),
        ("在 C# 里 2**3 怎么写", "C", "在 C# 里 2**3 怎么写"),
        ("## 的意思", "##", "## 的意思"),
    ],
)
def test_answers_are_shown_without_signs_of_markdown(text, word, shown):
    assert "".join(piece.text for piece in plain(excerpt(text, words_of(word)))) == shown
