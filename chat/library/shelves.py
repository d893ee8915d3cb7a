"""The documents that a user sees: their own and their school's, with filters; and one of them with its passages."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Prefetch, Q, QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from chat.library.cards import DocumentCard
from chat.models import Agent, Document, Membership, Owner, Passage

PAGE_DOCUMENTS = 50
PAGE_PASSAGES = 20
OWN, SCHOOL = "own", "school"
STATES: dict[str, Promise] = {"going": _("waiting or being read"), "ready": _("ready"), "failed": _("could not be read")}
_STATES_OF = {
    "going": (Document.State.WAITING, Document.State.READING),
    "ready": (Document.State.READY,),
    "failed": (Document.State.FAILED,),
}
UNFINISHED = (Document.State.WAITING, Document.State.READING, Document.State.FAILED)


@dataclass(frozen=True, slots=True)
class Filters:
    """What is looked for: words of the name, an assistant, a state. `shelf` with `page` is one of the two lists alone."""

    q: str = ""
    agent: str = ""
    state: str = ""
    shelf: str = ""
    page: int = 1

    @classmethod
    def of(cls, query: Mapping[str, str]) -> "Filters":
        """Reads a query string; what cannot be meant is left out."""
        page, shelf, state = query.get("page", ""), query.get("shelf", ""), query.get("state", "")
        return cls(
            q=query.get("q", "").replace("\0", "").strip()[:100],
            agent=query.get("agent", "").replace("\0", "")[:40],
            state=state if state in STATES else "",
            shelf=shelf if shelf in (OWN, SCHOOL) else "",
            page=max(1, int(page)) if page.isascii() and page.isdigit() and len(page) < 5 else 1,
        )

    @property
    def is_narrow(self) -> bool:
        return bool(self.q or self.agent or self.state)

    @property
    def query(self) -> str:
        """As a query string, "" for none."""
        values = {"q": self.q, "agent": self.agent, "state": self.state, "shelf": self.shelf, "page": self.page if self.page > 1 else ""}
        return urlencode({name: value for name, value in values.items() if value})

    def turned(self, shelf: str, page: int) -> str:
        """The query string of a page of one list."""
        return Filters(self.q, self.agent, self.state, shelf, page).query


@dataclass(slots=True)
class Shelf:
    """One list of documents, newest first. `older` and `newer` are query strings of its neighbour pages, "" for none."""

    name: str
    cards: list[DocumentCard] = field(default_factory=list)
    older: str = ""
    newer: str = ""


def shelves(owner: Owner, filters: Filters, *, is_administrator: bool) -> list[Shelf]:
    """The user's own documents and the school's; a few queries, however many there are."""
    names = [filters.shelf] if filters.shelf else [OWN, SCHOOL]
    found = [_page(owner, filters, name) for name in names]
    newer = _newer([row for rows in found for row in rows])
    made = []
    for name, rows in zip(names, found, strict=True):
        has_more, rows = len(rows) > PAGE_DOCUMENTS, rows[:PAGE_DOCUMENTS]
        cards = [_card(row, newer.get(row.pk), may_write=name == OWN or is_administrator) for row in rows]
        older = filters.turned(name, filters.page + 1) if has_more else ""
        made.append(Shelf(name, cards, older, filters.turned(name, filters.page - 1) if filters.page > 1 else ""))
    return made


def _page(owner: Owner, filters: Filters, name: str) -> list[Document]:
    kept = Document.objects.owned_by(owner) if name == OWN else Document.objects.of_school(owner.tenant_id)
    kept = kept.filter(_narrow(filters), Q(is_current=True)).select_related("uploaded_by")
    start = (filters.page - 1) * PAGE_DOCUMENTS
    return list(with_agents(kept).order_by("-created_at", "-pk")[start : start + PAGE_DOCUMENTS + 1])


def _narrow(filters: Filters) -> Q:
    wanted = Q()
    if filters.q:
        wanted &= Q(name__icontains=filters.q)
    if filters.agent:
        wanted &= Q(pk__in=Document.agents.through.objects.filter(agent_id=filters.agent).values("document_id"))
    if filters.state:
        states = _STATES_OF[filters.state]
        wanted &= Q(state__in=states) | Q(replaced_by__state__in=states, replaced_by__is_current=False)
    return wanted


def with_agents(documents: QuerySet[Document]) -> QuerySet[Document]:
    """With the assistants that are offered, in their order, as `agents.all()`."""
    offered = Agent.objects.filter(is_active=True).order_by("order", "name", "id")
    return documents.prefetch_related(Prefetch("agents", offered))


def _newer(rows: list[Document]) -> dict[str, Document]:
    """The versions that will take the place of these, by the id of the one that they replace."""
    found = Document.objects.filter(replaces__in=[row.pk for row in rows], is_current=False, state__in=UNFINISHED)
    return {str(one.replaces_id): one for one in found} if rows else {}


def _card(row: Document, newer: Document | None, *, may_write: bool) -> DocumentCard:
    return DocumentCard(row, list(row.agents.all()), newer, may_write)


def digest_of(cards: Iterable[DocumentCard]) -> str:
    """Changes when something that the cards show has changed by itself."""
    return hashlib.sha256(repr([card.live for card in cards]).encode()).hexdigest()[:16]


# One document


def seen_by(user: AbstractBaseUser) -> QuerySet[Document]:
    """The user's own documents and those of their schools, in every school that they are a member of."""
    return Document.objects.filter(Q(user_id=user.pk) | Q(user=None), tenant__memberships__user_id=user.pk)


def find_card(user: AbstractBaseUser, document_id: str) -> DocumentCard | None:
    """The document with its assistants; None for one of somebody else and one that does not exist."""
    row = with_agents(seen_by(user).select_related("uploaded_by", "tenant")).filter(pk=document_id).first()
    if row is None:
        return None
    may_write = (
        row.user_id == user.pk or Membership.objects.filter(tenant=row.tenant_id, user_id=user.pk, role=Membership.Role.ADMIN).exists()
    )
    return _card(row, _newer([row]).get(row.pk), may_write=may_write)


@dataclass(slots=True)
class PassagePage:
    """A part of a document. `number` counts from 1, `last` is the number of pages."""

    passages: list[Passage]
    number: int
    last: int

    @property
    def before(self) -> int:
        return self.number - 1

    @property
    def after(self) -> int:
        return self.number + 1


def passages_of(document: Document, number: int) -> PassagePage:
    """A page of the document's passages; the first or the last one for a number beyond. None before it is ready."""
    kept = document.passages.order_by("position")
    if document.state != Document.State.READY:
        kept = kept.none()
    last = max(1, -(-kept.count() // PAGE_PASSAGES))
    number = min(max(1, number), last)
    start = (number - 1) * PAGE_PASSAGES
    return PassagePage(list(kept[start : start + PAGE_PASSAGES]), number, last)


def page_with(document: Document, passage_id: str) -> int:
    """The number of the page on which a passage stands; 0 for none of this document."""
    position = document.passages.filter(pk=passage_id).values_list("position", flat=True).first()
    if position is None:
        return 0
    return document.passages.filter(position__lt=position).count() // PAGE_PASSAGES + 1


def document_of_passage(user: AbstractBaseUser, passage_id: str) -> str:
    """The document in which the user may read the passage; "" when there is none."""
    return Passage.objects.filter(pk=passage_id, document__in=seen_by(user)).values_list("document_id", flat=True).first() or ""
