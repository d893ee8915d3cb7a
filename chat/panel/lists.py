"""Pages of candidates and facts, with filters and search. Each list is one query, however long it is."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Case, Count, F, IntegerField, Q, QuerySet, Value, When
from django.http import QueryDict
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from chat.models import Agent, Candidate, Fact, NoteOp, RedlineRecord
from chat.models.core import Kind
from chat.panel.cards import FactCard
from chat.text.storable import storable

PENDING_PAGE = 30  # 50 cards among 500 that wait took 117 ms, of which a page may take 100 (UI.md)
SHELF_PAGE = 50
SHARED = "shared"  # the scope of all assistants, in forms and addresses

# Put-off ones stand behind the others in every order.
ORDERS: dict[str, tuple[str, ...]] = {
    "confidence": ("is_later", "-confidence", "created_at", "pk"),
    "oldest": ("is_later", "created_at", "pk"),
    "newest": ("is_later", "-created_at", "-pk"),
}
_NEWEST_CHANGE = ("-updated_at", "-pk")


@dataclass(frozen=True, slots=True)
class Filters:
    """What a person looks for. `scope` is "", SHARED or an assistant's id; unknown values count as none."""

    q: str = ""
    kind: str = ""
    scope: str = ""
    order: str = "confidence"

    @classmethod
    def of(cls, query: QueryDict) -> "Filters":
        kind, order = query.get("kind", ""), query.get("order", "")
        return cls(
            q=query.get("q", "").replace("\0", "").strip()[:100],
            kind=kind if kind in Kind.values else "",
            scope=query.get("scope", "").replace("\0", "")[:40],
            order=order if order in ORDERS else "confidence",
        )

    @property
    def is_narrow(self) -> bool:
        return bool(self.q or self.kind or self.scope)

    @property
    def query(self) -> str:
        """As the query of an address; "" for the usual view."""
        values = {"q": self.q, "kind": self.kind, "scope": self.scope, "order": self.order if self.order != "confidence" else ""}
        query = QueryDict(mutable=True)
        query.update({name: value for name, value in values.items() if value})
        return query.urlencode()

    def condition(self) -> Q:
        found = Q(text__icontains=self.q) | Q(quote__icontains=self.q) if self.q else Q()
        if self.kind:
            found &= Q(kind=self.kind)
        if self.scope:
            found &= Q(agent=None) if self.scope == SHARED else Q(agent_id=self.scope)
        return found

    def matches(self, fact: Fact) -> bool:
        """The same as `condition`, for a row that is here."""
        words = self.q.casefold()
        has_words = words in fact.text.casefold() or words in fact.quote.casefold()
        return has_words and self.kind in ("", fact.kind) and self.scope in ("", fact.agent_id or SHARED)


Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """A part of a list. `more` goes into `?after=` of the next part, "" on the last."""

    rows: list[Row]
    more: str


def own_candidates(user: AbstractBaseUser) -> QuerySet[Candidate]:
    """The user's candidates with all that a card shows."""
    return _with_source(Candidate.objects.for_user(user).select_related("agent", "contradicts"))


def own_facts(user: AbstractBaseUser) -> QuerySet[Fact]:
    """The user's facts with all that a card shows."""
    return _with_source(Fact.objects.for_user(user).select_related("agent"))


def _with_source(found: QuerySet[Any]) -> QuerySet[Any]:
    """Where the source sentence stands: the round's conversation, and the round's place in it."""
    return found.annotate(
        source_thread=F("source_run__thread_id"), source_slot=F("source_run__slot"), last_slot=F("source_run__thread__last_position")
    )


def pending_page(user: AbstractBaseUser, tenant_id: str, filters: Filters, after: str = "", size: int = PENDING_PAGE) -> Page[Candidate]:
    """What waits for the user's yes, by confidence unless they ask otherwise."""
    is_later = Case(When(later_until__gt=timezone.now(), then=Value(1)), default=Value(0), output_field=IntegerField())
    waiting = own_candidates(user).filter(filters.condition(), tenant_id=tenant_id, status=Candidate.Status.PENDING)
    return page_of(waiting.annotate(is_later=is_later), ORDERS[filters.order], after, size)


def contradicting(user: AbstractBaseUser, candidate_ids: Sequence[str]) -> set[str]:
    """Those of the candidates that contradict a confirmed fact."""
    found = Candidate.objects.for_user(user).filter(pk__in=candidate_ids, status=Candidate.Status.PENDING)
    return set(found.filter(contradicts__status=Fact.Status.CONFIRMED).values_list("pk", flat=True))


