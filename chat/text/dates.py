"""Days that a text names: "5月6号", "上周三", "on 7 May", "three days ago", "last week"."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final


@dataclass(frozen=True, slots=True)
class Span:
    """Days from `first` to `last`, both included."""

    first: date
    last: date


_MONTH_NAMES: Final = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MONTHS: Final = {name[:length]: i for i, name in enumerate(_MONTH_NAMES, start=1) for length in (3, 4, len(name))}
_MONTH: Final = r"(?P<month>{})\.?".format("|".join(sorted(_MONTHS, key=len, reverse=True)))
_DAY: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)"
_HAN: Final = "〇零一二两三四五六七八九十"
_HAN_NUMBER: Final = rf"\d{{1,2}}|[{_HAN}]{{1,3}}"

# The first pattern that takes a stretch of the text has it; days stand before months, so that "5月6号" is no May.
_NAMED: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_YEAR}[-/.](?P<month>\d{{1,2}})[-/.](?P<day>\d{{1,2}})(?!\d)",
        rf"(?:{_YEAR}\s*年\s*)?(?P<month>{_HAN_NUMBER})\s*月\s*(?P<day>{_HAN_NUMBER})\s*[日号號]",
        rf"\b{_MONTH}\s+{_DAY}\b(?:,?\s+{_YEAR}\b)?",
        rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}(?![a-z])(?:,?\s+{_YEAR}\b)?",
        rf"{_YEAR}\s*年\s*(?P<month>{_HAN_NUMBER})\s*月",
        rf"(?<![\d{_HAN}个個])(?P<month>{_HAN_NUMBER})\s*月(?:份|初|底|中)?(?![\d{_HAN}])",
        rf"\b(?:in|of|during|since|this|last|early|mid|late)\s+{_MONTH}(?![a-z])(?:,?\s+{_YEAR}\b)?",
        rf"\b{_MONTH},?\s+{_YEAR}\b",
    )
)
# Words for days before the day of asking: from how many days back to how many.
_RELATIVE: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), most, least)
    for pattern, most, least in (
        (r"昨天|昨日|昨晚|\byesterday\b|\blast night\b", 1, 1),
        (r"(?<!大)前天|\bthe day before yesterday\b", 2, 2),
        (r"大前天", 3, 3),
        (r"这几天|最近几天|前几天|\b(?:the )?(?:last|past) few days\b|\bthe other day\b", 7, 0),
        (r"上上周|上上个?(?:星期|礼拜)|\bthe week before last\b", 20, 10),
        (r"(?<!上)上周|(?<!上)上个?(?:星期|礼拜)|\blast week\b", 13, 3),
        (r"这周|本周|这个?(?:星期|礼拜)|\bthis week\b", 7, 0),
        (r"上个?月|\blast month\b", 60, 15),
        (r"这个月|本月|\bthis month\b", 31, 0),
    )
)
_WORDS: Final = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10}
_AGO: Final = re.compile(rf"(?P<n>\d{{1,3}}|[{_HAN}]{{1,3}})\s*(?P<unit>天|日|个?星期|周)(?:之|以)?前", re.IGNORECASE)
_AGO_EN: Final = re.compile(rf"\b(?P<n>\d{{1,3}}|{'|'.join(_WORDS)})\s+(?P<unit>days?|weeks?)\s+ago\b", re.IGNORECASE)


def named_days(text: str, today: date) -> list[Span]:
    """The days that `text`, written on `today`, names; a day or month without a year is the last one that has begun."""
    return [*_absolute(text, today), *_before(text, today)]


def _absolute(text: str, today: date) -> Iterator[Span]:
    taken: list[tuple[int, int]] = []
    for pattern in _NAMED:
        for match in pattern.finditer(text):
            if any(start < match.end() and match.start() < end for start, end in taken):
                continue
            taken.append(match.span())
            found = match.groupdict()
            span = _span(found.get("year"), _number(found["month"]), _number(found["day"]) if found.get("day") else 0, today)
            if span:
                yield span


def _span(year: str | None, month: int, day: int, today: date) -> Span | None:
    try:
        first = date(int(year) if year else today.year, month, day or 1)
        if not year and first > today:
            first = first.replace(year=first.year - 1)
    except ValueError:
        return None
    if day:
        return Span(first, first)
    following = (first + timedelta(days=31)).replace(day=1)
    return Span(first, following - timedelta(days=1))


def _before(text: str, today: date) -> Iterator[Span]:
    for pattern, most, least in _RELATIVE:
        if pattern.search(text):
            yield Span(today - timedelta(days=most), today - timedelta(days=least))
    for pattern in (_AGO, _AGO_EN):
        for match in pattern.finditer(text):
            number, is_day = _number(match["n"].casefold()), match["unit"].casefold().startswith(("天", "日", "day"))
            back = timedelta(days=number if is_day else 7 * number)
            slack = timedelta(days=0 if is_day else 3)
            yield Span(today - back - slack, today - back + slack)


def _number(word: str) -> int:
    """A month's name, digits, or a Chinese numeral below a hundred."""
    lowered = word.casefold()
    if lowered.isdecimal():
        return int(lowered)
    if lowered in _MONTHS or lowered in _WORDS:
        return _MONTHS.get(lowered) or _WORDS[lowered]
    tens, has_ten, ones = word.rpartition("十")
    value = 0
    for digit in ones:
        value = value * 10 + "零一二三四五六七八九".find(digit.replace("〇", "零").replace("两", "二"))
    return value + (10 * (_number(tens) if tens else 1) if has_ten else 0)
