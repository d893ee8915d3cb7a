"""The two stores: looking, writing, showing (specs/notes_memory.md §1.3). Sync, and knows no HTTP.

Call it outside of a transaction: with files the text is on disk at once and its line in the log is committed with it. The loop
protection of a run is around it (chat.memory.notes.guard).
"""

import logging
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final

from django.conf import settings

from chat.memory.notes import answers, guard, journal, screen
from chat.memory.notes import entries as form
from chat.memory.notes.base import Author, Live, Place, Result, Write
from chat.memory.notes.batch import Outcome, Step, carry_out, check_budget, edited
from chat.memory.notes.files import Files
from chat.memory.notes.refusals import Refusal, refused
from chat.memory.notes.rows import Rows
from chat.memory.notes.storage import Backup, Busy, Change, NoOwner, Storage, Unreadable
from chat.memory.notes.storage import Step as StorageStep
from chat.memory.switches import off_by
from chat.models import Agent, Membership, NoteOp, NoteTarget, Owner, Thread
from chat.text.storable import storable

log = logging.getLogger(__name__)
_SAID: Final = ("action", "content", "new_content", "old_text")
STORAGES: Final[dict[str, Storage]] = {"files": Files(), "database": Rows()}


def storage() -> Storage:
    """Where texts are kept: settings.NOTES_STORAGE."""
    return STORAGES[settings.NOTES_STORAGE]


def place_of(owner: Owner, target: object) -> Place:
    """The store that a tool's `target` names; nothing is the assistant's notes. Raises Refusal `invalid_target`."""
    if target is None:
        return Place(owner, NoteTarget.MEMORY)
    if not isinstance(target, str) or target not in NoteTarget.values:
        raise Refusal("invalid_target", allowed=list(NoteTarget.values))
    return Place(owner, NoteTarget(target))


def look(place: Place) -> Live:
    """The store as it is now. Never raises for what stands there: that is its `trouble`."""
    limit = form.limit_of(place.target)
    try:
        content = storage().read(place)
    except (Unreadable, OSError):
        return form.unreadable(limit)
    return form.live(content, limit)


def show(places: Iterable[Place]) -> dict[str, Any]:
    """The payload of `memory_show`."""
    return answers.shown([(place, look(place)) for place in places])


def raw(place: Place) -> bytes | None:
    """What stands in the store, byte for byte; None when it cannot be opened."""
    try:
        return storage().read(place)
    except (Unreadable, OSError):
        return None


def backups(place: Place) -> list[Backup]:
    """What stood there and did not look like ours, the newest first; none when nobody can look."""
    try:
        return storage().backups(place)
    except (Unreadable, OSError):
        return []


def open_file(place: Place, backup: str = "") -> BinaryIO | None:
    """The store, or the backup of that name, to be read byte for byte and closed; None when it cannot be opened."""
    try:
        return storage().open_backup(place, backup) if backup else storage().open_text(place)
    except (Unreadable, OSError):
        return None


def forget_owner(tenant_id: str, user_id: int) -> None:
    """Removes all texts and backups of a teacher in a school, from either storage; the log goes with its rows."""
    for kept_in in STORAGES.values():
        kept_in.forget_owner(tenant_id, user_id)


def write(place: Place, write: Write, author: Author, *, is_staged: bool = False, accepted: Collection[str] = ()) -> Result:
    """One write, or with `is_staged` the same checks and an operation that waits for the teacher. Raises NoOwner.

    `accepted` are kinds of private text that a person who writes by hand has said yes to.
    """
    check_owner(place)
    is_batch = write.verb == "batch"
    try:
        check_switches(place.owner, author)
        steps = screen.steps_of(write, form.limit_of(place.target))
        screen.check_texts(steps, place, author, accepted)
        job = Job(place, author, write, steps)
        return _stage(job) if is_staged else job.apply()
    except Refusal as refusal:
        return answer(refusal, place, is_batch=is_batch)


