"""Erasing: the wording of a note that was removed goes from wherever it was kept (DESIGN §4 Ledger).

A removal can be taken back for UNDO_KEPT, and so long its wording stands in the log. Then, or as soon as its teacher says so or
deletes the conversation that it came from, it goes: from the frozen notes of conversations, from ledgers, from backups, and at
last from the log. That is what says what is to be done, so whoever is killed in between leaves it to the next, and doing it twice
is doing it once. What stands in the notes now is never touched.
"""

import logging
import math
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, BinaryIO, Final

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.utils import timezone

from chat.memory.ledger import ERASED
from chat.memory.notes import entries as form
from chat.memory.notes import journal
from chat.memory.notes.base import Author, Place, Result
from chat.memory.notes.files import is_aside
from chat.memory.notes.journal import ERASED_MARK
from chat.memory.notes.refusals import Refusal
from chat.memory.notes.storage import READ_MOST_BYTES, Busy, NoOwner, Storage, Unreadable
from chat.memory.notes.store import STORAGES, held, look, storage
from chat.memory.notes.survey import has_stores, in_files, in_rows
from chat.memory.notes.told import Late, forget_told
from chat.models import NoteOp, NoteTarget, Owner
from chat.models.tenancy import ping

log = logging.getLogger(__name__)
UNDO_KEPT: Final = timedelta(days=30)
LOOK_SECONDS: Final = 60.0  # for what was asked for and could not be done at once
ROUND_SECONDS: Final = 3_600.0  # for what has become due
STORES_AT_ONCE: Final = 20
REQUEST_SECONDS: Final = 0.3  # of a request; the sweep does the rest
TICK_SECONDS: Final = 1.0  # then the next one waits for the next sweep: the same thread renews leases
_NOT_NOW: Final = (Refusal, NoOwner, Busy, Unreadable, OSError, Late)
_ASKED: Final = "erase"  # in the request of an operation whose wording is to go now
_DONE: Final = (NoteOp.State.APPLIED, NoteOp.State.UNDONE)
_ENCODINGS: Final = ("utf-8", "gb18030", "utf-16-le")  # of files that are no text of ours
NEEDLE_CHARS: Final = 8  # a shorter wording may stand in any text
_CHUNK_BYTES: Final = 1024 * 1024


@dataclass(slots=True)
class Eraser:
    """What the worker's sweep asks, however often: what was asked for each minute, the stores some at a time, once an hour all."""

    _looked_at: float = float("-inf")
    _began_at: float = float("-inf")
    _asked: list[Place] = field(default_factory=list)
    _stores: list[Place] = field(default_factory=list)

    def sweep(self) -> int:
        """Returns how many wordings have gone."""
        now, erased = time.monotonic(), 0
        if now - self._looked_at >= LOOK_SECONDS:
            self._looked_at = now
            self._asked = list(_asked())
        if not self._stores and now - self._began_at >= ROUND_SECONDS and has_stores():
            self._began_at, self._stores = now, list(_stores())
        for _ in range(STORES_AT_ONCE):
            queue = self._asked or self._stores
            if not queue or time.monotonic() - now >= TICK_SECONDS:
                break
            erased += _erase_quietly(queue.pop(0))
        return erased


def erase_for_good(user: AbstractBaseUser, op_id: str) -> Result:
    """Erases what an operation touched and does not stand in the notes any more. What cannot be done at once is done by the sweep."""
    op = NoteOp.objects.for_user(user).exclude(state=NoteOp.State.STAGED).filter(pk=op_id).first()
    if op is None:
        return Result({"success": False, "code": "gone"}, "gone", op_id)
    place = journal.place_of(op)
    if not wordings_gone(op, look(place).entries):
        return Result({"success": True, "changed": False}, op_id=op_id)
    _ask([op])
    try:
        erase(place, end=time.monotonic() + REQUEST_SECONDS)
    except _NOT_NOW as error:
        log.info("The wording of operation %s is erased later (%s)", op_id, type(error).__name__)
        return Result({"success": True, "changed": True, "is_later": True}, op_id=op_id)
    ping(op.user_id)
    return Result({"success": True, "changed": True}, op_id=op_id)


def wordings_gone(op: NoteOp, entries: Collection[str]) -> list[str]:
    """The wordings of an operation that do not stand in the store any more and are not erased yet."""
    return [text for text in _wordings(op) if text not in entries]


def forget_thread(user_id: int, thread_id: str) -> None:
    """Takes a conversation out of the log, in the transaction that deletes it. What waits goes; what was written stays without it,
    and of that what was removed again is erased as soon as the transaction is done."""
    own = NoteOp.objects.filter(user_id=user_id, thread_id=thread_id)
    own.filter(state=NoteOp.State.STAGED).delete()
    ops = list(own)
    _ask(ops)
    own.update(thread=None, run=None, review=None, reason="")
    places = list(dict.fromkeys(journal.place_of(op) for op in ops))
    transaction.on_commit(partial(_erase_at_once, places), robust=True)


