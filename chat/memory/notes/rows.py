"""Notes as rows of NoteText, for several machines: the same contract as files (specs/notes_memory.md §1.9).

A change is read and decided without a transaction, then written in a short one if the revision is still the same; else it starts
again. The text and its line in the log are of one transaction.
"""

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Final

from django.conf import settings
from django.db import IntegrityError, OperationalError, connection, transaction
from django.db.models import F
from django.utils import timezone

from chat.memory.notes import journal
from chat.memory.notes.base import Place
from chat.memory.notes.storage import BACKUPS_KEPT, Backup, Busy, Change, Step, Unreadable, backup_name
from chat.models import NoteText

_PAUSE_SECONDS: Final = (0.001, 0.02)


class _Moved(Exception):
    """Somebody else has written meanwhile."""


class Rows:
    """See chat.memory.notes.storage.Storage."""

    def read(self, place: Place) -> bytes:
        row = _row(place)
        return row.text.encode() if row else b""

    def change(self, place: Place, step: Step) -> None:
        end = time.monotonic() + settings.NOTES_LOCK_SECONDS
        while True:
            row = _row(place)
            change = step(row.text.encode() if row else b"")
            if change is None:
                return
            try:
                with _bounded(end):
                    _write(place, row, change)
                return
            except (_Moved, IntegrityError):
                if time.monotonic() >= end:
                    raise Busy from None
                time.sleep(random.uniform(*_PAUSE_SECONDS))

    @contextmanager
    def hold(self, place: Place) -> Iterator[None]:
        """Takes the row, so that whoever has read it before finds another revision."""
        with _bounded(time.monotonic() + settings.NOTES_LOCK_SECONDS):
            if not NoteText.objects.filter(**_key(place)).update(revision=F("revision") + 1):
                NoteText.objects.create(**_key(place))
            yield

    def put(self, place: Place, content: bytes) -> None:
        try:
            text = content.decode()
        except UnicodeDecodeError as error:
            raise Unreadable from error
        with self.hold(place):
            NoteText.objects.filter(**_key(place)).update(text=text, updated_at=timezone.now())

    def keep_backup(self, place: Place, content: bytes) -> str:
        name = backup_name(place, content)
        with transaction.atomic():
            NoteText.objects.filter(**_key(place)).update(revision=F("revision") + 1)
            row = _row(place)
            if row is not None and all(kept["name"] != name for kept in row.backups):
                kept = {"name": name, "text": content.decode(), "kept_at": timezone.now().isoformat()}
                row.backups = [kept, *row.backups][:BACKUPS_KEPT]
                row.save(update_fields=["backups"])
        return name

    def backups(self, place: Place) -> list[Backup]:
        row = _row(place)
        kept = row.backups if row else []
        return [Backup(one["name"], one["text"].encode(), datetime.fromisoformat(one["kept_at"])) for one in kept]

    def forget_owner(self, tenant_id: str, user_id: int) -> None:
        NoteText.objects.filter(tenant_id=tenant_id, user_id=user_id).delete()


def _key(place: Place) -> dict[str, object]:
    owner = place.owner
    return {"tenant_id": owner.tenant_id, "user_id": owner.user_id, "agent_id": place.agent_id, "target": place.target}


def _row(place: Place) -> NoteText | None:
    return NoteText.objects.filter(**_key(place)).first()


def _write(place: Place, row: NoteText | None, change: Change) -> None:
    values = {"text": change.content.decode(), "updated_at": timezone.now()}
    if row is None:
        NoteText.objects.create(**_key(place), **values)  # IntegrityError when somebody else was first
    elif not NoteText.objects.filter(pk=row.pk, revision=row.revision).update(revision=F("revision") + 1, **values):
        raise _Moved
    journal.keep(change.op)


@contextmanager
def _bounded(end: float) -> Iterator[None]:
    """A transaction that waits for other writers until `end` at most; raises Busy."""
    wait_ms = max(1, round((end - time.monotonic()) * 1000))
    try:
        if connection.vendor == "sqlite" and not connection.in_atomic_block:
            # A transaction begins with the lock of the whole database.
            usual_ms = round(connection.settings_dict["OPTIONS"].get("timeout", 5) * 1000)
            with connection.cursor() as cursor:
                cursor.execute(f"PRAGMA busy_timeout = {wait_ms}")
            try:
                with transaction.atomic(durable=True):
                    yield
            finally:
                with connection.cursor() as cursor:
                    cursor.execute(f"PRAGMA busy_timeout = {usual_ms}")
            return
        with transaction.atomic(durable=True):
            if connection.vendor == "postgresql":
                with connection.cursor() as cursor:
                    cursor.execute(f"SET LOCAL lock_timeout = {wait_ms}")
            yield
    except OperationalError as error:
        if "lock" in str(error):  # "database is locked"; "canceling statement due to lock timeout"
            raise Busy from error
        raise