def answer(refusal: Refusal, place: Place, *, is_batch: bool = False) -> Result:
    """What the model is told. The store is looked at anew where the answer shows it, without a lock."""
    shows = is_batch or refusal.code in ("not_found", "ambiguous", "empty_old_text", "over_budget")
    return refused(refusal, place, look(place) if shows else None, is_batch=is_batch)


def check_owner(place: Place) -> None:
    """Raises NoOwner unless there is such a teacher in that school, and for MEMORY.md such an assistant."""
    owner = place.owner
    if not Membership.objects.filter(tenant_id=owner.tenant_id, user_id=owner.user_id).exists():
        raise NoOwner
    if place.target == NoteTarget.MEMORY and not Agent.objects.filter(pk=owner.agent_id, tenant_id=owner.tenant_id).exists():
        raise NoOwner


def check_switches(owner: Owner, author: Author) -> None:
    """Raises Refusal `disabled` when memory is off for the owner, or in the conversation that this comes from.

    What people do by hand is not learning: they may always put their own texts in order.
    """
    if author.origin in screen.BY_HAND:
        return
    thread = Thread.objects.filter(pk=author.thread_id).only("is_incognito").first() if author.thread_id else None
    if by := off_by(owner, is_incognito=thread is not None and thread.is_incognito):
        raise Refusal("disabled", by=by)


def save_text(place: Place, text: str, base_digest: str, author: Author, *, accepted: Collection[str] = ()) -> Result:
    """A person's whole text in place of what stood there. Raises NoOwner.

    It is refused as `conflict` when the store is no longer the one that `base_digest` was of. Only entries that did not
    stand there are looked at: what was once accepted is not asked about again. It may empty the store. What cannot be opened
    is put aside first, as a backup.
    """
    check_owner(place)
    limit = form.limit_of(place.target)
    wanted = form.parse(form.trimmed(text.removeprefix(form.BOM)))
    now = look(place)
    try:
        if now.digest != base_digest:
            raise Refusal("unreadable" if now.trouble == "unreadable" else "conflict")
        added = [Step("add", entry) for entry in wanted if entry not in now.entries]
        for step in added:
            screen.check_shape(step, limit)
        screen.check_texts(added, place, author, accepted)
        with _told():
            if now.trouble == "unreadable" and not now.digest:
                check_budget((), wanted, limit)  # nothing is moved for a text that would be refused
                storage().set_aside(place)
                base_digest = form.digest(())
            elif now.trouble in ("unreadable", "drift"):
                storage().keep_backup(place, raw(place) or b"")
        return _Edit(place, author, wanted, base_digest).apply()
    except Refusal as refusal:
        return answer(refusal, place)


@dataclass(slots=True)
class Task:
    """Something that is done to a store: what it makes of the entries, and its line in the log."""

    place: Place
    author: Author
    _outcome: Outcome = field(default_factory=lambda: Outcome([]), init=False)
    _op_id: str = field(default="", init=False)
    _states: tuple[str, ...] = field(default=(), init=False)

    @property
    def action(self) -> str:
        raise NotImplementedError

    def try_on(self, now: Live) -> Outcome:
        """What it makes of the store; raises Refusal."""
        raise NotImplementedError

    def line(self, outcome: Outcome) -> NoteOp:
        """Its line in the log, not stored yet."""
        return journal.new_op(self.place, self.action, self.author, changes=outcome.changes)

    def check_state(self, state: str) -> None:
        """May raise Refusal for what the store would be like."""

    def apply(self) -> Result:
        """Does it; all that can come in between is a Refusal."""
        in_storage(self.place, self._step)
        payload = answers.written(self.action, self.place, form.limit_of(self.place.target), self._outcome)
        return Result(payload, op_id=self._op_id, changes=tuple(self._outcome.changes), states=self._states)

    def _step(self, content: bytes) -> Change | None:
        now = form.live(content, form.limit_of(self.place.target))
        self._outcome, self._op_id, self._states = self.try_on(now), "", ()
        if not self._outcome.is_changed:
            return None
        self._states = (state_of(self.place, now.entries), state_of(self.place, self._outcome.entries))
        self.check_state(self._states[1])
        op = self.line(self._outcome)
        self._op_id = op.pk
        return Change(form.encode(self._outcome.entries), op)


