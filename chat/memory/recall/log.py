"""Recall as lines of JSON: `recall_log.jsonl`, one object a line, new ones at the end (seed 000 §3).

Each has `id` (of the run), `at`, `title`, `agent`, `input`, `output`, `keywords`. What comes in passes the same filter as a
run does, and counts as of no model service known here; a line that is known already is passed over, so a file can be
imported again after it has grown.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from chat.memory.recall.entries import KEY_CHARS, add, parts_of
from chat.memory.recall.keep import LAYER, Stopped, redacted
from chat.memory.redline_records import record_all
from chat.models import Agent, Owner, RecallEntry, Run
from chat.text.redlines import head_of
from chat.text.storable import storable

TITLE_CHARS: Final = 200
SOURCE_CHARS: Final = 40
LINES_AT_ONCE: Final = 200
LINE_CHARS: Final = 4_000_000  # ten times the longest answer
FIELDS: Final = ("id", "title", "agent", "input", "output", "keywords")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A line (from 1) that makes no sense, and why."""

    line: int
    reason: str


@dataclass(slots=True)
class Imported:
    """How many lines are new and how many were known, and which were left out."""

    added: int = 0
    known: int = 0
    refused: list[Refusal] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Line:
    """What a line says, as it was read; `texts` by FIELDS."""

    source: str
    at: datetime
    texts: dict[str, str]


class Senseless(Exception):
    """A line cannot be used; the message says why."""


def export(owner: Owner) -> Iterator[str]:
    """A line for each of the owner's entries, in the order in which they were kept, without those of replaced runs."""
    entries = RecallEntry.objects.filter(Q(run=None) | Q(run__is_latest=True), tenant_id=owner.tenant_id, user_id=owner.user_id)
    for entry in entries.select_related("agent").order_by("number").iterator(LINES_AT_ONCE):
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
    waiting: dict[str, Line] = {}
    for number, text in enumerate(lines, start=1):
        if not text.strip():
            continue
        try:
            line = read(text)
        except Senseless as error:
            outcome.refused.append(Refusal(number, str(error)))
            continue
        if line.source in waiting:
            outcome.known += 1
        else:
            waiting[line.source] = line
        if len(waiting) >= LINES_AT_ONCE:
            _store(owner, waiting, agents, outcome)
            waiting = {}
    _store(owner, waiting, agents, outcome)
    return outcome


def _store(owner: Owner, waiting: dict[str, Line], agents: dict[str, str], outcome: Imported) -> None:
    own = {"tenant_id": owner.tenant_id, "user_id": owner.user_id}
    # A run of the owner that is here has its entry from the worker, or none because it is not to be recalled.
    known = set(Run.objects.filter(pk__in=waiting, **own).values_list("pk", flat=True))
    known |= set(RecallEntry.objects.filter(source__in=list(waiting), **own).values_list("source", flat=True))
    entries, found = [], {}
    for source, line in waiting.items():
        if source not in known:
            stopped: list[Stopped] = []
            entries.append(_entry(owner, line, agents, stopped))
            found[source] = stopped
    if entries:
        with transaction.atomic():
            added = add(owner, entries)
            for source, stopped in found.items():
                record_all(owner, LAYER, stopped, source_id=source)
        outcome.added += added
        outcome.known -= added
    outcome.known += len(waiting)


def read(text: str) -> Line:
    """What a line says. Raises Senseless."""
    if len(text) > LINE_CHARS:
        raise Senseless(f"longer than {LINE_CHARS} characters")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise Senseless("not JSON") from None
    if not isinstance(found, dict):
        raise Senseless("not an object")
    texts: dict[str, str] = {}
    for name in FIELDS:
        value = found.get(name, "")
        if not isinstance(value, str):
            raise Senseless(f"`{name}` is not a text")
        texts[name] = storable(value)
    if not texts["input"].strip():
        raise Senseless("`input` is empty")
    source = texts["id"].strip()
    if not 0 < len(source) <= SOURCE_CHARS:
        raise Senseless(f"`id` does not have 1 to {SOURCE_CHARS} characters")
    return Line(source, _time(found.get("at")), texts)


def _entry(owner: Owner, line: Line, agents: dict[str, str], stopped: list[Stopped]) -> RecallEntry:
    """The entry that a line describes, through the filter; not saved yet."""
    texts = line.texts
    parts = parts_of(texts["input"], texts["output"], lambda text: redacted(text, stopped))
    title = redacted(" ".join(head_of(texts["title"], 4 * TITLE_CHARS).split()), stopped)
    keywords = redacted(head_of(texts["keywords"].strip(), 4 * KEY_CHARS), stopped) or parts.keywords
    return RecallEntry(
        tenant_id=owner.tenant_id,
        user_id=owner.user_id,
        agent_id=agents.get(texts["agent"]),
        source=line.source,
        title=title[:TITLE_CHARS],
        input=parts.input,
        head=parts.head,
        keywords=keywords[:KEY_CHARS],
        at=line.at,
    )


def _time(value: object) -> datetime:
    at = None
    if isinstance(value, str):
        try:
            at = parse_datetime(value)
        except ValueError:
            at = None
    if at is None or not 1990 <= at.year <= 9000:
        raise Senseless("`at` is not a time (ISO 8601)")
    return timezone.make_aware(at) if timezone.is_naive(at) else at
