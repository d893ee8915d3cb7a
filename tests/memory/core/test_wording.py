"""When two wordings are the same, look alike, or exclude each other."""

import pytest

from chat.memory.core.wording import SIMILAR_LEAST, contradicts, likeness, normal_form


@pytest.mark.parametrize(
    "other", ["老师喜欢用表格。", "  老师喜欢用表格 ", "老师喜欢用表格．", "老师 喜欢用「表格」！", "老师\u200b喜欢用表格"]
)
def test_punctuation_spaces_and_width_make_no_difference(other):
    assert normal_form(other) == normal_form("老师喜欢用表格")


@pytest.mark.parametrize(
    ("one", "other"), [("用 C++", "用 C#"), ("用 C", "用 C++"), ("每题3.5分", "每题35分"), ("第2-3章", "第23章"), ("a part", "apart")]
)
def test_signs_that_say_something_stay(one, other):
    assert normal_form(one) != normal_form(other)


@pytest.mark.parametrize("text", ["", " ", "。！", "——", "\u200b"])
def test_what_says_nothing_has_no_form(text):
    assert normal_form(text) == ""


def test_the_form_fits_its_column():
    assert len(normal_form("㍿" * 300)) == 200


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("老师喜欢用表格", "用户偏好表格形式"),
        ("I prefer tables", "The teacher prefers tables in handouts"),
        ("我教高二物理", "教高二物理两个班"),
    ],
)
def test_paraphrases_look_alike(one, other):
    assert likeness(one, other) >= SIMILAR_LEAST
    assert likeness(one, other) == likeness(other, one)


@pytest.mark.parametrize(
    ("one", "other"), [("老师喜欢用表格", "老师喜欢先讲例题"), ("我教高二", "我喜欢喝茶"), ("I like tea", "I like tables")]
)
def test_the_frame_alone_makes_nothing_alike(one, other):
    assert likeness(one, other) < SIMILAR_LEAST


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("我教高三", "我教高二"),
        ("教师教高二(3)班", "教师教高二(5)班"),
        ("老师不喜欢用表格", "老师喜欢用表格"),
        ("每份试卷出12道题", "每份试卷出10道题"),
        ("每节课45分钟", "每节课40分钟"),
        ("回答要简短", "回答要详细"),
        ("我教物理", "我教数学"),
        ("I teach grade 11", "I teach grade 10"),
        ("I do not like tables", "I like tables"),
    ],
)
def test_another_value_in_the_same_place_contradicts(new, old):
    assert contradicts(new, old)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("我教高二", "我教高二。"),
        ("我也教高三", "我教高二"),
        ("喜欢表格", "喜欢列表"),
        ("我喜欢先讲例题", "我教高二"),
        ("教材第110页", "我教高二"),
        ("我不喝茶", "我教高二"),
        ("I also teach grade 11", "I teach grade 10"),
    ],
)
def test_what_can_stand_side_by_side_does_not(new, old):
    assert not contradicts(new, old)
