"""The same decision on several changes of notes, for the panel's form that has memories, too."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import AbstractBaseUser

from chat.memory.notes import decide
from chat.memory.notes.base import Result
from chat.memory.notes.erasing import erase_for_good
from chat.models.tenancy import ping
from chat.panel.note_words import later_words, results_words


@dataclass(frozen=True, slots=True)
class Decided:
    """What became of them in words, "" for none; `is_done` when at least one was decided."""

    words: str
    is_done: bool


def decide_on_notes(user: AbstractBaseUser, verb: str, op_ids: Sequence[str]) -> Decided:
    """Decides on each by itself, in this order: a change may build on the one before. They cannot be put off."""
    if verb == "later":
        return Decided(later_words(len(op_ids)), is_done=False)
    verb = "approve" if verb == "confirm" else verb
    results = [decide_on_note(user, verb, op_id) for op_id in op_ids]
    return Decided(results_words(verb, results), is_done=any(one.is_done for one in results))


def decide_on_note(user: AbstractBaseUser, verb: str, op_id: str, *, content: str | None = None, accepted: Sequence[str] = ()) -> Result:
    """One decision: `approve`, `reject`, `undo` of what was written, `reconsider` the person's last one, or `erase` its wording.

    Open pages are told.
    """
    if verb == "approve":
        result = decide.approve(user, op_id, content=content, accepted=accepted)
    elif verb == "reject":
        result = Result({}, code="" if decide.reject(user, op_id) else "decided", op_id=op_id)
    else:
        result = {"undo": decide.undo, "reconsider": decide.reconsider, "erase": erase_for_good}[verb](user, op_id)
    if result.is_done:
        ping(user.pk)
    return result
