"""Brings the texts of the other storage into the one in use, after NOTES_STORAGE was changed.

The log is in the database either way, so nothing is added to it. A text that is there already is never replaced.
"""

from dataclasses import dataclass, field
from functools import partial

from django.conf import settings

from chat.memory.notes.base import Place
from chat.memory.notes.storage import Busy, NoOwner, Storage, Unreadable
from chat.memory.notes.store import STORAGES, check_owner
from chat.memory.notes.survey import in_files, in_rows, name_of


@dataclass(slots=True)
class Moved:
    """How many texts came over; `left` names those that did not, with the reason."""

    moved: int = 0
    left: list[tuple[str, str]] = field(default_factory=list)


def move() -> Moved:
    """Every text is in both or in the new one at each moment; a second call goes on where the first one stopped.

    Nobody writes to either store while its text goes over, also no process that still has the other setting.
    """
    is_files = settings.NOTES_STORAGE == "files"
    ours, theirs = STORAGES[settings.NOTES_STORAGE], STORAGES["database" if is_files else "files"]
    told = Moved()
    for place in list((in_rows if is_files else in_files)()):
        try:
            check_owner(place)
            ours.read(place)  # ends what a writer that died has left, which cannot be done within a transaction of rows
            taken: list[bool] = []
            theirs.hand_over(place, partial(_take, ours, place, taken))
            told.moved += taken == [True]
            if taken == [False]:
                told.left.append((name_of(place), "another text is there"))
        except Unreadable:
            told.left.append((name_of(place), "it cannot be read as UTF-8 text"))
        except NoOwner:
            told.left.append((name_of(place), "its teacher or assistant is gone"))
        except Busy:
            told.left.append((name_of(place), "somebody is writing to it"))
        except OSError as error:
            told.left.append((name_of(place), f"the disk fails ({type(error).__name__})"))
    return told


def _take(ours: Storage, place: Place, taken: list[bool], content: bytes) -> bool:
    taken.append(ours.put(place, content))
    return taken[-1]