def _erase_at_once(places: Iterable[Place]) -> None:
    """What can be done within a request; the sweep does the rest."""
    end = time.monotonic() + REQUEST_SECONDS
    for place in places:
        if time.monotonic() < end:
            _erase_quietly(place, end)


def erase(place: Place, *, end: float = math.inf) -> int:
    """Erases what is due in one store; returns how many wordings. Raises Refusal, OSError and, after `end`, Late when it cannot be done.

    Frozen notes and ledgers come before the lock: there may be thousands of them, and nobody is kept from writing meanwhile.
    """
    now = look(place)
    if now.trouble == "unreadable" or (not now.entries and _lies_elsewhere(place)):
        raise Refusal("unreadable")
    if storage() is STORAGES["files"] and is_aside(place):  # it comes back, or goes after its time
        raise Refusal("unreadable")
    _keep_removals(place)
    limit = timezone.now() - UNDO_KEPT
    gone = _due(_ops(place), now.entries, limit)
    if gone:
        forget_told(place, gone, end)
    _drop_backups(place, gone, limit)
    if not gone and not any(op.request.get(_ASKED) for op in _ops(place)):
        return 0
    with held(place), transaction.atomic():
        gone -= set(look(place).entries)
        for op in _ops(place):
            _blank(op, gone)
    if gone:
        log.info("Erased %d wordings of notes of user %d", len(gone), place.owner.user_id)
    return len(gone)


def _lies_elsewhere(place: Place) -> bool:
    """Whether the text is in the storage that is not in use: after a change of the settings it seems to be gone, and is not."""
    for kept_in in STORAGES.values():
        try:
            if kept_in is not storage() and kept_in.read(place):
                return True
        except (Unreadable, OSError):
            return bool(_vanished(place))  # where the log accounts for all that is missing, nothing can lie there
    return False


def _erase_quietly(place: Place, end: float = math.inf) -> int:
    try:
        return erase(place, end=end)
    except _NOT_NOW as error:
        log.info("Nothing was erased in a store of user %d now (%s)", place.owner.user_id, type(error).__name__)
        return 0


def _asked() -> set[Place]:
    return set(_places(NoteOp.objects.filter(request__has_key=_ASKED)))


def _stores() -> Iterable[Place]:
    """All stores of which something may have to go."""
    return dict.fromkeys([*_places(NoteOp.objects.exclude(state=NoteOp.State.STAGED)), *in_rows(), *in_files()])


def _places(ops: Any) -> Iterator[Place]:  # noqa: ANN401  a queryset of NoteOp
    for tenant_id, user_id, agent_id, target in ops.values_list("tenant_id", "user_id", "agent_id", "target").distinct().order_by():
        yield Place(Owner(tenant_id, user_id, agent_id), NoteTarget(target))


def _ops(place: Place) -> list[NoteOp]:
    """The log of one store, oldest first."""
    own = NoteOp.objects.filter(tenant_id=place.owner.tenant_id, user_id=place.owner.user_id, target=place.target, agent_id=place.agent_id)
    return list(own.order_by("created_at", "pk"))


def _ask(ops: Iterable[NoteOp]) -> None:
    for op in ops:
        NoteOp.objects.filter(pk=op.pk).update(request=op.request | {_ASKED: True})


def _wordings(op: NoteOp) -> list[str]:
    """The whole entries that an operation holds, each once."""
    told = [change.get(side) for change in op.changes for side in ("old", "new") if not _is_blank(change, side)]
    if op.state != NoteOp.State.STAGED:
        told += [form.trimmed(one["content"]) for one in _requests(op.request) if one.get("content") and not _is_blank(one, "content")]
    return list(dict.fromkeys(text for text in told if text))


def _is_blank(part: dict[str, Any], name: str) -> bool:
    return bool(part.get(ERASED_MARK)) and part.get(name) == ERASED


def _requests(request: dict[str, Any]) -> list[dict[str, Any]]:
    return [request, *request.get("operations", ())]


def _acted_at(op: NoteOp) -> datetime:
    """When it last changed the store: an approval, or its undo, comes after the line."""
    return op.decided_at or op.created_at


def _due(ops: Iterable[NoteOp], entries: Collection[str], limit: datetime) -> set[str]:
    """Wordings that stand in the store no more: those asked for, and those of which no operation is younger than `limit`."""
    last: dict[str, datetime] = {}
    asked: set[str] = set()
    for op in ops:
        if op.request.get(_ASKED):
            asked.update(_wordings(op))
        if op.state in _DONE:
            for text in _wordings(op):
                last[text] = max(last.get(text, _acted_at(op)), _acted_at(op))
    return (asked | {text for text, at in last.items() if at < limit}) - set(entries)


