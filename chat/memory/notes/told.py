"""What conversations, ledgers and calls of tools tell of notes, with wordings taken out of it again."""

import json
import math
import time
from collections.abc import Collection, Iterator
from typing import Any, Final

from django.db import transaction
from django.db.models import F, Q, QuerySet, TextField
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Cast

from chat.memory.ledger import ERASED, rewrite
from chat.memory.notes import entries as form
from chat.memory.notes import snapshot
from chat.memory.notes.base import Place
from chat.memory.notes.journal import ERASED_MARK
from chat.memory.notes.shown import harmless
from chat.models import NoteSnapshot, NoteTarget, Run, RunLedger, Thread

NEEDLE_CHARS: Final = 40
CUT_CHARS: Final = 4
NEEDLES_AT_ONCE: Final = 20
_TOOLS: Final = "memory_"  # begins the names of the tools that are given notes
_PIECE_CHARS: Final = 2  # a shorter piece by which an entry was named says nothing of it


class Late(Exception):
    """There is no time for the rest now; what has been done need not be done again."""


def forget_told(place: Place, gone: Collection[str], end: float = math.inf) -> None:
    """Puts the mark of what is erased in place of these entries; the rest stays byte for byte.

    Conversations first: a run that starts meanwhile either finds its frozen notes changed and reads them again, or has stored
    its ledger before those are looked through. Then what tools were given. Raises Late when it is not done by `end`, a monotonic time.
    """
    owner = place.owner
    runs = Run.objects.filter(tenant_id=owner.tenant_id, user_id=owner.user_id)
    threads = NoteSnapshot.objects.filter(thread__tenant_id=owner.tenant_id, thread__user_id=owner.user_id)
    ledgers = RunLedger.objects.filter(run__tenant_id=owner.tenant_id, run__user_id=owner.user_id)
    if place.target == NoteTarget.MEMORY:
        threads, ledgers = threads.filter(thread__agent_id=owner.agent_id), ledgers.filter(run__agent_id=owner.agent_id)
        runs = runs.filter(agent_id=owner.agent_id)
    for thread_id in _telling(threads, "text", gone, end):
        with transaction.atomic():
            # A run of the thread begins by updating this row.
            if Thread.objects.filter(pk=thread_id).update(last_position=F("last_position")):
                snapshot.forget(thread_id, place.target, gone)
    system = Cast(KeyTextTransform("text", KeyTransform("0", "segments")), TextField())
    for run_id in _telling(ledgers.annotate(system=system), "system", gone, end):
        rewrite(run_id, lambda segments: [_without(segment, place.target, gone) for segment in segments])
    _forget_calls(runs, place.target, gone, end)


def _forget_calls(runs: QuerySet[Run], target: NoteTarget, gone: Collection[str], end: float) -> None:
    """What the tools of notes were given, without these entries. A run that is going stores its calls at its end: then it is Late."""
    is_going = runs.filter(status__in=Run.GOING).exists()  # before they are looked through: it may end meanwhile
    calls = runs.annotate(calls=Cast("tool_calls", TextField())).filter(calls__contains=_TOOLS)
    for run_id, before in calls.values_list("pk", "tool_calls"):
        _check_time(end)
        after = [_call_without(call, target, gone) for call in before]
        if after != before:
            Run.objects.filter(pk=run_id).update(tool_calls=after)
    if is_going:
        raise Late


def _call_without(call: dict[str, Any], target: NoteTarget, gone: Collection[str]) -> dict[str, Any]:
    """The call with its name and outcome, and no word of what it was given when it tells one of these entries."""
    if not call["name"].startswith(_TOOLS) or call.get(ERASED_MARK):
        return call
    try:
        given = json.loads(call["arguments"])
    except ValueError:  # not even cut off it may be kept
        told = any(text in call["arguments"] for text in gone)
    else:
        # One that names no store that there is may have meant any.
        others = [one for one in NoteTarget.values if one != target]
        is_here = isinstance(given, dict) and given.get("target", NoteTarget.MEMORY) not in others
        told = is_here and any(_tells(one, gone) for one in [given, *_operations(given)])
    return call | {"arguments": json.dumps({"text": ERASED}, ensure_ascii=False), ERASED_MARK: True} if told else call


def _operations(given: dict[str, Any]) -> list[dict[str, Any]]:
    listed = given.get("operations")
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def _tells(given: dict[str, Any], gone: Collection[str]) -> bool:
    """Whether an entry is among the words, or what it was named by is a piece of one."""
    whole = [given.get("content"), given.get("new_content")]
    piece = given.get("old_text")
    return any(isinstance(text, str) and form.trimmed(text) in gone for text in whole) or (
        isinstance(piece, str) and len(piece.strip()) >= _PIECE_CHARS and any(piece.strip() in text for text in gone)
    )


def _telling(rows: QuerySet[Any], field: str, gone: Collection[str], end: float) -> Iterator[str]:
    """The keys of the rows that may tell of one of these entries."""
    shown = {form for text in gone for form in (text, harmless(text))}
    needles = sorted({max(form.split("\n"), key=len)[:NEEDLE_CHARS] for form in shown})
    beginnings = sorted({form.split("\n")[0][:CUT_CHARS] for form in shown})
    cut = Q(**{f"{field}__contains": snapshot.TOO_LONG})  # of an entry that was too long only the beginning is told
    found: dict[str, None] = {}
    for start in range(0, max(len(needles), len(beginnings)), NEEDLES_AT_ONCE):
        _check_time(end)
        told = Q()
        for needle in needles[start : start + NEEDLES_AT_ONCE]:
            told |= Q(**{f"{field}__contains": needle})
        for needle in beginnings[start : start + NEEDLES_AT_ONCE]:
            told |= cut & Q(**{f"{field}__contains": needle})
        found |= dict.fromkeys(rows.filter(told).values_list("pk", flat=True))
    for key in found:
        _check_time(end)
        yield key


def _check_time(end: float) -> None:
    if time.monotonic() >= end:
        raise Late


def _without(segment: dict[str, Any], target: NoteTarget, gone: Collection[str]) -> dict[str, Any]:
    if segment["name"] != "system":
        return segment
    return segment | {"text": snapshot.without(segment["text"], target, gone)}
