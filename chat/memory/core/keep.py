"""How a fact is kept: the checks of its wording and its twins, the room it needs, and what becomes of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from django.db.models import Q

from chat.memory import redline_records
from chat.memory.core.journal import Journal
from chat.memory.core.room import Full, in_the_way
from chat.models import Candidate, Fact, Owner
from chat.models.core import FACT_MAX_CHARS
from chat.text.redlines import find

Outcome = Literal["done", "already", "gone", "stopped", "ask", "too_long", "empty", "duplicate", "full", "nothing"]
# done       it was done now
# already    it had been done before, here or elsewhere (the row `item_id` shows it; `fact_id` is what a candidate became)
# gone       the item does not exist any more, or never did for this user
# stopped    the filter refuses this wording (`kinds`, `rules`)
# ask        the filter asks once: call again with `accepted=kinds`
# too_long, empty, duplicate   the wording cannot be kept (`fact_id` is the twin)
# full       all thirty facts of the scope are pinned
# nothing    there is nothing to undo

REFUSED_KINDS = frozenset({"id_card", "id_doc", "bank_card"})
LAYER = "core"


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one item. `item_id` is the one that was asked for, `evicted_id` the fact that was archived to make room."""

    item_id: str
    outcome: Outcome
    decision_id: str = ""
    fact_id: str = ""
    evicted_id: str = ""
    kinds: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wish:
    """How a fact is to be kept."""

    accepted: Sequence[str] = ()
    replaces: str = ""
    candidate: Candidate | None = None


def keep(book: Journal, fact: Fact, wish: Wish) -> Result:
    """Confirms the fact, which is not stored yet, or says why not."""
    item = book.item if wish.candidate else ""
    if refusal := refusal_of(fact, wish.accepted, item):
        return refusal
    if twin := twin_of(fact, wish.replaces):
        return Result(item, "duplicate", fact_id=twin.pk)
    replaced = book.rows(Fact, [wish.replaces]).get(wish.replaces) if wish.replaces else None
    try:
        others = in_the_way(fact, wish.replaces)
    except Full:
        return Result(item, "full")
    decision_id = book.decision_id(fact.tenant_id)
    if replaced and replaced.status == Fact.Status.CONFIRMED and replaced.tenant_id == fact.tenant_id:
        book.change(replaced, status=Fact.Status.ARCHIVED)
    for other in others:
        book.change(other, "evicted", status=Fact.Status.ARCHIVED)
    fact.decision_id, fact.confirmed_at, fact.updated_at = decision_id, book.now, book.now
    fact = _store(book, fact, wish.candidate)
    if wish.candidate:
        book.change(wish.candidate, status=Candidate.Status.CONFIRMED, decision_id=decision_id, later_until=None)
    settle_candidates(book, fact)
    return Result(item or fact.pk, "done", decision_id, fact.pk, others[0].pk if others else "")


def _store(book: Journal, fact: Fact, candidate: Candidate | None) -> Fact:
    """Stores a confirmed fact; one that was archived or deleted in the same scope lives on."""
    earlier = same_place(fact)
    if earlier is None:
        book.made(fact, candidate=candidate)
        return fact
    names = ("text", "kind", "status", "decision_id", "source_run_id", "quote", "confirmed_at")
    book.change(earlier, candidate=candidate, **{name: getattr(fact, name) for name in names})
    return earlier


def refusal_of(fact: Fact, accepted: Sequence[str], item_id: str | None = None) -> Result | None:
    """Why the wording may not be kept. The filter's records never hold it."""
    item_id = fact.pk if item_id is None else item_id
    if not fact.normal:
        return Result(item_id, "empty")
    if len(fact.text) > FACT_MAX_CHARS:
        return Result(item_id, "too_long")
    hits = find(fact.text)
    kinds = tuple(dict.fromkeys(hit.kind for hit in hits))
    if not kinds or (not REFUSED_KINDS.intersection(kinds) and set(kinds) <= set(accepted)):
        return None
    owner = Owner(fact.tenant_id, fact.user_id)
    redline_records.record_all(owner, LAYER, [(fact.text, hits)], source_id=item_id, is_again=True)
    rules = tuple(dict.fromkeys(hit.rule for hit in hits))
    return Result(item_id, "stopped" if REFUSED_KINDS.intersection(kinds) else "ask", kinds=kinds, rules=rules)


def twin_of(fact: Fact, *leaving: str) -> Fact | None:
    """The confirmed fact that says the same where `fact` would hold: for its assistant or for all. `leaving` do not count."""
    same = Fact.objects.filter(tenant_id=fact.tenant_id, user_id=fact.user_id, normal=fact.normal, status=Fact.Status.CONFIRMED)
    return same.filter(Q(agent_id=fact.agent_id) | Q(agent=None)).exclude(pk__in=[fact.pk, *leaving]).first()


def same_place(fact: Fact) -> Fact | None:
    """Another row of the same normal form in the same scope, whatever became of it."""
    same = Fact.objects.filter(tenant_id=fact.tenant_id, user_id=fact.user_id, agent_id=fact.agent_id, normal=fact.normal)
    return same.exclude(pk=fact.pk).first()


def make_room(book: Journal, fact: Fact) -> str:
    others = in_the_way(fact)
    for other in others:
        book.change(other, "evicted", status=Fact.Status.ARCHIVED)
    return others[0].pk if others else ""


def settle_candidates(book: Journal, fact: Fact) -> None:
    """What says the same as a fact that a person has just worded need not be asked about any more."""
    same = Candidate.objects.filter(tenant_id=fact.tenant_id, user_id=fact.user_id, normal=fact.normal)
    for candidate in same.exclude(status=Candidate.Status.CONFIRMED):
        decision_id = book.decision_id(fact.tenant_id)
        book.change(candidate, status=Candidate.Status.CONFIRMED, decision_id=decision_id, later_until=None)
