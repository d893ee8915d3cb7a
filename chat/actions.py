"""Actions: what a page may ask for over its socket, checked (RUNTIME 7)."""

import json
import re
from dataclasses import dataclass
from typing import Any

from chat.transcript import Seen

_NAME = re.compile(r"[A-Za-z0-9_-]{0,100}")
SEEN_MAX = 1_000


class BadAction(Exception):
    """The frame is no action of ours. `key` is that of the message it was about, if it could be read."""

    def __init__(self, key: str = "") -> None:
        super().__init__("bad_frame")
        self.key = key


@dataclass(frozen=True, slots=True)
class Send:
    """A message for the thread. `replaces` is the run that is tried again."""

    key: str
    input: str
    mode: str
    replaces: str


@dataclass(frozen=True, slots=True)
class Stop:
    run_id: str


@dataclass(frozen=True, slots=True)
class Sync:
    """The page has joined, or has lost its place, and says what it shows."""

    seen: Seen


def parse(text: str | None) -> Send | Stop | Sync:
    """Reads a frame; raises BadAction."""
    try:
        data = json.loads(text or "")
    except (ValueError, RecursionError):
        raise BadAction from None
    if not isinstance(data, dict):
        raise BadAction
    action = data.get("action")
    if action == "send":
        key = _name(data, "key", "")
        message = data.get("input")
        if not key or not isinstance(message, str):
            raise BadAction(key)
        return Send(key, message, _name(data, "mode", key), _name(data, "replaces", key))
    if action == "stop":
        return Stop(_name(data, "run", ""))
    if action == "sync":
        finished = _names(data["shown"]) if "shown" in data else None
        return Sync(Seen(_slot(data, "first"), _slot(data, "after"), _names(data.get("open", [])), finished))
    raise BadAction


def _name(data: dict[str, Any], field: str, key: str) -> str:
    value = data.get(field, "")
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise BadAction(key)
    return value


def _names(value: Any) -> list[str]:  # noqa: ANN401  anything that JSON can hold
    is_list = isinstance(value, list) and len(value) <= SEEN_MAX
    if not is_list or not all(isinstance(one, str) and _NAME.fullmatch(one) for one in value):
        raise BadAction
    return list(value)


def _slot(data: dict[str, Any], field: str) -> int:
    value = data.get(field, 0)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**31:
        raise BadAction
    return value