def shelf_page(user: AbstractBaseUser, tenant_id: str, name: str, *, q: str = "", after: str = "") -> Page[Any]:
    """What does not count any more: `archived` and `deleted` facts, `rejected` candidates; and what the filter `stopped`."""
    if name == "stopped":
        stopped = RedlineRecord.objects.for_user(user).filter(tenant_id=tenant_id)
        return page_of(stopped, ("-created_at", "-pk"), after, SHELF_PAGE)
    found: QuerySet[Any]
    if name == "rejected":
        found = Candidate.objects.for_user(user).filter(tenant_id=tenant_id, status=Candidate.Status.REJECTED)
    else:
        found = Fact.objects.for_user(user).filter(tenant_id=tenant_id, status=name)
    column = "normal" if name == "deleted" else "text"
    if q:
        found = found.filter(**{f"{column}__icontains": q})
    return page_of(found.select_related("agent"), _NEWEST_CHANGE, after, SHELF_PAGE)


def page_of(found: QuerySet[Any], order: tuple[str, ...], after: str, size: int) -> Page[Any]:
    """The rows behind the place `after`, in this order; the start for a place that this list has not made."""
    values = _parse_cursor(after, order)
    if values is not None:
        found = found.filter(_behind(order, values))
    rows = list(found.order_by(*order)[: size + 1])
    more = rows[size - 1] if len(rows) > size else None
    return Page(rows[:size], _cursor(more, order) if more is not None else "")


def _behind(order: tuple[str, ...], values: Sequence[Any]) -> Q:
    """Rows that stand behind one with these values."""
    found, same = Q(), Q()
    for name, value in zip(order, values, strict=True):
        column = name.removeprefix("-")
        found |= same & Q(**{f"{column}__{'lt' if name.startswith('-') else 'gt'}": value})
        same &= Q(**{column: value})
    return found


def _cursor(row: Any, order: tuple[str, ...]) -> str:  # noqa: ANN401  a row of any list
    values = [getattr(row, name.removeprefix("-")) for name in order]
    return json.dumps([value.isoformat() if isinstance(value, datetime) else value for value in values])


def _parse_cursor(text: str, order: tuple[str, ...]) -> list[Any] | None:
    """The values of a cursor; None for none, and for one that this list has not made."""
    try:
        values = json.loads(text)
        if not isinstance(values, list) or len(values) != len(order):
            return None
        return [_value(name.removeprefix("-"), value) for name, value in zip(order, values, strict=True)]
    except (ValueError, RecursionError):
        return None


def _value(column: str, value: Any) -> Any:  # noqa: ANN401  what JSON can hold
    if column.endswith("_at"):
        at = parse_datetime(value) if isinstance(value, str) else None
        if at is None or timezone.is_naive(at):
            raise ValueError(column)
        return at
    if column == "pk":
        if not isinstance(value, str) or storable(value) != value:
            raise ValueError(column)
        return value
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:
        raise ValueError(column)
    return value


@dataclass(frozen=True, slots=True)
class Counts:
    """How long each list is, whatever the filters. What is `pending` counts changes of notes, too."""

    pending: int
    confirmed: int
    rejected: int
    archived: int
    deleted: int
    stopped: int

    @property
    def is_empty(self) -> bool:
        return not (self.pending or self.confirmed)


def counts_of(user: AbstractBaseUser, tenant_id: str) -> Counts:
    """Four queries, each along an index."""
    candidates = _by_status(Candidate.objects.for_user(user).filter(tenant_id=tenant_id))
    facts = _by_status(Fact.objects.for_user(user).filter(tenant_id=tenant_id))
    stopped = RedlineRecord.objects.for_user(user).filter(tenant_id=tenant_id).count()
    notes = NoteOp.objects.for_user(user).filter(tenant_id=tenant_id, state=NoteOp.State.STAGED).count()
    return Counts(candidates["pending"] + notes, facts["confirmed"], candidates["rejected"], facts["archived"], facts["deleted"], stopped)


def _by_status(rows: QuerySet[Any]) -> Counter[str]:
    return Counter(dict(rows.order_by().values_list("status").annotate(number=Count("pk"))))


@dataclass(slots=True)
class ScopeGroup:
    """The confirmed facts of one assistant, or with `agent` None of all. `count` is without the filters."""

    agent: Agent | None
    count: int = 0
    cards: list[FactCard] = field(default_factory=list)

    @property
    def id(self) -> str:
        return self.agent.pk if self.agent is not None else SHARED


def confirmed_groups(user: AbstractBaseUser, tenant_id: str, filters: Filters) -> list[ScopeGroup]:
    """What is used, first what is used everywhere; pinned before others, newest first. At most 30 a scope, so never paged."""
    facts = own_facts(user).filter(tenant_id=tenant_id, status=Fact.Status.CONFIRMED)
    groups: dict[str | None, ScopeGroup] = {None: ScopeGroup(None)}
    for fact in facts.order_by("agent__order", "agent__name", "agent_id", "-is_pinned", "-confirmed_at", "pk"):
        group = groups.setdefault(fact.agent_id, ScopeGroup(fact.agent))
        group.count += 1
        if filters.matches(fact):
            group.cards.append(FactCard(fact))
    return [group for group in groups.values() if group.count]
