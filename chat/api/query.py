"""Values of the query string: limit, cursor, search text. Names that nobody knows are ignored."""

import base64
import binascii
from datetime import UTC, datetime, timedelta

from django.http import HttpRequest
from django.utils.translation import gettext as _

from chat.api.body import is_storable
from chat.api.errors import InvalidField

LIMIT_DEFAULT = 50
LIMIT_MAX = 100
SEARCH_MAX_CHARS = 200  # as long as a title
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def limit_of(request: HttpRequest) -> int:
    """How many rows the caller wants on a page."""
    raw = request.GET.get("limit")
    if raw is None:
        return LIMIT_DEFAULT
    if not (raw.isascii() and raw.isdigit() and len(raw) <= 4 and 1 <= int(raw) <= LIMIT_MAX):
        raise InvalidField("limit", _("Must be a whole number from 1 to %(most)d.") % {"most": LIMIT_MAX})
    return int(raw)


def choice_of(request: HttpRequest, name: str, choices: tuple[str, ...]) -> str:
    """One of `choices`; the first one when the caller says nothing."""
    raw = request.GET.get(name)
    if raw is not None and raw not in choices:
        raise InvalidField(name, _("Must be one of %(choices)s.") % {"choices": ", ".join(choices)})
    return raw or choices[0]


def search_of(request: HttpRequest) -> str:
    """The words to look for in titles and messages; "" for everything."""
    raw = request.GET.get("q", "")
    if len(raw) > SEARCH_MAX_CHARS or not is_storable(raw):
        raise InvalidField("q", _("Must be text of at most %(most)d characters.") % {"most": SEARCH_MAX_CHARS})
    return raw


def encode_cursor(*parts: int | str) -> str:
    """A mark of the last row of a page; callers hand it back as it is."""
    return base64.urlsafe_b64encode(":".join(str(part) for part in parts).encode()).decode().rstrip("=")


def slot_cursor_of(request: HttpRequest) -> int | None:
    """The slot of the last run of the page before."""
    parts = _cursor_parts(request, 1)
    return None if parts is None else _number(parts[0])


def time_cursor_of(request: HttpRequest) -> tuple[datetime, str] | None:
    """Time and id of the last thread of the page before."""
    parts = _cursor_parts(request, 2)
    if parts is None:
        return None
    try:
        return _EPOCH + _number(parts[0]) * _MICROSECOND, parts[1]
    except OverflowError:
        raise _wrong_cursor() from None


def microseconds(at: datetime) -> int:
    """The time as whole microseconds, exactly."""
    return (at - _EPOCH) // _MICROSECOND


def _cursor_parts(request: HttpRequest, count: int) -> list[str] | None:
    raw = request.GET.get("cursor")
    if raw is None:
        return None
    try:
        decoded = base64.b64decode(raw.encode("ascii") + b"=" * (-len(raw) % 4), altchars=b"-_", validate=True).decode("ascii")
    except (binascii.Error, UnicodeError):
        raise _wrong_cursor() from None
    parts = decoded.split(":")
    if len(parts) != count or not all(is_storable(part) for part in parts):
        raise _wrong_cursor()
    return parts


def _number(raw: str) -> int:
    # Eighteen digits fit into the 64 bits of every database.
    if not (raw.isdigit() and len(raw) <= 18):
        raise _wrong_cursor()
    return int(raw)


def _wrong_cursor() -> InvalidField:
    return InvalidField("cursor", _("Is not a cursor that this path has given."))