def _blank(op: NoteOp, gone: Collection[str]) -> None:
    """Puts ERASED in place of these wordings; ids, places, times stay. What waits for one that is gone waits no more."""
    changes = [_without(change, ("old", "new"), gone) for change in op.changes]
    has_lost = {side for change in changes for side in ("old", "new") if _is_blank(change, side)}
    if op.state == NoteOp.State.STAGED:
        if "old" in has_lost:
            NoteOp.objects.filter(pk=op.pk, state=NoteOp.State.STAGED).delete()
        return
    request = {name: value for name, value in op.request.items() if name not in (_ASKED, "operations")}
    request = _asked_without(request, gone, has_lost_old="old" in has_lost)
    if "operations" in op.request:
        request["operations"] = [_asked_without(one, gone, has_lost_old="old" in has_lost) for one in op.request["operations"]]
    if (changes, request) == (op.changes, op.request):
        return
    has_blanks = bool(has_lost) or any(one.get(ERASED_MARK) for one in _requests(request))
    if has_blanks:
        request[ERASED_MARK] = True
    # If somebody has asked for it meanwhile, that stays to be done.
    NoteOp.objects.filter(pk=op.pk, request=op.request).update(changes=changes, request=request, reason="" if has_blanks else op.reason)


def _without(part: dict[str, Any], names: Iterable[str], gone: Collection[str]) -> dict[str, Any]:
    lost = [name for name in names if isinstance(part.get(name), str) and form.trimmed(part[name]) in gone and not _is_blank(part, name)]
    return part | dict.fromkeys(lost, ERASED) | {ERASED_MARK: True} if lost else part


def _asked_without(request: dict[str, Any], gone: Collection[str], *, has_lost_old: bool) -> dict[str, Any]:
    """What was asked for; a piece of an entry by which it was named goes with the entry."""
    left = _without(request, ("content", "new_content"), gone)
    return left | {"old_text": ERASED, ERASED_MARK: True} if has_lost_old and left.get("old_text") else left


def _keep_removals(place: Place) -> None:
    """Gives entries that were taken out of the text from outside their line in the log: so they can be brought back as long as others."""
    if not _vanished(place):
        return
    with held(place):
        if vanished := _vanished(place):
            at = len(look(place).entries)
            changes = [{"place": at, "old": text, "new": None} for text in vanished]
            journal.keep(journal.new_op(place, NoteOp.Action.EDIT, Author(NoteOp.Origin.UPLOAD), changes=changes))


def _vanished(place: Place) -> list[str]:
    """The entries that stand there by the log and do not."""
    now = look(place)
    if now.trouble == "unreadable":
        return []
    known: dict[str, None] = {}
    done = [op for op in _ops(place) if op.state in _DONE]
    for op in sorted(done, key=lambda one: _acted_at(one) if one.state == NoteOp.State.APPLIED else one.created_at):
        for change in op.changes:
            if change["old"] is not None:
                known.pop(change["old"], None)
            if change["new"] is not None and not _is_blank(change, "new"):
                known[change["new"]] = None
    return [text for text in known if text not in now.entries]


def _drop_backups(place: Place, gone: Collection[str], limit: datetime) -> None:
    """Removes backups that are as old as a removal may become, or that hold one of these wordings."""
    for kept_in in STORAGES.values():
        try:
            kept = kept_in.backups(place)
        except (Unreadable, OSError):
            if kept_in is storage():
                raise
            continue  # `doctor` tells of it
        old = [one.name for one in kept if one.kept_at < limit]
        names = [*old, *(one.name for one in kept if one.name not in old and _tells(kept_in, place, one.name, gone))]
        if names:
            kept_in.drop_backups(place, names)


def _tells(kept_in: Storage, place: Place, name: str, gone: Collection[str]) -> bool:
    """Whether one of these is an entry of the backup, or stands anywhere in it and is too long to be there by chance."""
    needles = [text.encode(encoding, "ignore") for text in gone if len(text) >= NEEDLE_CHARS for encoding in _ENCODINGS]
    try:
        with kept_in.open_backup(place, name) as file:
            content = file.read(READ_MOST_BYTES)
            with suppress(UnicodeDecodeError):
                if not set(form.parse(form.decode(content))).isdisjoint(gone):
                    return True
            file.seek(0)
            return _holds(file, [needle for needle in needles if needle])
    except (Unreadable, OSError):  # a link or the like, that holds nothing itself
        return False


def _holds(file: BinaryIO, needles: Collection[bytes]) -> bool:
    """Whether one of them stands in the file, of whatever size and line ends."""
    longest, tail = max(map(len, needles), default=0), b""
    while needles and (chunk := file.read(_CHUNK_BYTES)):
        held_bytes = (tail + chunk).replace(b"\r\n", b"\n")
        if any(needle in held_bytes for needle in needles):
            return True
        tail = held_bytes[-longest:]
    return False
