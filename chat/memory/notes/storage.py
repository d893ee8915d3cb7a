"""The contract of where texts are kept: files (the default) or rows, with the same promises (specs/notes_memory.md §1.9).

A change is read, decided and written while nobody else writes to that store; it waits for others at most
settings.NOTES_LOCK_SECONDS. The text and its line in the log (NoteOp) come together, also over a crash: what was written has its
line by the next look at the store, and a line says nothing that was not written.
"""

import hashlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from chat.memory.notes.base import Place
from chat.models import NoteOp, NoteTarget

BACKUPS_KEPT: Final = 5
NAMES: Final = {NoteTarget.MEMORY: "MEMORY.md", NoteTarget.USER: "USER.md"}


class Busy(Exception):
    """Somebody else has been writing to this store for too long."""


class Unreadable(Exception):
    """The text is there and cannot be read."""


class NoOwner(Exception):
    """Nobody's notes: the teacher, the school or the assistant is not named or does not exist."""


@dataclass(frozen=True, slots=True)
class Change:
    """The whole new content of a store, and its line in the log, not stored yet (or stored as waiting)."""

    content: bytes
    op: NoteOp


@dataclass(frozen=True, slots=True)
class Backup:
    """What stood in a store that did not look like ours, kept once for each content."""

    name: str
    content: bytes
    kept_at: datetime


# Given what stands there now: what is to stand there, or None. It may be called again when somebody else was faster, and
# whatever it raises leaves the store as it was.
Step = Callable[[bytes], Change | None]


class Storage(Protocol):
    def read(self, place: Place) -> bytes:
        """What stands there now, b"" where there is nothing yet; raises Unreadable. Never waits for a writer."""

    def change(self, place: Place, step: Step) -> None:
        """Does one step; raises Busy, Unreadable, NoOwner, and what the step raises."""

    def hold(self, place: Place) -> AbstractContextManager[None]:
        """Nobody changes this store meanwhile: for what changes only the log. Raises Busy."""

    def put(self, place: Place, content: bytes) -> None:
        """Puts a content there without a line in the log: for moving it from the other storage. Raises Busy, Unreadable, NoOwner."""

    def keep_backup(self, place: Place, content: bytes) -> str:
        """Keeps a content, of the newest BACKUPS_KEPT each once, and returns its name."""

    def backups(self, place: Place) -> list[Backup]:
        """The newest first."""

    def forget_owner(self, tenant_id: str, user_id: int) -> None:
        """Removes all texts and backups of a teacher in a school."""


def backup_name(place: Place, content: bytes) -> str:
    """One name for one content, so that the same is kept once."""
    return f"{NAMES[place.target]}.bak.{hashlib.sha256(content).hexdigest()[:16]}"
