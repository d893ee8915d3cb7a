"""Days that a text names."""

from datetime import date

import pytest

from chat.text.dates import Span, named_days

TODAY = date(2024, 8, 1)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("5月6号讲的题", (2024, 5, 6), (2024, 5, 6)),
        ("五月二十一日", (2024, 5, 21), (2024, 5, 21)),
        ("十二月的试卷", (2023, 12, 1), (2023, 12, 31)),
        ("2023年2月", (2023, 2, 1), (2023, 2, 28)),
        ("2024-05-06 的教案", (2024, 5, 6), (2024, 5, 6)),
        ("on 7 May 2023", (2023, 5, 7), (2023, 5, 7)),
        ("May 6th", (2024, 5, 6), (2024, 5, 6)),
        ("in June", (2024, 6, 1), (2024, 6, 30)),
        ("昨天的试卷", (2024, 7, 31), (2024, 7, 31)),
        ("大前天", (2024, 7, 29), (2024, 7, 29)),
        ("三天前", (2024, 7, 29), (2024, 7, 29)),
        ("two weeks ago", (2024, 7, 15), (2024, 7, 21)),
        ("last week", (2024, 7, 19), (2024, 7, 29)),
    ],
)
def test_a_named_day_is_found(text, first, last):
    assert named_days(text, TODAY) == [Span(date(*first), date(*last))]


@pytest.mark.parametrize("text", ["三个月的计划", "二十一日", "we may go", "13月40日", "今天天气怎么样", "1999999月"])
def test_other_numbers_and_words_are_no_days(text):
    assert named_days(text, TODAY) == []
