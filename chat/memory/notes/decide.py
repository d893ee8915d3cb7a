"""What a person decides about operations on notes: yes, no, and undo (specs/notes_memory.md §1.3, DESIGN §5 Notes).

One click has one result, in however many windows it is made: who is second finds it decided.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.utils import timezone

from chat.memory.notes import entries as form
from chat.memory.notes import journal, screen
from chat.memory.notes.base import Author, Live, Result, Write
from chat.memory.notes.batch import Outcome, Step, check_budget, take_back
from chat.memory.notes.refusals import Refusal
from chat.memory.notes.store import Job, Task, answer, check_owner, check_switches, held, request_of
from chat.models import NoteOp
from chat.models.ids import new_id

_WORDED = ("add", "replace")


def approve(user: AbstractBaseUser, op_id: str, *, content: str | None = None, accepted: Collection[str] = ()) -> Result:
    """Does what waits, with all checks again. What fails goes on waiting.

    `content` is another wording of an addition or a change; the person has typed it, so the red lines ask about it as they do on
    the page of the notes, and `accepted` are the kinds that a second yes accepts.
    """
    op = NoteOp.objects.for_user(user).filter(pk=op_id).first()
    if op is None:
        return Result({"success": False, "code": "gone"}, "gone", op_id)
    place = journal.place_of(op)
    try:
        if op.state != NoteOp.State.STAGED:
            raise Refusal("decided")
        write = _write_of(op, content)
        author = _author_of(op)
        check_owner(place)
        check_switches(place.owner, author)
        steps = screen.steps_of(write, form.limit_of(place.target))
        screen.check_texts(steps, place, author if content is None else Author(NoteOp.Origin.PANEL), accepted)
        task = _Approval(place, author, write, steps, op)
        return replace(_settled(task, op), op_id=op.pk)
    except Refusal as refusal:
        return replace(answer(refusal, place, is_batch=op.action == NoteOp.Action.BATCH), op_id=op.pk)


def reject(user: AbstractBaseUser, op_id: str) -> bool:
    """Turns down what waits; False when it does not wait (any more)."""
    op = NoteOp.objects.for_user(user).filter(pk=op_id, state=NoteOp.State.STAGED).first()
    if op is None:
        return False
    try:
        with held(journal.place_of(op)):
            return journal.settle(op.pk, NoteOp.State.REJECTED)
    except Refusal as refusal:
        # Where nothing can be written nobody is just saying yes.
        return refusal.code != "busy" and journal.settle(op.pk, NoteOp.State.REJECTED)


def undo(user: AbstractBaseUser, op_id: str) -> Result:
    """Takes back what an operation did, as far as its entries are still as it left them. That is an operation, too."""
    op = NoteOp.objects.for_user(user).filter(pk=op_id).first()
    if op is None:
        return Result({"success": False, "code": "gone"}, "gone", op_id)
    place = journal.place_of(op)
    try:
        if op.state != NoteOp.State.APPLIED:
            raise Refusal("decided")
        _check_wording(op)
        check_owner(place)
        screen.check_threats([Step("add", change["old"]) for change in op.changes if change["old"] is not None])
        return _Undo(place, Author(NoteOp.Origin.PANEL), op).apply()
    except Refusal as refusal:
        return answer(refusal, place)


def reconsider(user: AbstractBaseUser, op_id: str) -> Result:
    """Takes back a person's yes or no: what was put forward waits again. A change by hand is undone, and that is all."""
    own = NoteOp.objects.for_user(user).filter(pk=op_id)
    op = own.first()
    if op is not None and op.state == NoteOp.State.REJECTED and journal.is_erased(op):
        return answer(Refusal("erased"), journal.place_of(op))
    if own.filter(state=NoteOp.State.REJECTED).update(state=NoteOp.State.STAGED, decided_at=None):
        return Result({"success": True}, op_id=op_id)
    result = undo(user, op_id)
    if op is None or op.decided_at is None or not result.is_done:
        return result
    again = NoteOp.objects.get(pk=op_id)
    again.pk, again.state, again.decided_at = new_id("nop"), NoteOp.State.STAGED, None
    again.save(force_insert=True)
    return replace(result, op_id=again.pk)


@dataclass(slots=True)
class _Approval(Job):
    op: NoteOp

    def try_on(self, now: Live) -> Outcome:
        _check_state(self.op, NoteOp.State.STAGED)
        outcome = Job.try_on(self, now)
        if outcome.is_changed and _old_entries(outcome.changes) != _old_entries(self.op.changes):
            raise Refusal("changed")  # it would touch another entry than the person has seen
        return outcome

    def check_state(self, state: str) -> None:
        """A person may bring anything back."""

    def line(self, outcome: Outcome) -> NoteOp:
        self.op.state, self.op.decided_at = NoteOp.State.APPLIED, timezone.now()
        self.op.changes, self.op.request = outcome.changes, request_of(self.write)
        return self.op


@dataclass(slots=True)
class _Undo(Task):
    op: NoteOp
    action = "undo"

    def try_on(self, now: Live) -> Outcome:
        if now.trouble in ("unreadable", "drift"):
            raise Refusal(now.trouble)
        _check_state(self.op, NoteOp.State.APPLIED)
        self.op.refresh_from_db(fields=["changes"])
        _check_wording(self.op)
        outcome = take_back(now.entries, self.op.changes)
        check_budget(now.entries, outcome.entries, now.limit_chars)
        return outcome

    def line(self, outcome: Outcome) -> NoteOp:
        return journal.new_op(self.place, self.action, self.author, changes=outcome.changes, undoes_id=self.op.pk)


def _old_entries(changes: Sequence[dict[str, Any]]) -> list[Any]:
    return [one["old"] for one in changes]


def _check_state(op: NoteOp, state: str) -> None:
    """Raises Refusal `decided`. Nobody changes it behind this, for they would have to hold the store."""
    if not NoteOp.objects.filter(pk=op.pk, state=state).exists():
        raise Refusal("decided")


def _check_wording(op: NoteOp) -> None:
    """Raises Refusal `erased` when what was done is no longer known."""
    if journal.is_erased(op):
        raise Refusal("erased")


def _settled(task: Task, op: NoteOp) -> Result:
    """Does what waited; where the store says so already only the log changes."""
    result = task.apply()
    if not result.op_id:
        with held(task.place):
            if not journal.settle(op.pk, NoteOp.State.APPLIED):
                raise Refusal("decided")
    return result


def _write_of(op: NoteOp, content: str | None) -> Write:
    asked = op.request
    write = Write(
        op.action,  # type: ignore[arg-type]
        content=asked.get("content", ""),
        old_text=asked.get("old_text", ""),
        operations=tuple(asked.get("operations", ())),
    )
    if content is None:
        return write
    if op.action not in _WORDED:
        raise Refusal("bad_operation")
    return replace(write, content=content)


def _author_of(op: NoteOp) -> Author:
    return Author(NoteOp.Origin(op.origin), op.thread_id, op.run_id, op.review_id, op.reason)
