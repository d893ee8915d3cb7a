"""What a write makes of the entries of a store: one operation, or several as one (specs/notes_memory.md §1.5, §1.6).

Pure: it works on a copy and either gives the whole result or raises Refusal.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

from chat.memory.notes import entries as form
from chat.memory.notes.matching import find
from chat.memory.notes.refusals import Refusal


@dataclass(frozen=True, slots=True)
class Step:
    """One operation, trimmed and complete. `number` is its 1-based place in a batch, 0 outside of one."""

    action: str
    content: str = ""
    old_text: str = ""
    number: int = 0


@dataclass(slots=True)
class Outcome:
    """The resulting entries. `changes` are as NoteOp keeps them; done backwards they give what was before.

    `previous` are the whole entries that a step replaced or removed: (number, action, text).
    """

    entries: list[str]
    changes: list[dict[str, Any]] = field(default_factory=list)
    previous: list[tuple[int, str, str]] = field(default_factory=list)
    is_folded: bool = False
    is_much_dropped: bool = False  # a replace that went by a short piece of a long entry, and lost most of it

    @property
    def is_changed(self) -> bool:
        return bool(self.changes)


def carry_out(entries: Sequence[str], steps: Sequence[Step], limit_chars: int, *, is_batch: bool) -> Outcome:
    """Does the steps in order, each on what the ones before it made; raises Refusal with the step that cannot be done."""
    outcome = Outcome(list(entries))
    for step in steps:
        try:
            _ACTIONS[step.action](outcome, step)
        except Refusal as refusal:
            refusal.number, refusal.action = step.number, step.action
            raise
    check_budget(entries, outcome.entries, limit_chars, steps)
    if is_batch and entries and not outcome.entries:
        raise Refusal("would_empty")
    return outcome


def take_back(entries: Sequence[str], changes: Sequence[dict[str, Any]]) -> Outcome:
    """Does changes backwards; raises Refusal `changed` when an entry is no longer as they left it, or is there again."""
    outcome = Outcome(list(entries))
    for change in reversed(changes):
        place = _place_of(outcome.entries, change["place"], change["new"])
        if change["new"] is not None:
            outcome.entries.pop(place)
        if change["old"] is not None:
            outcome.entries.insert(place, change["old"])
        outcome.changes.append({"place": place, "old": change["new"], "new": change["old"]})
    if len(set(outcome.entries)) < len(outcome.entries):
        raise Refusal("changed")
    return outcome


def _place_of(entries: Sequence[str], place: int, text: str | None) -> int:
    """Where the text is, best where it was; of None where it was."""
    if text is None:
        return min(place, len(entries))
    if entries[place : place + 1] == [text]:
        return place
    if text not in entries:
        raise Refusal("changed")
    return entries.index(text)


def edited(before: Sequence[str], after: Sequence[str]) -> Outcome:
    """What a person made of the whole text, as changes one after the other."""
    outcome = Outcome(list(before))
    for tag, start, end, new_start, new_end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        olds, news = before[start:end], after[new_start:new_end]
        for number, (old, new) in enumerate(zip_longest(olds, news)):
            # What came before is as it will be; a removed entry leaves its place to the next one.
            place = new_start + min(number, len(news))
            outcome.entries[place : place + (old is not None)] = [] if new is None else [new]
            outcome.changes.append({"place": place, "old": old, "new": new})
    return outcome


def check_budget(before: Sequence[str], after: Sequence[str], limit_chars: int, steps: Sequence[Step] = ()) -> None:
    """Raises Refusal `over_budget`. A store that is too full already may be made smaller, but nothing is added to it (§1.8)."""
    current, total = form.size(before), form.size(after)
    has_added = any(step.action == "add" for step in steps)
    if total <= limit_chars or (limit_chars < current and total < current and not has_added):
        return
    raise Refusal("over_budget", current=current, limit=limit_chars, total=total, asked=sum(len(step.content) for step in steps))


def _add(outcome: Outcome, step: Step) -> None:
    if step.content not in outcome.entries:
        outcome.changes.append({"place": len(outcome.entries), "old": None, "new": step.content})
        outcome.entries.append(step.content)


def _replace(outcome: Outcome, step: Step) -> None:
    match = find(outcome.entries, step.old_text)
    place, old = match.place, outcome.entries[match.place]
    outcome.is_folded |= match.is_folded
    if step.content == old:
        return
    outcome.previous.append((step.number, "replace", old))
    outcome.is_much_dropped |= len(step.old_text) * 2 < len(old) and _dropped(old, step.content) * 2 > len(old)
    twin = outcome.entries.index(step.content) if step.content in outcome.entries else None
    if twin is not None and twin < place:  # of two that would be the same the first stays
        _take(outcome, place)
        return
    if twin is not None:
        _take(outcome, twin)
    outcome.changes.append({"place": place, "old": old, "new": step.content})
    outcome.entries[place] = step.content


def _remove(outcome: Outcome, step: Step) -> None:
    match = find(outcome.entries, step.old_text)
    outcome.is_folded |= match.is_folded
    outcome.previous.append((step.number, "remove", outcome.entries[match.place]))
    _take(outcome, match.place)


def _take(outcome: Outcome, place: int) -> None:
    outcome.changes.append({"place": place, "old": outcome.entries.pop(place), "new": None})


def _dropped(old: str, new: str) -> int:
    """How many characters of the one are not in the other."""
    return (Counter(old) - Counter(new)).total()


_ACTIONS = {"add": _add, "replace": _replace, "remove": _remove}
