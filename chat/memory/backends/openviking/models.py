"""What the server answers, in shapes of our own: read strictly where something hangs on it, and never handed on as it came.

Each `of` takes the `result` of an answer and raises `Unreadable` when it is none that the supported version gives.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Final, Literal, Self, get_args
from urllib.parse import unquote

from chat.memory.backends.openviking.scope import Identity

TaskStatus = Literal["pending", "running", "cancelling", "completed", "failed", "cancelled"]
STATUSES: Final[tuple[TaskStatus, ...]] = get_args(TaskStatus)
# The server's notes on the assistant that it imagines; nothing about the teacher, and never searchable.
PERSONA: Final = frozenset({"identity", "soul"})
OTHER_CATEGORY: Final = "memory"
_TASK_ID: Final = re.compile(r"[\w-]{1,80}", re.ASCII)
_DAY: Final = re.compile(r"^events/(\d{4})/(\d{1,2})/(\d{1,2})/", re.ASCII)
_CATEGORY: Final = re.compile(r"[a-z][a-z_]{0,39}")


class Unreadable(ValueError):
    """An answer that cannot be what it should be."""


@dataclass(frozen=True, slots=True)
class ServerHealth:
    """How the server says that it is, and whom it takes us for. Both names are "" when it tells no identity."""

    version: str
    auth_mode: str
    account: str
    user: str

    @classmethod
    def of(cls, answer: object) -> Self:
        told = _object(answer)
        if told.get("status") != "ok" or told.get("healthy") is not True:
            raise Unreadable
        return cls(*(_word(told.get(name)) for name in ("version", "auth_mode", "account_id", "user_id")))


@dataclass(frozen=True, slots=True)
class Session:
    """How many messages a session has ever been given, and whose it is."""

    total: int
    account: str
    user: str

    @classmethod
    def of(cls, result: object) -> Self:
        told = _object(result)
        whose = _object(told.get("user"))
        return cls(_count(told.get("total_message_count")), _word(whose.get("account_id")), _word(whose.get("user_id")))


def check_added(result: object, count: int) -> None:
    """Raises Unreadable for what is no word that so many messages were added: then it is not known what became of them."""
    if _object(result).get("added") != count:
        raise Unreadable


@dataclass(frozen=True, slots=True)
class Commit:
    """`task_id` is "" when there was nothing to commit."""

    is_accepted: bool
    task_id: str = ""
    archive_uri: str = ""

    @classmethod
    def of(cls, result: object) -> Self:
        told = _object(result)
        if told.get("status") == "skipped":
            return cls(is_accepted=False)
        task_id = _task_id(told.get("task_id"))
        if told.get("status") != "accepted" or not task_id:
            raise Unreadable
        return cls(True, task_id, _word(told.get("archive_uri")))


@dataclass(frozen=True, slots=True)
class Task:
    task_id: str
    status: TaskStatus
    updated_at: float
    remembered: int

    @classmethod
    def of(cls, result: object) -> Self:
        told = _object(result)
        status = next((one for one in STATUSES if one == told.get("status")), None)
        task_id, updated = _task_id(told.get("task_id")), told.get("updated_at")
        if status is None or not task_id:
            raise Unreadable
        written = told["result"].get("memories_extracted") if isinstance(told.get("result"), Mapping) else None
        numbers = [value for value in written.values() if _is_count(value)] if isinstance(written, Mapping) else []
        at = float(updated) if isinstance(updated, int | float) and math.isfinite(updated) else 0.0
        return cls(task_id, status, at, sum(numbers))

    @property
    def is_active(self) -> bool:
        return self.status in ("pending", "running", "cancelling")


@dataclass(frozen=True, slots=True)
class Hit:
    """Something found. `category` is OpenViking's kind of memory."""

    uri: str
    score: float
    text: str
    category: str


def hits_of(result: object) -> list[object]:
    """The hits of a search, unread."""
    return _list(_object(result).get("memories"))


def hit_of(told: object) -> Hit | None:
    """A hit that is a memory with an address and a text; None for summaries of folders and for what makes no sense."""
    if not isinstance(told, Mapping) or told.get("context_type", "memory") != "memory" or told.get("level", 2) != 2:
        return None
    uri, score = told.get("uri"), told.get("score")
    texts = [told.get(name) for name in ("content", "abstract")]
    text = next((text for text in texts if isinstance(text, str) and text.strip()), "")
    if not isinstance(uri, str) or not text or isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
        return None
    return Hit(uri, min(1.0, max(0.0, float(score))), text, _category(told.get("tags"), uri))


def uri_of(told: object) -> str:
    """The address of a hit or a session, "" when it tells none."""
    uri = told.get("uri") if isinstance(told, Mapping) else None
    return uri if isinstance(uri, str) else ""


def tasks_of(result: object) -> list[Task]:
    return [Task.of(one) for one in _list(result)]


def files_of(result: object) -> list[str]:
    """The files of a listing, without its folders."""
    return [uri_of(one) for one in _list(result) if uri_of(one) and one.get("isDir") is False]


def session_ids_of(result: object, identity: Identity) -> tuple[list[str], int]:
    """The sessions of a user by id, and how many of the list were somebody else's or none."""
    told = _list(result)
    ids = [one["session_id"] for one in told if is_below(uri_of(one), identity.sessions) and _word(one.get("session_id"))]
    return ids, len(told) - len(ids)


def is_below(uri: str, folder: str) -> bool:
    """Whether an address lies in a folder, however it is written."""
    parts = unquote(uri).replace("\\", "/").removeprefix(folder).split("/")
    return uri.startswith(f"{folder}/") and not {"", ".", ".."} & set(parts[1:])


def category_of(uri: str) -> str:
    """The kind of a memory by where it lies: `…/memories/preferences/…` or `…/memories/profile.md`."""
    first = uri.partition("/memories/")[2].partition("/")[0].removesuffix(".md")
    return first if _CATEGORY.fullmatch(first) else OTHER_CATEGORY


def day_of(uri: str) -> date | None:
    """The day of an event by where it lies: `…/memories/events/2026/11/30/….md`; None for other memories."""
    told = _DAY.search(uri.partition("/memories/")[2])
    try:
        return date(*map(int, told.groups())) if told else None
    except ValueError:
        return None


def is_memory_file(uri: str) -> bool:
    """Whether an address of a listing is a memory: no folder, no summary of a folder, no note about the assistant."""
    name = uri.rpartition("/")[2]
    return name.endswith(".md") and not name.startswith(".") and category_of(uri) not in PERSONA


def _category(tags: object, uri: str) -> str:
    told = (
        [tag.partition("=")[2] for tag in tags if isinstance(tag, str) and tag.startswith("memory_type=")] if isinstance(tags, list) else []
    )
    return told[0] if told and _CATEGORY.fullmatch(told[0]) else category_of(uri)


def _object(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise Unreadable
    return value


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise Unreadable
    return value


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise Unreadable
    return value


def _task_id(value: object) -> str:
    return value if isinstance(value, str) and _TASK_ID.fullmatch(value) else ""


def _word(value: object, most: int = 400) -> str:
    return value if isinstance(value, str) and len(value) <= most and value.isprintable() else ""
