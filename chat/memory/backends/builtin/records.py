"""What the built-in backend keeps of a scope: confirmed facts and recall entries. Sync; each function is one piece of database work."""

from typing import Final

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from chat.memory.backends.base import MemoryItem, MemoryScope
from chat.memory.base import SegmentName
from chat.memory.core.journal import hold, linked_candidates
from chat.memory.core.propose import drop_runs
from chat.memory.core.use import facts_for
from chat.memory.core.wording import topics
from chat.memory.ledger import blank
from chat.memory.recall import entries as recall
from chat.models import Candidate, CoreEvent, Fact, Owner, RecallEntry, Run, Thread, Work
from chat.search.query import RELATED, Question, search

CATEGORY: Final = "recall"  # of a round; that of a fact is its kind
CORE: tuple[SegmentName, ...] = ("core",)  # the segments that tell of facts, and of rounds
RECALL: tuple[SegmentName, ...] = ("recall",)


def owner_of(scope: MemoryScope) -> Owner | None:
    """None for a scope that nobody here can have."""
    if not scope.user_id.isdecimal():
        return None
    return Owner(scope.tenant_id, int(scope.user_id), scope.agent_id or None)


def found(scope: MemoryScope, query: str, limit: int, category: str) -> list[MemoryItem]:
    """Facts of the scope, shared ones included, and rounds of its assistant, best first; of a blank query all, facts first."""
    owner = owner_of(scope)
    if owner is None or limit < 1:
        return []
    asked = query.strip()
    items = _facts(owner, asked, category) if category != CATEGORY else []
    if category in ("", CATEGORY):
        items += _related(owner, asked) if asked else _newest(owner, limit)
    if asked:
        items.sort(key=lambda item: item.score, reverse=True)
    return items[:limit]


def _facts(owner: Owner, asked: str, category: str) -> list[MemoryItem]:
    about = topics(asked) if asked else set()
    told = []
    for fact in facts_for(owner, asked):
        own = topics(fact.text)
        score = round(len(own & about) / max(1, len(own)), 4) if asked else 0.0
        if score or not asked:
            told.append((fact, score))
    kinds = dict(Fact.objects.filter(pk__in=[fact.pk for fact, _ in told]).values_list("pk", "kind"))
    items = [MemoryItem(fact.pk, fact.text, kinds.get(fact.pk, ""), score, f"core/{fact.pk}") for fact, score in told]
    return [item for item in items if category in ("", item.category)]


def _related(owner: Owner, asked: str) -> list[MemoryItem]:
    hits = search(owner.tenant_id, owner.user_id, recall.KIND, Question(asked, timezone.localdate()))
    scores = {hit.number: hit.score for hit in hits if hit.score > RELATED}
    entries = _entries(owner).filter(number__in=scores)
    return [_item(entry, round(scores[entry.number], 4)) for entry in entries]


def _newest(owner: Owner, limit: int) -> list[MemoryItem]:
    return [_item(entry, 0.0) for entry in _entries(owner).order_by("-at", "-pk")[:limit]]


def _entries(owner: Owner) -> QuerySet[RecallEntry]:
    """Those of the scope's assistant, without rounds that were replaced or put away."""
    is_current = Q(run=None) | Q(run__is_latest=True)
    is_there = Q(thread=None) | Q(thread__status=Thread.Status.ACTIVE)
    return RecallEntry.objects.filter(is_current, is_there, tenant_id=owner.tenant_id, user_id=owner.user_id, agent_id=owner.agent_id)


def _item(entry: RecallEntry, score: float) -> MemoryItem:
    text = "\n".join(part for part in (entry.input, entry.head) if part)
    return MemoryItem(recall.name_of(entry), text, CATEGORY, score, f"recall/{entry.pk}")


def mark(scope: MemoryScope, thread_id: str) -> None:
    """Says that the thread is to be caught up, when it is one of the scope."""
    owner = owner_of(scope)
    if owner is None:
        return
    with transaction.atomic():
        if Thread.objects.filter(pk=thread_id, tenant_id=owner.tenant_id, user_id=owner.user_id, agent_id=owner.agent_id).exists():
            Work.objects.mark(Work.Kind.THREAD, thread_id)


def forget_scope(scope: MemoryScope) -> None:
    """Erases facts, candidates and rounds of the scope with all history, and takes their words out of every ledger.

    Of a scope without an assistant that is what holds for all of them. Unlike what a teacher deletes, nothing stays that
    would keep it from being learnt again, and nothing can be undone.
    """
    owner = owner_of(scope)
    if owner is None:
        return
    own = {"tenant_id": owner.tenant_id, "user_id": owner.user_id}
    with transaction.atomic():
        # In the order of everything that writes here: threads, the teacher's core memory, the index.
        Thread.objects.filter(**own, agent_id=owner.agent_id).update(summary_upto_slot=F("summary_upto_slot"))
        hold(owner.user_id)
        facts = list(Fact.objects.filter(**own, agent_id=owner.agent_id))
        made_of = {
            candidate.pk for fact in facts for candidate in linked_candidates(fact) if candidate.status == Candidate.Status.CONFIRMED
        }
        # What was removed lately is known to its history alone, for undo.
        CoreEvent.objects.filter(**own, fact=None, candidate=None, before__agent_id=owner.agent_id).delete()
        Candidate.objects.filter(Q(agent_id=owner.agent_id) | Q(pk__in=made_of), **own).delete()
        Fact.objects.filter(pk__in=[fact.pk for fact in facts]).delete()
        blank(owner.user_id, [fact.pk for fact in facts], within=CORE)
        _erase_rounds(owner, RecallEntry.objects.filter(**own, agent_id=owner.agent_id))


def forget_thread(scope: MemoryScope, thread_id: str) -> None:
    """Erases the rounds of one thread of the scope, and what waits because of it alone."""
    owner = owner_of(scope)
    if owner is None:
        return
    own = {"tenant_id": owner.tenant_id, "user_id": owner.user_id, "agent_id": owner.agent_id}
    with transaction.atomic():
        Thread.objects.filter(pk=thread_id, **own).update(summary_upto_slot=F("summary_upto_slot"))
        hold(owner.user_id)
        drop_runs(owner, Run.objects.filter(thread_id=thread_id, **own).values_list("pk", flat=True))
        _erase_rounds(owner, RecallEntry.objects.filter(thread_id=thread_id, **own))


def _erase_rounds(owner: Owner, found: QuerySet[RecallEntry]) -> None:
    entries = list(found)
    recall.drop(owner, entries)
    blank(owner.user_id, [recall.name_of(entry) for entry in entries], within=RECALL)
