"""The contract of where texts are kept: files (the default) or rows, with the same promises (specs/notes_memory.md §1.9).

A change is read, decided and written while nobody else writes to that store; it waits for others at most
settings.NOTES_LOCK_SECONDS. The text and its line in the log (NoteOp) come together, also over a crash: what was written has its
line by the next look at the store, and a line says nothing that was not written.
"""

import hashlib
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import BinaryIO, Final, Protocol

from chat.memory.notes.base import Place
from chat.models import NoteOp, NoteTarget

BACKUPS_KEPT: Final = 5
NAMES: Final = {NoteTarget.MEMORY: "MEMORY.md", NoteTarget.USER: "USER.md"}
READ_MOST_BYTES: Final = 8 * 1024 * 1024  # nothing that we wrote is a hundredth of it
# A wait for a lock holds a thread of the pool that runs of all schools share: 12 writers at one held lock kept others from it
# for seconds. So long anybody may wait, and longer only so many of a process at once; the others are told that it is busy.
SHORT_WAIT_SECONDS: Final = 0.1
LONG_WAITS_MOST: Final = 2
_long_waits: Final = threading.BoundedSemaphore(LONG_WAITS_MOST)


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
    """What stood in a store that did not look like ours, kept once for each content. `open_backup` gives what is in it."""

    name: str
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

    def put(self, place: Place, content: bytes) -> bool:
        """Puts a content there without a line in the log, for moving it from the other storage; false when another text is there.

        Raises Busy, Unreadable, NoOwner.
        """

    def hand_over(self, place: Place, take: Callable[[bytes], bool]) -> None:
        """Gives the text to `take` and empties the store if that says so; nobody writes there meanwhile. Raises Busy, Unreadable."""

    def open_text(self, place: Place) -> BinaryIO:
        """What stands there, of any size, to be read and closed; raises Unreadable when it cannot be opened."""

    def set_aside(self, place: Place) -> str:
        """Makes a backup of what cannot be read, whatever it is, so that the store is empty; "" when nothing is there.

        Raises Busy, Unreadable.
        """

    def keep_backup(self, place: Place, content: bytes) -> str:
        """Keeps a content, of the newest BACKUPS_KEPT each once, and returns its name."""

    def backups(self, place: Place) -> list[Backup]:
        """The newest first."""

    def open_backup(self, place: Place, name: str) -> BinaryIO:
        """What was kept under that name, to be read and closed; raises Unreadable when it is not there or cannot be opened."""

    def drop_backups(self, place: Place, names: Collection[str]) -> None:
        """Removes backups; those that are gone already do not matter."""

    def forget_owner(self, tenant_id: str, user_id: int) -> None:
        """Removes all texts and backups of a teacher in a school."""


def backup_name(place: Place, content: bytes) -> str:
    """One name for one content, so that the same is kept once."""
    return f"{NAMES[place.target]}.bak.{hashlib.sha256(content).hexdigest()[:16]}"


@contextmanager
def long_wait() -> Iterator[None]:
    """One of the few places in which a writer may wait long for a lock; raises Busy when they are taken."""
    if not _long_waits.acquire(blocking=False):
        raise Busy
    try:
        yield
    finally:
        _long_waits.release()
