"""Times and durations in words."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone, translation

from chat.templatetags import format as words


@pytest.fixture(autouse=True)
def english():
    with translation.override("en"):
        yield


@pytest.mark.parametrize(
    ("value", "text"), [(None, "–"), (0.84, "0.8 s"), (9.96, "10 s"), (12.4, "12 s"), (59.6, "1 min 0 s"), (125, "2 min 5 s")]
)
def test_durations_are_said_in_the_largest_fitting_unit(value, text):
    assert words.seconds(value) == text


def test_minutes_are_rounded_up():
    assert words.minutes(timedelta(minutes=14, seconds=1)) == 15


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        ((2026, 3, 5, 6, 5), "today 14:05"),
        ((2026, 3, 4, 15, 59), "yesterday 23:59"),
        ((2026, 3, 4, 16, 0), "today 00:00"),
        ((2026, 1, 2, 3, 0), "2 Jan 11:00"),
        ((2025, 5, 2, 3, 0), "2 May 2025"),
    ],
)
def test_moments_are_told_by_the_clock_of_the_user(monkeypatch, moment, text):
    monkeypatch.setattr(timezone, "now", lambda: datetime(2026, 3, 5, 12, 0, tzinfo=UTC))
    with timezone.override(ZoneInfo("Asia/Shanghai")):
        assert words.moment(datetime(*moment, tzinfo=UTC)) == text


def test_moments_in_chinese_have_chinese_dates():
    with translation.override("zh-hans"), timezone.override(ZoneInfo("Asia/Shanghai")):
        assert words.moment(datetime(2020, 5, 2, tzinfo=UTC)) == "2020年5月2日"
