"""The two stores: looking, writing, showing (specs/notes_memory.md §1.3). Sync, and knows no HTTP.

Call it outside of a transaction: with files the text is on disk at once and its line in the log is committed with it. The loop
protection of a run is around it (chat.memory.notes.guard).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from django.conf import settings

from chat.memory.notes import answers, journal, screen
from chat.memory.notes import entries as form
from chat.memory.notes.base import Author, Live, Place, Result, Write
from chat.memory.notes.batch import Outcome, Step, carry_out
from chat.memory.notes.files import Files
from chat.memory.notes.refusals import Refusal, refused
from chat.memory.notes.rows import Rows
from chat.memory.notes.storage import Busy, Change, NoOwner, Storage, Unreadable
from chat.memory.notes.storage import Step as StorageStep
from chat.memory.switches import off_by
from chat.models import Agent, Membership, NoteOp, NoteTarget, Owner, Thread

_STORAGES: Final[dict[str, Storage]] = {"files": Files(), "database": Rows()}


def storage() -> Storage:
    """Where texts are kept: settings.NOTES_STORAGE."""
    return _STORAGES[settings.NOTES_STORAGE]


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
    except Unreadable:
        return form.unreadable(limit)
    return form.live(content, limit)


def show(places: Iterable[Place]) -> dict[str, Any]:
    """The payload of `memory_show`."""
    return answers.shown([(place, look(place)) for place in places])


def write(place: Place, write: Write, author: Author, *, is_staged: bool = False) -> Result:
    """One write, or with `is_staged` the same checks and an operation that waits for the teacher. Raises NoOwner."""
    check_owner(place)
    is_batch = write.verb == "batch"
    try:
        check_switches(place.owner, author)
        steps = screen.steps_of(write, form.limit_of(place.target))
        screen.check_texts(steps, place, author)
        job = Job(place, write, author, steps)
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
    """Raises Refusal `disabled` when memory is off for the owner, or in the conversation that this comes from."""
    thread = Thread.objects.filter(pk=author.thread_id).only("is_incognito").first() if author.thread_id else None
    if by := off_by(owner, is_incognito=thread is not None and thread.is_incognito):
        raise Refusal("disabled", by=by)


@dataclass(slots=True)
class Job:
    """A write on its way through the storage. `waiting` is the operation that a teacher has just agreed to."""

    place: Place
    write: Write
    author: Author
    steps: list[Step]
    waiting: NoteOp | None = None
    _outcome: Outcome = field(default_factory=lambda: Outcome([]))
    _op_id: str = ""

    def apply(self) -> Result:
        """Does it, with everything that can come in between as a Refusal."""
        in_storage(self.place, self._step)
        payload = answers.written(self.write.verb, self.place, form.limit_of(self.place.target), self._outcome)
        return Result(payload, op_id=self._op_id, changes=tuple(self._outcome.changes))

    def try_on(self, now: Live) -> Outcome:
        """What it makes of the store; raises Refusal."""
        if now.trouble in ("unreadable", "drift"):
            raise Refusal(now.trouble)
        return carry_out(now.entries, self.steps, now.limit_chars, is_batch=self.write.verb == "batch")

    def _step(self, content: bytes) -> Change | None:
        self._outcome = self.try_on(form.live(content, form.limit_of(self.place.target)))
        if not self._outcome.is_changed:
            self._op_id = ""
            return None
        op = self.line(self._outcome)
        self._op_id = op.pk
        return Change(form.encode(self._outcome.entries), op)

    def line(self, outcome: Outcome, **fields: object) -> NoteOp:
        """Its line in the log, not stored yet."""
        return journal.new_op(self.place, self.write.verb, self.author, changes=outcome.changes, request=request_of(self.write), **fields)


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
        storage().change(place, watched)
    except Busy:
        raise Refusal("busy") from None
    except Unreadable:
        raise Refusal("unreadable") from None
    except Refusal as refusal:
        if drifted:
            refusal.facts["backup"] = storage().keep_backup(place, drifted[-1])
        raise


def request_of(write: Write) -> dict[str, Any]:
    """What was asked, as tools say it."""
    asked = {"content": write.content, "old_text": write.old_text, "operations": list(write.operations)}
    return {name: value for name, value in asked.items() if value}


def _stage(job: Job) -> Result:
    outcome = job.try_on(look(job.place))
    if not outcome.is_changed:
        return Result(answers.written(job.write.verb, job.place, form.limit_of(job.place.target), outcome))
    op = job.line(outcome, state=NoteOp.State.STAGED)
    op.save(force_insert=True)
    return Result(answers.staged(job.place, op.pk), op_id=op.pk, changes=tuple(outcome.changes))
