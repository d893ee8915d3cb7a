"""Filters for times and durations, in the page's language and the user's time zone, and for texts in Markdown."""

import math
from datetime import datetime, timedelta

from django import template
from django.template.defaultfilters import date as date_text
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.text.markdown import SafeHtml, render

register = template.Library()


@register.filter
def seconds(value: float | None) -> str:
    """A duration: “0.8 s”, “12 s”, “2 min 5 s”; a dash for nothing."""
    if value is None:
        return "–"
    if round(value, 1) < 10:
        return _("%(seconds)s s") % {"seconds": f"{value:.1f}"}
    whole = round(value)
    if whole < 60:
        return _("%(seconds)s s") % {"seconds": whole}
    return _("%(minutes)d min %(seconds)d s") % {"minutes": whole // 60, "seconds": whole % 60}


@register.filter
def minutes(value: timedelta) -> int:
    """Whole minutes, rounded up."""
    return math.ceil(value.total_seconds() / 60)


@register.filter
def time_from_now(value: timedelta) -> str:
    """The time of day when the duration will be over; the minute after, so that waiting until then is enough."""
    return date_text(timezone.localtime(timezone.now() + value + timedelta(minutes=1)), "H:i")


@register.filter
def moment(value: datetime) -> str:
    """Day and time as short as they are clear: “today 14:05”, “yesterday 9:30”, “3 Nov 14:05”, “2 May 2025”."""
    local, days = timezone.localtime(value), _days_ago(value)
    if days == 0:
        return _("today %(time)s") % {"time": date_text(local, "H:i")}
    if days == 1:
        return _("yesterday %(time)s") % {"time": date_text(local, "H:i")}
    if local.year == timezone.localtime().year:
        # Translators: day and time within this year, in the notation of Django's date filter.
        return date_text(local, _("j M H:i"))
    # Translators: a day of another year, in the notation of Django's date filter.
    return date_text(local, _("j M Y"))


def _days_ago(value: datetime) -> int:
    """Midnights between the moment and now, as the user's clock counts them."""
    return (timezone.localtime().date() - timezone.localtime(value).date()).days


@register.filter
def from_markdown(value: str) -> SafeHtml:
    return render(value)
