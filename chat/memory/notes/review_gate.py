"""Which of a review's proposals are let through to the checks that every write has (specs/notes_memory.md §3.2 Scope gate).

Refused are, each by itself: what does not say that it is about the teacher, lasting, and a statement; what mentions a
topic that the teacher does not want remembered; what already waits; and what the teacher has turned down or taken back.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from chat.memory.notes.base import Place
from chat.memory.notes.review_tools import LABELS
from chat.models import NoteOp, Preference
from chat.text.fold import fold

TOPICS_MOST: Final = 50
OPS_READ: Final = 300  # of a store, newest first
_NOT_WANTED: Final = (NoteOp.State.REJECTED, NoteOp.State.UNDONE)
_BETWEEN: Final = re.compile(r"[\W_]+")

Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an item was refused, for the model."""

    code: str
    message: str


def topics_of(user_id: int) -> list[str]:
    """The teacher's lines of topics that are not to be remembered."""
    lines = Preference.objects.filter(user_id=user_id).values_list("unwanted_topics", flat=True).first() or ""
    return [line.strip() for line in lines.splitlines() if plain(line)][:TOPICS_MOST]


def plain(text: str) -> str:
    """Text without case, width, spaces and punctuation, so that two ways to write the same are the same."""
    return _BETWEEN.sub("", fold(text))


@dataclass(frozen=True, slots=True)
class Gate:
    """The gate of one store. `known` are proposals that were made before, by what they ask for; see `gate_of`."""

    topics: tuple[str, ...]
    known: Mapping[Key, str]

    def refusal(self, item: Mapping[str, Any]) -> Refusal | None:
        """`item` has an `action`, `content`, `old_text`, and the labels."""
        for label, passes in LABELS.items():
            said = item.get(label)
            if not isinstance(said, str) or not said.strip():
                return Refusal("label_missing", f"这一项没有标明 {label}，没有提出。")
            if said.strip().lower() != passes:
                return Refusal("scope_gate", f"{label}={said.strip()[:20]} 的内容不记，没有提出。")
        told = plain(content_of(item)) + plain(text_of(item.get("reason")))
        if any(topic in told for topic in self.topics):
            return Refusal("unwanted_topic", "教师不希望记住与此有关的内容，没有提出。")
        state = self.known.get(key_of(item))
        if state == NoteOp.State.STAGED:
            return Refusal("already_waiting", "同样的改动已在等教师确认，不用再提。")
        if state:
            return Refusal("not_wanted", "教师已经拒绝或撤销过同样的改动，没有提出。")
        return None


def gate_of(place: Place, topics: Iterable[str]) -> Gate:
    """The gate of a store as things stand now."""
    ops = NoteOp.objects.filter(tenant_id=place.owner.tenant_id, user_id=place.owner.user_id)
    ops = ops.filter(target=place.target, agent_id=place.agent_id, state__in=[NoteOp.State.STAGED, *_NOT_WANTED])
    known: dict[Key, str] = {}
    for action, request, state in ops.order_by("-created_at").values_list("action", "request", "state")[:OPS_READ]:
        for item in request.get("operations") or [request | {"action": action}]:
            if isinstance(item, dict):
                known.setdefault(key_of(item), state)
    return Gate(tuple(plain(topic) for topic in topics), known)


def key_of(item: Mapping[str, Any]) -> Key:
    return str(item.get("action", "")), plain(content_of(item)), plain(text_of(item.get("old_text")))


def content_of(item: Mapping[str, Any]) -> str:
    """What is to be written; `new_content` is what memory_replace calls it, and models mix the two up."""
    return text_of(item.get("content")) or text_of(item.get("new_content"))


def text_of(value: object) -> str:
    return value if isinstance(value, str) else ""
