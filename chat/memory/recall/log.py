"""Recall as lines of JSON: `recall_log.jsonl`, one object a line, new ones at the end (seed 000 §3).

Each has `id` (of the run), `at`, `title`, `agent`, `input`, `output`, `keywords`. What comes in passes the same filter as a
run does; a line that is known already is passed over, so a file can be imported again after it has grown.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from django.db import transaction
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from chat.memory.recall.entries import HEAD_CHARS, INPUT_CHARS, KEY_CHARS, add
from chat.memory.redline_records import redact_and_record
from chat.models import Agent, Owner, RecallEntry, Run
from chat.text.storable import storable

LAYER: Final = "recall"
TITLE_CHARS: Final = 200
SOURCE_CHARS: Final = 40
LINES_AT_ONCE: Final = 200


@dataclass(slots=True)
class Imported:
    """How many lines are new, how many were known, and which (from 1) make no sense."""

    added: int = 0
    known: int = 0
    refused: list[int] = field(default_factory=list)


def export(owner: Owner) -> Iterator[str]:
    """A line for each of the owner's entries, in the order in which they were kept."""
    entries = RecallEntry.objects.filter(tenant_id=owner.tenant_id, user_id=owner.user_id).select_related("agent")
    for entry in entries.order_by("number"):
        line = {
            "id": entry.source,
            "at": entry.at.isoformat(),
            "title": entry.title,
            "agent": entry.agent.name if entry.agent else "",
            "input": entry.input,
            "output": entry.head,
            "keywords": entry.keywords,
        }
        yield json.dumps(line, ensure_ascii=False)


def load(owner: Owner, lines: Iterable[str]) -> Imported:
    """Takes lines in; those that make no sense are left out."""
    outcome = Imported()
    agents = {agent.name: agent.pk for agent in Agent.objects.filter(tenant_id=owner.tenant_id)}
    waiting: dict[str, RecallEntry] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        entry = _entry(owner, line, agents)
        if entry is None:
            outcome.refused.append(number)
        elif entry.source in waiting:
            outcome.known += 1
        else:
            waiting[entry.source] = entry
        if len(waiting) >= LINES_AT_ONCE:
            _store(owner, waiting, outcome)
            waiting = {}
    _store(owner, waiting, outcome)
    return outcome


def _store(owner: Owner, waiting: dict[str, RecallEntry], outcome: Imported) -> None:
    if not waiting:
        return
    with transaction.atomic():
        # A run that is here has its entry from the worker, or none because it is not to be recalled.
        here = set(Run.objects.filter(pk__in=waiting).values_list("pk", flat=True))
        kept = RecallEntry.objects.filter(tenant_id=owner.tenant_id, user_id=owner.user_id, source__in=list(waiting))
        known = here | set(kept.values_list("source", flat=True))
        new = [entry for source, entry in waiting.items() if source not in known]
        if new:
            add(owner, new)
    outcome.added += len(new)
    outcome.known += len(waiting) - len(new)


def _entry(owner: Owner, line: str, agents: dict[str, str]) -> RecallEntry | None:
    """The entry that a line describes, through the filter; None for a line that makes no sense."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    if not isinstance(found, dict):
        return None
    texts = {name: found.get(name, "") for name in ("id", "title", "agent", "input", "output", "keywords")}
    at = _time(found.get("at"))
    if at is None or not all(isinstance(text, str) for text in texts.values()) or not texts["input"].strip():
        return None
    source = texts["id"].strip()
    if not 0 < len(source) <= SOURCE_CHARS:
        return None
    kept = _filter(owner, source)
    return RecallEntry(
        tenant_id=owner.tenant_id,
        user_id=owner.user_id,
        agent_id=agents.get(texts["agent"]),
        source=source,
        title=kept(texts["title"])[:TITLE_CHARS],
        input=kept(texts["input"])[:INPUT_CHARS],
        head=kept(texts["output"])[:HEAD_CHARS],
        keywords=kept(texts["keywords"])[:KEY_CHARS],
        at=at,
    )


def _filter(owner: Owner, source: str) -> Callable[[str], str]:
    return lambda text: redact_and_record(owner, LAYER, storable(text), source)


def _time(value: object) -> datetime | None:
    if not isinstance(value, str):
        return None
    try:
        at = parse_datetime(value)
    except ValueError:
        return None
    if at is None or not 1990 <= at.year <= 9000:
        return None
    return timezone.make_aware(at) if timezone.is_naive(at) else at
