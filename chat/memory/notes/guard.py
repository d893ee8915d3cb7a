"""The loop protection of one run or review: what its writing tools may still try (specs/notes_memory.md §1.7).

Three failures that a model can correct, then the next one ends it; the same call that failed once ends it; so do a text that would be
as it was before in this run, and a seventh write. A text that is changed gives the three tries back, one that was there already does
not. A store that others hold is no failure of the model, but the third wait for one ends it, too. What it has met is a NoteGuard
row, so that a restart forgets nothing.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from chat.memory.notes.base import Result
from chat.memory.notes.refusals import ANSWER, FREE
from chat.models import NoteGuard, NoteReview, Run

FAILURES_MOST: Final = 3
WRITES_MOST: Final = 6
BUSY_MOST: Final = 3  # waits of seconds each, that hold a thread which others need; they count for nothing else
REASON_CHARS: Final = 300
_STOP: Final = f"不要再调用会写入的记忆工具，笔记保持现状，{ANSWER}。"
_KEPT: Final = ("success", "code", "operation", "action", "category", "kind", "backup", "limit", "allowed")  # no entries


def guarded(subject_id: str, thread_id: str, tool_name: str, arguments: Mapping[str, Any], call: Callable[[], Result]) -> Result:
    """Makes the call, or says why not. `subject_id` is the run's or the review's key; `call` is one writing tool of it."""
    guard, _ = NoteGuard.objects.get_or_create(pk=subject_id, defaults=_defaults(subject_id, thread_id))
    if guard.is_terminal:
        return _terminal(_last(guard))
    key = _key(tool_name, arguments)
    if key in guard.failed:
        return _end(guard, _last(guard))
    if guard.writes >= WRITES_MOST:
        message = f"本轮已经写入 {WRITES_MOST} 次。"
        return _end(guard, Result({"success": False, "code": "too_many_writes", "message": message}, "too_many_writes"))
    result = call()
    if result.is_done:
        _note_success(guard, result)
        return result
    if result.code in FREE:
        guard.failed = [*guard.failed, result.code]
        if guard.failed.count(result.code) >= BUSY_MOST:
            return _end(guard, result)
        guard.save(update_fields=["failed"])
        return result
    guard.failures += 1
    guard.failed = [*guard.failed, key]
    if result.is_terminal or guard.failures > FAILURES_MOST:
        return _end(guard, result)
    guard.last_reason = _reason(result)
    guard.save(update_fields=["failures", "failed", "last_reason"])
    return result


def states_of(subject_id: str | None) -> frozenset[str]:
    """The states that stores have had in this run; a write that leads back to one of them is refused as `flip_flop`."""
    states = NoteGuard.objects.filter(pk=subject_id).values_list("states", flat=True).first() if subject_id else None
    return frozenset(states or ())


def _defaults(subject_id: str, thread_id: str) -> dict[str, Any]:
    """A run after one that ended terminally has one try less than two."""
    return {"thread_id": thread_id, "failures": FAILURES_MOST - 1 if _was_terminal(subject_id, thread_id) else 0}


def _was_terminal(subject_id: str, thread_id: str) -> bool:
    """Whether the turn before this one, or the review before, ended terminally."""
    run = Run.objects.filter(pk=subject_id).only("position").first()
    if run is not None:
        runs = Run.objects.filter(thread_id=thread_id, position__lt=run.position).order_by("-position")
        previous = runs.values_list("pk", flat=True).first()
    else:
        reviews = NoteReview.objects.filter(thread_id=thread_id).exclude(pk=subject_id).order_by("-created_at", "-pk")
        previous = reviews.values_list("pk", flat=True).first()
    return NoteGuard.objects.filter(pk=previous, is_terminal=True).exists()


def _note_success(guard: NoteGuard, result: Result) -> None:
    if not result.payload.get("changed"):
        return
    guard.writes += 1
    guard.failures = 0
    guard.states = list(dict.fromkeys([*guard.states, *result.states]))
    guard.save(update_fields=["writes", "failures", "states"])


def _end(guard: NoteGuard, result: Result) -> Result:
    guard.is_terminal = True
    guard.last_reason = _reason(result)
    guard.save(update_fields=["failures", "failed", "is_terminal", "last_reason"])
    return _terminal(result)


def _terminal(result: Result) -> Result:
    """The answer that stops: no entries to go on with, and the last concrete reason."""
    payload = {name: value for name, value in result.payload.items() if name in _KEPT}
    reason = str(result.payload.get("message", ""))
    told = reason if ANSWER in reason else f"{reason}{_STOP}"
    return replace(result, payload=payload | {"done": True, "message": told}, is_terminal=True)


def _reason(result: Result) -> str:
    """The code and the sentence, as the row keeps them."""
    return f"{result.code}\n{result.payload.get('message', '')}"[:REASON_CHARS]


def _last(guard: NoteGuard) -> Result:
    code, _, message = guard.last_reason.partition("\n")
    return Result({"success": False, "code": code, "message": message}, code)


def _key(tool_name: str, arguments: Mapping[str, Any]) -> str:
    said = json.dumps([tool_name, arguments], sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:32]
