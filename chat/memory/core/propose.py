"""Propose: what was extracted or imported becomes candidates, merged with what is known; nothing here confirms.

What the filter stops leaves a masked record and nothing else. What people have rejected or deleted is not proposed again.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from chat.memory import redline_records
from chat.memory.core.journal import hold
from chat.memory.core.keep import LAYER
from chat.memory.core.wording import contradicts, normal_form
from chat.models import Candidate, CoreEvent, Fact, Owner, Run
from chat.models.core import FACT_MAX_CHARS, Kind
from chat.text.redlines import Hit, find, redact
from chat.text.storable import storable

PENDING_MOST = 1_000
EVENTS_MOST = 20  # of "seen" and "used" for one row; older ones say nothing new
QUOTE_CHARS, REASON_CHARS = 400, 200
SHARED_KINDS = (Kind.PROFILE, Kind.TEACHING)  # true whoever is asked; wishes are at first for the assistant that heard them

Became = Literal["new", "seen", "known", "stopped", "empty", "too_long", "full"]
# new       a candidate waits
# seen      it was waiting already; counted once for each run
# known     confirmed, archived, rejected or deleted before
# stopped   by the filter (`kinds`, `rules`)
# full      so many wait that no more are taken


@dataclass(frozen=True, slots=True)
class Proposal:
    """Something that may become a candidate. `agent_id` None: for all assistants."""

    text: str
    kind: str
    agent_id: str | None = None
    confidence: float = 0.5
    quote: str = ""
    reason: str = ""
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Proposed:
    """What became of a proposal."""

    became: Became
    candidate_id: str = ""
    kinds: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()


def propose(owner: Owner, proposals: Sequence[Proposal], *, run: Run | None = None, source_id: str = "") -> list[Proposed]:
    """Stores candidates of the owner, in one transaction; from an import when there is no run."""
    with transaction.atomic():
        hold(owner.user_id)
        book = _Book(owner, run, source_id or (run.pk if run else ""))
        proposed = [book.propose(one) for one in proposals]
        redline_records.record_all(owner, LAYER, book.stopped, source_id=book.source_id)
        return proposed


class _Book:
    """What is known of the owner while proposals come in."""

    def __init__(self, owner: Owner, run: Run | None, source_id: str) -> None:
        self.owner, self.run, self.source_id = owner, run, source_id
        self.rows = {"tenant_id": owner.tenant_id, "user_id": owner.user_id}
        self.stopped: list[tuple[str, list[Hit]]] = []
        self.waiting = Candidate.objects.filter(**self.rows, status=Candidate.Status.PENDING).count()
        self.confirmed = list(Fact.objects.filter(**self.rows, status=Fact.Status.CONFIRMED).order_by("-confirmed_at"))

    def propose(self, proposal: Proposal) -> Proposed:
        text = " ".join(storable(proposal.text).split())
        normal = normal_form(text)
        if not normal or len(text) > FACT_MAX_CHARS:
            return Proposed("too_long" if normal else "empty")
        if hits := find(text):
            self.stopped.append((text, hits))
            kinds, rules = dict.fromkeys(hit.kind for hit in hits), dict.fromkeys(hit.rule for hit in hits)
            return Proposed("stopped", kinds=tuple(kinds), rules=tuple(rules))
        if Fact.objects.filter(**self.rows, normal=normal).exists():
            return Proposed("known")
        known = Candidate.objects.filter(**self.rows, normal=normal).first()
        if known is None:
            return self._new(proposal, text, normal)
        if known.status != Candidate.Status.PENDING:
            return Proposed("known")
        self._seen(known, proposal)
        return Proposed("seen", known.pk)

    def _new(self, proposal: Proposal, text: str, normal: str) -> Proposed:
        if self.waiting >= PENDING_MOST:
            return Proposed("full")
        now = timezone.now()
        here = (fact for fact in self.confirmed if fact.agent_id in (None, proposal.agent_id))
        candidate = Candidate.objects.create(
            **self.rows,
            agent_id=proposal.agent_id,
            text=text,
            normal=normal,
            kind=proposal.kind,
            confidence=proposal.confidence,
            reason=redact(storable(proposal.reason))[:REASON_CHARS],
            quote=_kept_quote(proposal.quote),
            origin=Candidate.Origin.EXTRACTION if self.run else Candidate.Origin.IMPORT,
            source_run=self.run,
            thread_id=self.run.thread_id if self.run else None,
            contradicts=next((fact for fact in here if contradicts(text, fact.text)), None),
            created_at=proposal.created_at or now,
            updated_at=now,
        )
        self.waiting += 1
        self._event(candidate, "proposed", {"text": text, "quote": candidate.quote})
        return Proposed("new", candidate.pk)

    def _seen(self, candidate: Candidate, proposal: Proposal) -> None:
        told = CoreEvent.objects.filter(candidate=candidate, verb__in=["proposed", "seen"])
        if self.run is None or told.filter(after__run=self.run.pk).exists():
            return
        Candidate.objects.filter(pk=candidate.pk).update(seen=F("seen") + 1, updated_at=timezone.now())
        self._event(candidate, "seen", {"quote": _kept_quote(proposal.quote)})
        keep_newest(CoreEvent.objects.filter(candidate=candidate, verb="seen"))

    def _event(self, candidate: Candidate, verb: str, after: dict[str, Any]) -> None:
        if self.run:
            after |= {"run": self.run.pk}
        CoreEvent.objects.create(**self.rows, candidate=candidate, verb=verb, after=after)


def _kept_quote(quote: str) -> str:
    return redact(storable(quote))[:QUOTE_CHARS]


def keep_newest(events: "QuerySet[CoreEvent]") -> None:
    """Of these events only the newest EVENTS_MOST stay."""
    old = list(events.order_by("-pk").values_list("pk", flat=True)[EVENTS_MOST:])
    if old:
        CoreEvent.objects.filter(pk__in=old).delete()


def drop_runs(owner: Owner, run_ids: Iterable[str]) -> None:
    """Drops what waits because of these runs alone; they are no longer part of the conversation.

    A candidate that other runs have said too stays with them. To be called inside a transaction that holds the owner.
    """
    told = CoreEvent.objects.filter(user_id=owner.user_id, tenant_id=owner.tenant_id, verb__in=["proposed", "seen"])
    dropped = list(told.filter(after__run__in=list(run_ids), candidate__status=Candidate.Status.PENDING).select_related("candidate"))
    for event in dropped:
        candidate = event.candidate
        if candidate is None:
            continue
        rest = told.filter(candidate=candidate).exclude(pk=event.pk).order_by("pk").first()
        if rest is None:
            Candidate.objects.filter(pk=candidate.pk, status=Candidate.Status.PENDING).delete()
            continue
        run = Run.objects.filter(pk=rest.after.get("run")).only("pk", "thread_id").first()
        Candidate.objects.filter(pk=candidate.pk).update(
            seen=F("seen") - 1,
            source_run=run,
            thread_id=run.thread_id if run else None,
            quote=rest.after.get("quote", ""),
        )
        CoreEvent.objects.filter(pk=event.pk).delete()
