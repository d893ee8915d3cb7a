"""The words that tools, reviews, pages and stores of notes share (specs/notes_memory.md §1)."""

from dataclasses import dataclass, field
from typing import Any, Literal

from chat.models import NoteOp, NoteTarget, Owner

Verb = Literal["add", "replace", "remove", "batch"]
# What is wrong with a store as it is read: it cannot be read, it drifted (§1.8), or it holds more than its budget.
Trouble = Literal["", "unreadable", "drift", "over_budget"]


@dataclass(frozen=True, slots=True)
class Place:
    """Which of the two stores of whom. `owner.agent_id` is needed for MEMORY.md and no part of USER.md."""

    owner: Owner
    target: NoteTarget

    @property
    def agent_id(self) -> str | None:
        """The store's own assistant; None for USER.md."""
        return self.owner.agent_id if self.target == NoteTarget.MEMORY else None


@dataclass(frozen=True, slots=True)
class Write:
    """What is asked of a store, as the tools say it; `operations` are dicts of `action`, `content`, `old_text` for a batch."""

    verb: Verb
    content: str = ""
    old_text: str = ""
    operations: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Author:
    """Where a write comes from: kept in the log."""

    origin: NoteOp.Origin
    thread_id: str | None = None
    run_id: str | None = None
    review_id: str | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Live:
    """A store as it is now. `entries` are trimmed, without duplicates, in order; `chars` is their size by §1.2, `digest` that of
    the normalised text. `text` is what stands on disk; with the trouble `unreadable` all is empty."""

    entries: tuple[str, ...]
    text: str
    chars: int
    limit_chars: int
    digest: str
    trouble: Trouble = ""


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a write. `payload` is what the model sees, word for word (§1.4); `code` is "" for success.

    `op_id` is the operation in the log, "" when nothing was written or staged. `is_terminal`: the writing tools of this run
    are to stop.
    """

    payload: dict[str, Any]
    code: str = ""
    op_id: str = ""
    is_terminal: bool = False
    category: str = ""  # of a threat, or the kind of a red line
    changes: tuple[dict[str, Any], ...] = field(default=())
    states: tuple[str, ...] = field(default=())  # of the store before and after, for the loop protection

    @property
    def is_done(self) -> bool:
        return not self.code
