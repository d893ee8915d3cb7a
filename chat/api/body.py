"""The strict reading of a JSON body: what is not exactly as described is refused with the field's name."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import gettext as _

from chat.api.errors import BodyTooLarge, InvalidBody, InvalidField

NAME_SHOWN_CHARS = 40  # of a field that nobody knows


def read_object(request: HttpRequest, *, may_be_empty: bool = False) -> dict[str, Any]:
    """The object in the body. Raises InvalidBody; an empty body is {} where `may_be_empty`."""
    limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    # One byte more than allowed shows that there is more, whatever Content-Length says or does not say.
    raw = request.read(limit + 1)
    if len(raw) > limit:
        raise BodyTooLarge(_("At most %(limit)d bytes are read.") % {"limit": limit})
    if not raw and may_be_empty:
        return {}
    charset = (request.content_params or {}).get("charset", "utf-8")
    if request.content_type != "application/json" or charset.lower() != "utf-8":
        raise InvalidBody(_("Must be sent as application/json in UTF-8."))
    return _parse(raw)


def _parse(raw: bytes) -> dict[str, Any]:
    try:
        value = json.loads(raw.decode(), object_pairs_hook=_without_duplicates, parse_constant=_no_constant)
    except (ValueError, RecursionError):  # not UTF-8, not JSON, a number of 5,000 digits, nested 100,000 deep
        raise InvalidBody(_("Is not valid JSON.")) from None
    if not isinstance(value, dict):
        raise InvalidBody(_("Must be a JSON object."))
    return value


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("A name stands twice in one object.")
    return values


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON.")


def check_names(values: Mapping[str, Any], known: Iterable[str], within: str = "") -> None:
    """Raises InvalidField for the first name that is not known."""
    allowed = sorted(known)
    for name in values:
        if name not in allowed:
            shown = ascii(name[:NAME_SHOWN_CHARS])[1:-1]
            problem = _("Unknown field; these are known: %(names)s.") % {"names": ", ".join(allowed)} if allowed else _("Unknown field.")
            raise InvalidField(f"{within}{shown}", problem)


def is_storable(value: str) -> bool:
    """Whether a database keeps the text as it is: no NUL, no half of a surrogate pair."""
    return "\x00" not in value and not any("\ud800" <= char <= "\udfff" for char in value)


def text(values: Mapping[str, Any], name: str, *, field: str = "") -> str:
    """The text under `name`. Raises InvalidField when it is missing, no text, or cannot be stored."""
    label = field or name
    if name not in values:
        raise InvalidField(label, _("Is required."))
    value = values[name]
    if not isinstance(value, str):
        raise InvalidField(label, _("Must be text."))
    if not is_storable(value):
        raise InvalidField(label, _("Holds characters that cannot be stored (NUL or half of a surrogate pair)."))
    return value


def optional_text(values: Mapping[str, Any], name: str, *, field: str = "") -> str | None:
    """The text under `name`; None when it is absent or null."""
    return None if values.get(name) is None else text(values, name, field=field)


def optional_flag(values: Mapping[str, Any], name: str) -> bool | None:
    """The boolean under `name`; None when it is absent."""
    if name not in values:
        return None
    value = values[name]
    if not isinstance(value, bool):
        raise InvalidField(name, _("Must be true or false."))
    return value


def optional_ids(values: Mapping[str, Any], name: str) -> list[str]:
    """The list of ids under `name`; empty when it is absent."""
    value = values.get(name, [])
    if not isinstance(value, list) or not all(isinstance(one, str) and is_storable(one) for one in value):
        raise InvalidField(name, _("Must be a list of ids."))
    return value
