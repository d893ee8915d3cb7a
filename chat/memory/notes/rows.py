"""Notes as rows of NoteText, for several machines: the same contract as files (specs/notes_memory.md §1.9).

A change is read and decided without a transaction, then written in a short one if the revision is still the same; else it starts
again. The text and its line in the log are of one transaction.
"""

import random
import sqlite3
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from io import BytesIO
from typing import Any, BinaryIO, Final

from django.conf import settings
from django.db import IntegrityError, OperationalError, connection, transaction
from django.db.models import F
from django.utils import timezone

from chat.memory.notes import journal
from chat.memory.notes.base import Place
from chat.memory.notes.storage import BACKUPS_KEPT, SHORT_WAIT_SECONDS, Backup, Busy, Change, Step, Unreadable, backup_name, long_wait
from chat.models import NoteText

_PAUSE_SECONDS: Final = (0.001, 0.02)
# What the drivers say of a lock that could not be had: PostgreSQL lock_not_available, deadlock_detected and
# serialization_failure, SQLite's primary result codes.
_LOCK_STATES: Final = frozenset({"55P03", "40P01", "40001"})
_LOCK_CODES: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})


class _Moved(Exception):
    """Somebody else has written meanwhile."""


class Rows:
    """See chat.memory.notes.storage.Storage."""

    def read(self, place: Place) -> bytes:
        row = _row(place)
        return row.text.encode() if row else b""

    def change(self, place: Place, step: Step) -> None:
        wait = settings.NOTES_LOCK_SECONDS
        if _try_until(time.monotonic() + min(wait, SHORT_WAIT_SECONDS), place, step):
            return
        if wait <= SHORT_WAIT_SECONDS:
            raise Busy
        with long_wait():
            if not _try_until(time.monotonic() + wait - SHORT_WAIT_SECONDS, place, step):
                raise Busy

    @contextmanager
    def hold(self, place: Place) -> Iterator[None]:
        """Takes the row, so that whoever has read it before finds another revision."""
        wait = settings.NOTES_LOCK_SECONDS
        with ExitStack() as stack:
            try:
                stack.enter_context(_taken(place, min(wait, SHORT_WAIT_SECONDS)))
            except Busy:
                if wait <= SHORT_WAIT_SECONDS:
                    raise
                with long_wait():
                    stack.enter_context(_taken(place, wait - SHORT_WAIT_SECONDS))
            _wait_for_locks(wait)
            yield

    def put(self, place: Place, content: bytes) -> bool:
        try:
            text = content.decode()
        except UnicodeDecodeError as error:
            raise Unreadable from error
        with self.hold(place):
            rows = NoteText.objects.filter(**_key(place))
            return bool(rows.filter(text__in=["", text]).update(text=text, updated_at=timezone.now()))

    def hand_over(self, place: Place, take: Callable[[bytes], bool]) -> None:
        if _row(place) is None:
            return
        with self.hold(place):
            row = _row(place)
            if row is not None and row.text and take(row.text.encode()):
                NoteText.objects.filter(pk=row.pk).update(text="", updated_at=timezone.now())

    def open_text(self, place: Place) -> BinaryIO:
        return BytesIO(self.read(place))

    def set_aside(self, place: Place) -> str:
        with self.hold(place):
            row = _row(place)
            if row is None or not row.text:
                return ""
            name = backup_name(place, row.text.encode())
            row.backups = [_kept(name, row.text), *(one for one in row.backups if one["name"] != name)][:BACKUPS_KEPT]
            row.text, row.updated_at = "", timezone.now()
            row.save(update_fields=["text", "backups", "updated_at"])
        return name

    def keep_backup(self, place: Place, content: bytes) -> str:
        name = backup_name(place, content)
        with transaction.atomic():
            NoteText.objects.filter(**_key(place)).update(revision=F("revision") + 1)
            row = _row(place)
            if row is not None and all(kept["name"] != name for kept in row.backups):
                row.backups = [_kept(name, content.decode()), *row.backups][:BACKUPS_KEPT]
                row.save(update_fields=["backups"])
        return name

    def backups(self, place: Place) -> list[Backup]:
        row = _row(place)
        return [Backup(one["name"], datetime.fromisoformat(one["kept_at"])) for one in (row.backups if row else [])]

    def open_backup(self, place: Place, name: str) -> BinaryIO:
        row = _row(place)
        text = next((one["text"] for one in (row.backups if row else []) if one["name"] == name), None)
        if text is None:
            raise Unreadable
        return BytesIO(text.encode())

    def drop_backups(self, place: Place, names: Collection[str]) -> None:
        with transaction.atomic():
            NoteText.objects.filter(**_key(place)).update(revision=F("revision") + 1)
            row = _row(place)
            if row is not None and any(one["name"] in names for one in row.backups):
                row.backups = [one for one in row.backups if one["name"] not in names]
                row.save(update_fields=["backups"])

    def forget_owner(self, tenant_id: str, user_id: int) -> None:
        NoteText.objects.filter(tenant_id=tenant_id, user_id=user_id).delete()


def _key(place: Place) -> dict[str, Any]:
    owner = place.owner
    return {"tenant_id": owner.tenant_id, "user_id": owner.user_id, "agent_id": place.agent_id, "target": place.target}


def _row(place: Place) -> NoteText | None:
    return NoteText.objects.filter(**_key(place)).first()


def _kept(name: str, text: str) -> dict[str, str]:
    return {"name": name, "text": text, "kept_at": timezone.now().isoformat()}


def _try_until(end: float, place: Place, step: Step) -> bool:
    """Does the step on what stands there, again while somebody else is faster; false when it could not be done in time."""
    while True:
        row = _row(place)
        change = step(row.text.encode() if row else b"")
        if change is None:
            return True
        try:
            with _bounded(end):
                _write(place, row, change)
            return True
        except Busy:
            return False
        except (_Moved, IntegrityError):
            if time.monotonic() >= end:
                return False
            time.sleep(random.uniform(*_PAUSE_SECONDS))


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
            _wait_for_locks(wait_ms / 1000)
            yield
    except OperationalError as error:
        if _is_about_a_lock(error):
            raise Busy from error
        raise


def _wait_for_locks(seconds: float) -> None:
    """How long the statements of the transaction wait each, where a transaction does not begin with the lock of all."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL lock_timeout = {max(1, round(seconds * 1000))}")


@contextmanager
def _taken(place: Place, wait_seconds: float) -> Iterator[None]:
    """The row, made where there is none, held until the end of the transaction; raises Busy."""
    with _bounded(time.monotonic() + wait_seconds):
        if not NoteText.objects.filter(**_key(place)).update(revision=F("revision") + 1):
            NoteText.objects.get_or_create(**_key(place))
        yield


def _is_about_a_lock(error: OperationalError) -> bool:
    """Whether somebody else held what was needed, by the code that the driver gives; its words depend on version and language."""
    cause = error.__cause__
    if isinstance(cause, sqlite3.Error):
        return getattr(cause, "sqlite_errorcode", 0) & 0xFF in _LOCK_CODES
    return getattr(cause, "sqlstate", None) in _LOCK_STATES
