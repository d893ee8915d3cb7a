"""What conversations and ledgers were told of notes, with wordings taken out of it again."""

import math
import time
from collections.abc import Collection, Iterator
from typing import Any, Final

from django.db import transaction
from django.db.models import F, Q, QuerySet, TextField
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Cast

from chat.memory.ledger import rewrite
from chat.memory.notes import snapshot
from chat.memory.notes.base import Place
from chat.memory.notes.shown import harmless
from chat.models import NoteSnapshot, NoteTarget, RunLedger, Thread

NEEDLE_CHARS: Final = 40
CUT_CHARS: Final = 4
NEEDLES_AT_ONCE: Final = 20


class Late(Exception):
    """There is no time for the rest now; what has been done need not be done again."""


def forget_told(place: Place, gone: Collection[str], end: float = math.inf) -> None:
    """Puts the mark of what is erased in place of these entries; the rest stays byte for byte.

    Conversations first: a run that starts meanwhile either finds its frozen notes changed and reads them again, or has stored
    its ledger before those are looked through. Raises Late when it is not done by `end`, a monotonic time.
    """
    owner = place.owner
    threads = NoteSnapshot.objects.filter(thread__tenant_id=owner.tenant_id, thread__user_id=owner.user_id)
    ledgers = RunLedger.objects.filter(run__tenant_id=owner.tenant_id, run__user_id=owner.user_id)
    if place.target == NoteTarget.MEMORY:
        threads, ledgers = threads.filter(thread__agent_id=owner.agent_id), ledgers.filter(run__agent_id=owner.agent_id)
    for thread_id in _telling(threads, "text", gone, end):
        with transaction.atomic():
            # A run of the thread begins by updating this row.
            if Thread.objects.filter(pk=thread_id).update(last_position=F("last_position")):
                snapshot.forget(thread_id, place.target, gone)
    system = Cast(KeyTextTransform("text", KeyTransform("0", "segments")), TextField())
    for run_id in _telling(ledgers.annotate(system=system), "system", gone, end):
        rewrite(run_id, lambda segments: [_without(segment, place.target, gone) for segment in segments])


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
