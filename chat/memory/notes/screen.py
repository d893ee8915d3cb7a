"""The checks before any lock: is the write complete, and may its text be kept (specs/notes_memory.md §1.3 steps 1 to 3)."""

from collections.abc import Collection, Sequence
from typing import Any, Final

from chat.memory.blocked import threat_of
from chat.memory.core.keep import REFUSED_KINDS
from chat.memory.notes import entries as form
from chat.memory.notes.base import Author, Place, Write
from chat.memory.notes.batch import Step
from chat.memory.notes.refusals import OPERATIONS_MOST, Refusal
from chat.memory.redline_records import record_all
from chat.models import NoteOp
from chat.text.redlines import find

LAYER: Final = "notes"
BY_HAND: Final = frozenset({NoteOp.Origin.PANEL, NoteOp.Origin.UPLOAD})
_NEEDS: Final = {"add": ("content",), "replace": ("old_text", "content"), "remove": ("old_text",)}


def steps_of(write: Write, limit_chars: int) -> list[Step]:
    """The write as trimmed, complete steps; raises Refusal."""
    if write.verb == "batch":
        return _batch(write.operations, limit_chars)
    step = Step(write.verb, form.trimmed(write.content), form.trimmed(write.old_text))
    for name in _NEEDS[write.verb]:
        if not getattr(step, name):
            raise Refusal(f"empty_{name}", action=step.action)
    check_shape(step, limit_chars)
    return [step]


def _batch(operations: Sequence[Any], limit_chars: int) -> list[Step]:
    if not operations:
        raise Refusal("empty_batch")
    if len(operations) > OPERATIONS_MOST:
        raise Refusal("too_many_operations", chars=len(operations))
    steps = []
    for number, operation in enumerate(operations, 1):
        step = _operation(number, operation)
        check_shape(step, limit_chars)
        steps.append(step)
    return steps


def _operation(number: int, operation: Any) -> Step:  # noqa: ANN401 (a model wrote it)
    action = operation.get("action") if isinstance(operation, dict) else None
    if not isinstance(action, str) or action not in _NEEDS:
        raise Refusal("bad_operation", number=number, action=action[:40] if isinstance(action, str) else "")
    # `new_content` is what memory_replace calls it; models mix the two up.
    given = {"content": operation.get("content") or operation.get("new_content"), "old_text": operation.get("old_text")}
    texts = {name: form.trimmed(text) if isinstance(text, str) else "" for name, text in given.items()}
    for name in _NEEDS[action]:
        if not texts[name]:
            raise Refusal("bad_operation", number=number, action=action, missing=name)
    return Step(action, texts["content"] if action != "remove" else "", texts["old_text"] if action != "add" else "", number)


def check_texts(steps: Sequence[Step], place: Place, author: Author, accepted: Collection[str] = ()) -> None:
    """Raises Refusal when what is to be written is stopped by the red lines (with a record for its owner) or is a threat.

    Of what a person types the red lines stop some kinds; of others they ask once, unless they are `accepted` (§6.1).
    """
    for step in steps:
        if hits := find(step.content):
            kinds = tuple(dict.fromkeys(hit.kind for hit in hits))
            is_by_hand = author.origin in BY_HAND
            if is_by_hand and not REFUSED_KINDS.intersection(kinds) and set(kinds) <= set(accepted):
                continue
            source_id = author.run_id or author.review_id or ""
            record_all(place.owner, LAYER, [(step.content, hits)], source_id=source_id, is_again=is_by_hand)
            if is_by_hand and not REFUSED_KINDS.intersection(kinds):
                raise Refusal("ask", category=",".join(kinds))
            kind = next((kind for kind in kinds if kind in REFUSED_KINDS), kinds[0])
            raise Refusal("redline", number=step.number, action=step.action, kind=kind)
    check_threats(steps)


def check_threats(steps: Sequence[Step]) -> None:
    for step in steps:
        if step.content and (category := threat_of(step.content)):
            raise Refusal("threat_blocked", number=step.number, action=step.action, category=category)


def check_shape(step: Step, limit_chars: int) -> None:
    if line := form.separator_line(step.content):
        raise Refusal("reserved_separator", number=step.number, action=step.action, line=line)
    if len(step.content) > limit_chars:
        raise Refusal("too_long_for_store", number=step.number, action=step.action, chars=len(step.content), limit=limit_chars)
