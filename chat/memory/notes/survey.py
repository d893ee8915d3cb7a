"""All stores there are, in both storages: which one is in use, what of it cannot be read, what lies in the other one unseen."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from django.conf import settings

from chat.memory.notes.base import Place
from chat.memory.notes.files import root
from chat.memory.notes.storage import NAMES
from chat.memory.notes.store import look
from chat.models import NoteTarget, NoteText, Owner


@dataclass(slots=True)
class Survey:
    """What is in use. `unreadable` and `drifted` name stores by ids; `elsewhere` counts texts that nobody sees."""

    where: str
    texts: int = 0
    unreadable: list[str] = field(default_factory=list)
    drifted: list[str] = field(default_factory=list)
    elsewhere: int = 0
    is_closed: bool = False  # the folder of files is there and cannot be looked into


def survey() -> Survey:
    is_files = settings.NOTES_STORAGE == "files"
    ours, others = (in_files, in_rows) if is_files else (in_rows, in_files)
    found = Survey(where(), elsewhere=sum(1 for _ in others()), is_closed=_is_closed())
    for place in ours():
        found.texts += 1
        trouble = look(place).trouble
        if trouble == "unreadable":
            found.unreadable.append(name_of(place))
        elif trouble == "drift":
            found.drifted.append(name_of(place))
    return found


def _is_closed() -> bool:
    try:
        next(root().iterdir(), None)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def has_stores() -> bool:
    """Whether the storage in use is there at all: a data folder that is not mounted looks like one in which all was removed."""
    return settings.NOTES_STORAGE != "files" or any(root().glob("*/*"))


def where() -> str:
    """Where notes are kept, for people."""
    return f"files in {root()}" if settings.NOTES_STORAGE == "files" else "rows of the database"


def name_of(place: Place) -> str:
    """`tn_x/12/ag_y/MEMORY.md`."""
    owner = place.owner
    return "/".join(str(part) for part in (owner.tenant_id, owner.user_id, place.agent_id, NAMES[place.target]) if part is not None)


def in_files() -> Iterator[Place]:
    """The stores that have a file with something in it, whatever that is."""
    for path in sorted(root().glob("*/*/USER.md")):
        school, teacher = path.parts[-3:-1]
        if teacher.isdecimal() and path.lstat().st_size:
            yield Place(Owner(school, int(teacher)), NoteTarget.USER)
    for path in sorted(root().glob("*/*/*/MEMORY.md")):
        school, teacher, assistant = path.parts[-4:-1]
        if teacher.isdecimal() and path.lstat().st_size:
            yield Place(Owner(school, int(teacher), assistant), NoteTarget.MEMORY)


def in_rows() -> Iterator[Place]:
    """The stores that have a row with a text."""
    rows = NoteText.objects.exclude(text="").order_by("tenant_id", "user_id", "agent_id")
    for tenant_id, user_id, agent_id, target in rows.values_list("tenant_id", "user_id", "agent_id", "target"):
        yield Place(Owner(tenant_id, user_id, agent_id), NoteTarget(target))
