"""Core memory as a JSON file, out and in.

The file is for people, too: {"format", "version", "exported_at", "facts": […], "candidates": […]}. What comes in waits
for its owner like anything else, whatever status the file claims; it passes the same filter, and keeps `created_at`.
"""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from chat.memory.blocked import threat_of
from chat.memory.core.extract_prompt import confidence_of
from chat.memory.core.propose import Proposal, Proposed, propose
from chat.memory.core.wording import normal_form
from chat.models import Agent, Candidate, Fact, Owner
from chat.models.core import FACT_MAX_CHARS, Kind

FORMAT = "core-memory"
VERSION = 1
BYTES_MOST = 1024 * 1024
ITEMS_MOST = 5_000
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)


class BadFile(Exception):
    """The file cannot be read as core memory. `code` says why, `at` is the line (from 1) where it stops making sense.

    Codes: too_large, not_text, not_json, not_ours, newer_version, too_many.
    """

    def __init__(self, code: str, at: int = 0) -> None:
        super().__init__(f"{code} {at}".strip())
        self.code, self.at = code, at


@dataclass(frozen=True, slots=True)
class Refused:
    """An item that was not taken. `place` is its list and number (from 1) in the file, such as `facts 3`.

    `reason` is one of not_an_object, no_text, too_long, bad_kind, bad_date, unknown_agent, stopped (then `rules` says by
    what), threat (then `category` says which), full.
    """

    place: str
    reason: str
    rules: tuple[str, ...] = ()
    category: str = ""


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of a file: how many wait now, how many were known or waiting before, and what was not taken."""

    waiting: int
    known: int
    refused: list[Refused]


# --- Out. ---


def export(user: AbstractBaseUser, tenant_id: str) -> dict[str, Any]:
    """All of the user's core memory in the school but what was deleted, oldest first."""
    facts = _own(Fact.objects.for_user(user), tenant_id).exclude(status=Fact.Status.DELETED)
    candidates = _own(Candidate.objects.for_user(user), tenant_id).exclude(status=Candidate.Status.CONFIRMED)
    return {
        "format": FORMAT,
        "version": VERSION,
        "exported_at": _time(timezone.now()),
        "facts": [
            _fields(fact)
            | {
                "is_pinned": fact.is_pinned,
                "confirmed_at": _time(fact.confirmed_at),
                "uses": fact.uses,
                "last_used_at": _time(fact.last_used_at),
            }
            for fact in facts
        ],
        "candidates": [_fields(one) | {"confidence": one.confidence, "seen": one.seen, "reason": one.reason} for one in candidates],
    }


def as_text(exported: dict[str, Any]) -> str:
    """The file as it is downloaded."""
    return json.dumps(exported, ensure_ascii=False, indent=2) + "\n"


def _own(rows: "QuerySet[Any]", tenant_id: str) -> "QuerySet[Any]":
    return rows.filter(tenant_id=tenant_id).select_related("agent").order_by("created_at", "pk")


def _fields(row: Fact | Candidate) -> dict[str, Any]:
    return {
        "text": row.text,
        "kind": row.kind,
        "status": row.status,
        "assistant": row.agent.name if row.agent else None,
        "quote": row.quote,
        "created_at": _time(row.created_at),
    }


def _time(at: datetime | None) -> str | None:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z") if at else None


# --- In. ---


def import_file(user: AbstractBaseUser, tenant_id: str, data: bytes) -> Imported:
    """Lets the items of a file wait for the user's decision in the school. Raises BadFile, and then takes nothing."""
    found = list(_items(_parsed(data)))
    if len(found) > ITEMS_MOST:
        raise BadFile("too_many")
    agents = {name: pk for pk, name in Agent.objects.for_user(user).filter(tenant_id=tenant_id).values_list("pk", "name")}
    refused: list[Refused] = []
    places: list[str] = []
    proposals: list[Proposal] = []
    for place, item in found:
        proposal = _proposal(item, agents)
        if isinstance(proposal, str):
            refused.append(Refused(place, proposal))
        elif category := _threat_of(proposal):
            refused.append(Refused(place, "threat", category=category))
        else:
            places.append(place)
            proposals.append(proposal)
    became = propose(Owner(tenant_id, user.pk), proposals, source_id="import")
    refused += [Refused(place, one.became, one.rules) for place, one in zip(places, became, strict=True) if _is_refusal(one)]
    counts = Counter(one.became for one in became)
    order = {place: i for i, (place, _) in enumerate(found)}
    return Imported(counts["new"], counts["seen"] + counts["known"], sorted(refused, key=lambda one: order[one.place]))


def _threat_of(proposal: Proposal) -> str:
    """A file is somebody's text: what reads like orders is not even put before its owner."""
    return next((category for text in (proposal.text, proposal.quote, proposal.reason) if (category := threat_of(text))), "")


def _is_refusal(one: Proposed) -> bool:
    return one.became in ("stopped", "full", "empty", "too_long")


def _parsed(data: bytes) -> dict[str, Any]:
    if len(data) > BYTES_MOST:
        raise BadFile("too_large")
    try:
        value = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise BadFile("not_text", data.count(b"\n", 0, error.start) + 1) from None
    except json.JSONDecodeError as error:
        raise BadFile("not_json", error.lineno) from None
    except (ValueError, RecursionError):  # a number of thousands of digits, lists in lists without end
        raise BadFile("not_json") from None
    lists = [value.get(name, []) for name in ("facts", "candidates")] if isinstance(value, dict) else []
    if not isinstance(value, dict) or value.get("format") != FORMAT or not all(isinstance(one, list) for one in lists):
        raise BadFile("not_ours")
    version = value.get("version")
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise BadFile("not_ours")
    if version > VERSION:
        raise BadFile("newer_version")
    return value


def _items(value: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name in ("facts", "candidates"):
        for i, item in enumerate(value.get(name, []), start=1):
            yield f"{name} {i}", item


def _proposal(item: object, agents: dict[str, str]) -> Proposal | str:
    """The item as a proposal, or why it is none."""
    if not isinstance(item, dict):
        return "not_an_object"
    text = item.get("text")
    if not isinstance(text, str) or not normal_form(text):
        return "no_text"
    if len(" ".join(text.split())) > FACT_MAX_CHARS:
        return "too_long"
    kind = item.get("kind", Kind.PROFILE)
    if kind not in Kind.values:
        return "bad_kind"
    created_at = _moment(item.get("created_at"))
    if item.get("created_at") is not None and created_at is None:
        return "bad_date"
    assistant = item.get("assistant")
    if assistant is not None and (not isinstance(assistant, str) or assistant not in agents):
        return "unknown_agent"
    return Proposal(
        text=text,
        kind=kind,
        agent_id=agents[assistant] if assistant else None,
        confidence=confidence_of(item.get("confidence")),
        quote=_words(item.get("quote")),
        reason=_words(item.get("reason")),
        created_at=created_at,
    )


def _moment(value: object) -> datetime | None:
    """A time with its zone between the year 2000 and tomorrow; None for anything else."""
    try:
        at = parse_datetime(value) if isinstance(value, str) else None
    except ValueError:
        return None
    if at is None or at.tzinfo is None or not EARLIEST <= at <= timezone.now() + timedelta(days=1):
        return None
    return at


def _words(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""