@dataclass(slots=True)
class Job(Task):
    """A write on its way through the storage."""

    write: Write
    steps: list[Step]

    @property
    def action(self) -> str:
        return self.write.verb

    def try_on(self, now: Live) -> Outcome:
        if now.trouble in ("unreadable", "drift"):
            raise Refusal(now.trouble)
        return carry_out(now.entries, self.steps, now.limit_chars, is_batch=self.write.verb == "batch")

    def check_state(self, state: str) -> None:
        if state in guard.states_of(self.author.review_id or self.author.run_id):
            raise Refusal("flip_flop")

    def line(self, outcome: Outcome) -> NoteOp:
        return journal.new_op(self.place, self.action, self.author, changes=outcome.changes, request=request_of(self.write))


@dataclass(slots=True)
class _Edit(Task):
    wanted: list[str]
    base_digest: str
    action = "edit"

    def try_on(self, now: Live) -> Outcome:
        if now.digest != self.base_digest:
            raise Refusal("conflict")
        check_budget(now.entries, self.wanted, now.limit_chars)
        return edited(now.entries, self.wanted)


def state_of(place: Place, entries: Sequence[str]) -> str:
    """Names the content of one store, for the loop protection."""
    return f"{place.target}:{form.digest(entries)[:24]}"


def in_storage(place: Place, step: StorageStep) -> None:
    """Does a step; what the storage cannot do, and a text that is not ours, become a Refusal."""
    drifted: list[bytes] = []

    def watched(content: bytes) -> Change | None:
        try:
            return step(content)
        except Refusal as refusal:
            if refusal.code == "drift":
                drifted.append(content)
            raise

    try:
        with _told():
            storage().change(place, watched)
    except Refusal as refusal:
        if drifted:
            with _told():
                refusal.facts["backup"] = storage().keep_backup(place, drifted[-1])
        raise


@contextmanager
def held(place: Place) -> Iterator[None]:
    """Nobody changes the store meanwhile; raises Refusal when that cannot be had."""
    with _told(), storage().hold(place):
        yield


@contextmanager
def _told() -> Iterator[None]:
    """What a storage cannot do is a Refusal; of a disk that fails somebody should know."""
    try:
        yield
    except Busy:
        raise Refusal("busy") from None
    except Unreadable:
        raise Refusal("unreadable") from None
    except OSError as error:
        log.warning("Notes cannot be written (%s, errno %s)", type(error).__name__, error.errno)
        raise Refusal("unwritable") from error


def request_of(write: Write) -> dict[str, Any]:
    """What was asked, as tools say it and as the log can hold it."""
    operations = [{name: storable(one[name]) for name in _SAID if isinstance(one.get(name), str)} for one in write.operations]
    asked = {"content": storable(write.content), "old_text": storable(write.old_text), "operations": operations}
    return {name: value for name, value in asked.items() if value}


def _stage(job: Job) -> Result:
    outcome = job.try_on(look(job.place))
    if not outcome.is_changed:
        return Result(answers.written(job.action, job.place, form.limit_of(job.place.target), outcome))
    op = job.line(outcome)
    waiting = NoteOp.objects.filter(user_id=op.user_id, tenant_id=op.tenant_id, agent_id=op.agent_id, state=NoteOp.State.STAGED)
    same = waiting.filter(target=op.target, action=op.action, request=op.request).first()
    if same is not None:  # a model that says it again
        return Result(answers.staged(job.place, same.pk), op_id=same.pk, changes=tuple(outcome.changes))
    journal.put_forward(op)
    return Result(answers.staged(job.place, op.pk), op_id=op.pk, changes=tuple(outcome.changes))
