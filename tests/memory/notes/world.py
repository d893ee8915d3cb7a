"""A teacher with an assistant and two stores of notes, on either storage; texts can be put there as if by hand."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User

from chat.memory.notes import guard, store
from chat.memory.notes.base import Author, Live, Place, Result, Write
from chat.models import Agent, NoteOp, NoteTarget, NoteText, Owner, Run, Thread
from tests import builders

STORAGES = ("files", "database")
TOOL, HAND = Author(NoteOp.Origin.TOOL), Author(NoteOp.Origin.PANEL)


@dataclass
class World:
    user: User = field(default_factory=builders.teacher)

    def __post_init__(self) -> None:
        self.agent: Agent = builders.agent(builders.school_of(self.user))
        self.owner = Owner(self.agent.tenant_id, self.user.pk, self.agent.pk)
        self.memory = Place(self.owner, NoteTarget.MEMORY)
        self.profile = Place(self.owner, NoteTarget.USER)

    def folder(self) -> Path:
        """Where USER.md lies; MEMORY.md lies in the assistant's folder below."""
        return settings.DATA_DIR / "notes" / self.owner.tenant_id / str(self.owner.user_id)

    def path(self, place: Place | None = None) -> Path:
        place = place or self.memory
        return self.folder() / "USER.md" if place.target == NoteTarget.USER else self.folder() / self.owner.agent_id / "MEMORY.md"

    def put(self, content: str | bytes, place: Place | None = None) -> None:
        """Edits a store from outside."""
        place = place or self.memory
        content = content.encode() if isinstance(content, str) else content
        if settings.NOTES_STORAGE == "files":
            self.path(place).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.path(place).write_bytes(content)
        else:
            key = {"tenant_id": self.owner.tenant_id, "user_id": self.owner.user_id, "agent_id": place.agent_id, "target": place.target}
            NoteText.objects.update_or_create(**key, defaults={"text": content.decode()})

    def raw(self, place: Place | None = None) -> bytes:
        """What stands there, byte for byte, without our reader."""
        place = place or self.memory
        if settings.NOTES_STORAGE == "files":
            return self.path(place).read_bytes() if self.path(place).is_file() else b""
        row = NoteText.objects.filter(user=self.user, target=place.target, agent_id=place.agent_id).first()
        return row.text.encode() if row else b""

    def kept(self, place: Place | None = None) -> list[bytes]:
        """What the backups hold, the newest first."""
        found = []
        for backup in store.backups(place or self.memory):
            with store.open_file(place or self.memory, backup.name) as file:
                found.append(file.read())
        return found

    def look(self, place: Place | None = None) -> Live:
        return store.look(place or self.memory)

    def entries(self, place: Place | None = None) -> list[str]:
        return list(self.look(place).entries)

    def write(self, verb: str, content: str = "", old_text: str = "", *, place: Place | None = None, **more: Any) -> Result:
        asked = Write(verb, content, old_text, tuple(more.pop("operations", ())))
        return store.write(place or self.memory, asked, more.pop("author", TOOL), **more)

    def batch(self, *operations: Any, **more: Any) -> Result:
        return self.write("batch", operations=operations, **more)

    def edit(self, text: str, *, digest: str = "", place: Place | None = None, author: Author = HAND, **more: Any) -> Result:
        place = place or self.memory
        return store.save_text(place, text, digest or store.look(place).digest, author, **more)

    def ops(self, **fields: Any) -> list[NoteOp]:
        return list(NoteOp.objects.filter(user=self.user, **fields).order_by("created_at", "pk"))

    def turn(self, thread: Thread | None = None) -> "Turn":
        thread = thread or builders.thread(self.user, self.agent)
        return Turn(self, thread, builders.run(thread))


@dataclass
class Turn:
    """A round whose model calls writing tools, as chat.memory.notes.tools does."""

    world: World
    thread: Thread
    run: Run

    def call(self, verb: str, content: str = "", old_text: str = "", **more: Any) -> Result:
        author = Author(NoteOp.Origin.TOOL, self.thread.pk, self.run.pk)
        arguments = {"content": content, "old_text": old_text, **{name: str(value) for name, value in more.items()}}
        ask = lambda: self.world.write(verb, content, old_text, author=author, **more)  # noqa: E731
        return guard.guarded(self.run.pk, self.thread.pk, f"memory_{verb}", arguments, ask)


def replayed(ops: list[NoteOp], entries: list[str] | None = None) -> list[str]:
    """The entries that the log says there are, each change done at its place."""
    entries = list(entries or [])
    for op in ops:
        if op.state not in ("applied", "undone"):
            continue
        for change in op.changes:
            place = change["place"]
            if change["old"] is not None:
                assert entries[place] == change["old"]
                entries.pop(place)
            if change["new"] is not None:
                entries.insert(place, change["new"])
    return entries


class Killed(BaseException):
    """The process dies here: nothing after it happens, but its descriptors are closed."""


class MortalOs:
    """`os`, which dies before the n-th call that could matter."""

    CALLS = frozenset({"open", "fdopen", "rename", "unlink", "fsync", "mkdir"})

    def __init__(self, dies_at: int) -> None:
        self.left = dies_at

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        return self.counted(real) if name in self.CALLS else real

    def counted(self, real: Any) -> Any:
        def call(*arguments: Any, **more: Any) -> Any:
            self.left -= 1
            if self.left < 0:
                raise Killed
            return real(*arguments, **more)

        return call
