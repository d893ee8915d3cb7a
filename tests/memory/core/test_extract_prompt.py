"""Answers of models, tidy and untidy."""

import json

import pytest

from chat.memory.core.extract_prompt import ITEMS_MOST, read
from chat.memory.model import Unusable
from chat.providers.base import Answer

ITEM = {"fact": "教师教高二", "kind": "teaching", "confidence": 0.8, "quote": "我教高二", "reason": "长期"}
LIST = json.dumps([ITEM], ensure_ascii=False)


def facts(text: str) -> list[str]:
    return [item.fact for item in read(Answer(text=text))]


@pytest.mark.parametrize(
    "text",
    [
        "NONE",
        "None.",
        "无",
        "没有值得记住的内容。",
        "[]",
        "```json\n[]\n```",
        "<think>想</think>NONE",
        "NONE\n（没有偏好）",
        '{"candidates": []}',
    ],
)
def test_nothing_is_said_in_many_ways(text):
    assert facts(text) == []


@pytest.mark.parametrize(
    "text",
    [
        LIST,
        f"```json\n{LIST}\n```",
        f"<think>他说[我教高二]，{{于是}}……</think>\n{LIST}",
        f"想了想。</think>{LIST}",
        f"好的，找到一条：\n{LIST}\n希望有帮助。",
        json.dumps({"candidates": [ITEM]}),
        json.dumps(ITEM),
        json.dumps(["教师教高二"]),
        "- 教师教高二",
        "1. 「教师教高二」",
        "教师教高二",
    ],
)
def test_the_item_is_found_whatever_stands_around_it(text):
    assert facts(text) == ["教师教高二"]


def test_one_bad_item_drops_that_item_alone():
    items = [ITEM, {"kind": "profile"}, {"fact": 3}, {"fact": ""}, None, 7, ITEM | {"fact": "教师喜欢表格"}]
    assert facts(json.dumps(items)) == ["教师教高二", "教师喜欢表格"]


def test_of_a_broken_list_what_can_be_read_is_taken():
    assert facts('[{"fact": "甲"}, {"fact": "乙", "confidence": }, {"fact": "丙"}') == ["甲", "丙"]


def test_objects_without_a_list_are_taken_one_by_one():
    assert facts('{"fact": "甲"}\n{"fact": "乙"}') == ["甲", "乙"]


@pytest.mark.parametrize(
    ("written", "confidence"),
    [
        ("0.7", 0.7),
        ("null", 0.5),
        ("NaN", 0.5),
        ("Infinity", 0.5),
        ('"0.7"', 0.7),
        ('"70%"', 0.7),
        ("70", 0.7),
        ('"high"', 0.9),
        ("-3", 0.0),
        ("true", 0.5),
        ("[]", 0.5),
    ],
)
def test_confidence_is_a_number_whatever_was_written(written, confidence):
    [item] = read(Answer(text=f'[{{"fact": "甲", "confidence": {written}}}]'))
    assert item.confidence == pytest.approx(confidence)


def test_unknown_kinds_are_about_the_teacher():
    [item] = read(Answer(text='[{"fact": "甲", "kind": "secret"}]'))
    assert item.kind == "profile"


@pytest.mark.parametrize("text", ['[{"fact": 无法解析', "抱歉，我\n不能完成。", '{"a": {'])
def test_what_is_neither_is_not_usable(text):
    with pytest.raises(Unusable):
        read(Answer(text=text))


def test_an_endless_list_is_bounded():
    assert len(facts(json.dumps([{"fact": f"第{i}条"} for i in range(500)]))) == ITEMS_MOST
