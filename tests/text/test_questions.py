"""Which texts ask several things at once."""

import pytest

from chat.text.questions import several


@pytest.mark.parametrize(
    ("text", "questions"),
    [
        ("光合作用的条件是什么？另外勾股定理怎么证明？", ["光合作用的条件是什么？", "另外勾股定理怎么证明？"]),
        (
            "What are the stages of photosynthesis? And how is the theorem of Pythagoras proved?",
            ["What are the stages of photosynthesis?", "And how is the theorem of Pythagoras proved?"],
        ),
    ],
)
def test_questions_with_a_topic_each_are_asked_by_themselves(text, questions):
    assert several(text) == questions


@pytest.mark.parametrize(
    "text",
    [
        "",
        "光合作用的条件是什么？",
        "光合作用的条件是什么？可以吗？",
        "我在备一节课，内容是光合作用。学生基础一般，光合作用的条件是什么？",
        "下列说法正确的是哪一项？" * 3 + "光合作用的条件是什么？勾股定理怎么证明？",
    ],
)
def test_any_other_text_is_asked_as_a_whole(text):
    assert several(text) == []
