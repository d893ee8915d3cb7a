"""Operations on notes as tools and reviews leave them, for tests of what people do with them."""

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from chat.memory.notes import store
from chat.memory.notes.base import Author, Place, Write
from chat.memory.notes.files import root
from chat.memory.notes.storage import NAMES
from chat.models import Agent, NoteOp
from tests import builders

BY_HAND = Author(NoteOp.Origin.PANEL)


def note_op(user: User, agent: Agent | None, *, old: str | None = None, new: str | None = "以后简答题多一些", **fields: Any) -> NoteOp:
    """A change of one entry that waits; of USER.md when `agent` is None."""
    action = "add" if old is None else "replace" if new is not None else "remove"
    request = {name: text for name, text in (("content", new), ("old_text", old)) if text is not None}
    school = builders.school_of(user) if "tenant" not in fields else fields.pop("tenant")
    values = {
        "tenant": school,
        "user": user,
        "agent": agent,
        "target": "user" if agent is None else "memory",
        "action": action,
        "origin": "tool",
        "state": "staged",
        "changes": [{"place": 0, "old": old, "new": new}],
        "request": request,
    }
    return NoteOp.objects.create(**values | fields)


def minutes_ago(number: float) -> Any:
    return timezone.now() - timedelta(minutes=number)


def write_file(place: Place, content: bytes) -> None:
    """What a person writes into the file itself, past the program."""
    owner = place.owner
    folder = root() / owner.tenant_id / str(owner.user_id) / (place.agent_id or "")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / NAMES[place.target]).write_bytes(content)


def refused_write(place: Place) -> None:
    """A model's write to a store that was changed from outside; what stands there is put aside."""
    result = store.write(place, Write("add", content="再记一条"), Author(NoteOp.Origin.TOOL))
    assert result.code == "drift", result
