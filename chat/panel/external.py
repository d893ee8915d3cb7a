"""What a memory backend outside keeps, for the panel: whose assistants it serves, what it gave, what it did not capture, and forgetting.

Rows are found by the keys of the teacher and the school; what stands at the backend is asked for by `chat.views.external`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db.models import QuerySet
from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from chat.memory.backends.base import BackendError, Capabilities, MemoryItem
from chat.memory.blocked import threat_in_history
from chat.memory.external import chosen, permission
from chat.memory.external.forgetting import is_forgetting, scope_of
from chat.models import Agent, Owner, RemoteGap, RemoteScope, Run, Work

ITEMS_MOST = 50
ITEM_OPEN_CHARS = 400  # more of one item is folded
GAPS_MOST = 20
EXCERPT_CHARS = 80
PLACE_CHARS = 48

_CATEGORIES: dict[str, Promise] = {
    "preferences": gettext_lazy("liking or habit"),
    "entities": gettext_lazy("people and things"),
    "events": gettext_lazy("event"),
    "profile": gettext_lazy("about you"),
    "identity": gettext_lazy("about the assistant"),
    "soul": gettext_lazy("about the assistant"),
}
_OUTCOMES: dict[str, Promise] = {
    "failed": gettext_lazy("it could not be worked on there"),
    "lost": gettext_lazy("what became of it is not known there"),
    "dropped": gettext_lazy("it could not be sent"),
}


@dataclass(frozen=True, slots=True)
class Outside:
    """The assistants whose memory is kept outside, and the one that is looked at. `is_whole`: there are no others."""

    agents: list[Agent]
    chosen: Agent
    backend: str
    capabilities: Capabilities
    is_whole: bool

    @property
    def title(self) -> str:
        return self.capabilities.title

    @property
    def place(self) -> str:
        return self.capabilities.place


@dataclass(frozen=True, slots=True)
class ItemCard:
    """Something remembered. `head` is its beginning where the rest is folded, else ""; `origin` says in words where it comes from;
    `source` is its address there and `place` the end of a long one, both "" for who does not run the server; `threat` is why
    prompts leave it out, "" if they do not."""

    text: str
    head: str
    category: str
    origin: str
    source: str
    place: str
    threat: str


@dataclass(slots=True)
class Found:
    """What the backend gave, or why it gave nothing. `trouble` is a sentence, `code` what an administrator may be told."""

    items: list[ItemCard] = field(default_factory=list)
    is_cut: bool = False
    trouble: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True)
class Gap:
    """A round that the backend took, or should have taken, and made no memory of."""

    run_id: str
    thread_id: str
    title: str
    excerpt: str
    why: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Forgetting:
    """How far forgetting everything is: asked at and under way, or when it was last done. `trouble` is the code of what holds it up."""

    asked_at: datetime | None = None
    done_at: datetime | None = None
    trouble: str = ""

    @property
    def is_going(self) -> bool:
        return self.asked_at is not None

    @property
    def mark(self) -> str:
        """Differs when something else is to be told: what was asked at a time is done until that same time."""
        return f"{self.asked_at or '-'} {self.done_at or '-'} {self.trouble}"


def has_backends() -> bool:
    """Whether any assistant can have its memory elsewhere than in the built-in layers; asks nothing."""
    return settings.MEMORY_MANAGER_PER_AGENT or chosen.installed().capabilities.is_external


def outside_of(agents: Sequence[Agent], *, agent_id: str = "", preferred_id: str | None = "") -> Outside | None:
    """What is outside for `agent_id`; without one that of the preferred assistant, else of the first.

    None where no assistant has its memory outside, or not this one.
    """
    if not has_backends():
        return None
    elsewhere = [agent for agent in agents if chosen.external_of(agent)]
    by_id = {agent.pk: agent for agent in elsewhere}
    agent = by_id.get(agent_id) if agent_id else by_id.get(preferred_id or "", elsewhere[0] if elsewhere else None)
    if agent is None:
        return None
    backend = chosen.name_of(agent)
    return Outside(elsewhere, agent, backend, permission.capabilities_of(backend), is_whole=len(elsewhere) == len(agents))


def standing_of(owner: Owner, outside: Outside) -> str:
    """What stands in the way of asking the backend: "nothing" (it remembers nothing), "asked" or "refused" (the teacher has
    not agreed), "forgetting"; "" when it may be asked."""
    if not outside.capabilities.can_search:
        return "nothing"
    if is_forgetting(scope_of(owner), outside.backend):
        return "forgetting"
    if permission.may_send(owner, outside.backend):
        return ""
    return "asked" if permission.waits_for_answer(owner, outside.chosen) else "refused"


def found_of(items: Sequence[MemoryItem], agent_name: str, *, shows_source: bool) -> Found:
    """`shows_source`: for an administrator, who can look at the server."""
    cards = [_item_card(one, agent_name, shows_source=shows_source) for one in items[:ITEMS_MOST]]
    return Found(cards, is_cut=len(items) >= ITEMS_MOST)


def _item_card(item: MemoryItem, agent_name: str, *, shows_source: bool) -> ItemCard:
    source = item.source if shows_source else ""
    is_long = len(item.content) > ITEM_OPEN_CHARS
    return ItemCard(
        text=item.content,
        head=_short(item.content) if is_long else "",
        category=str(_CATEGORIES.get(item.category, item.category)),
        origin=_origin(item, agent_name),
        source=source,
        place=source if len(source) <= PLACE_CHARS else f"…{source[-PLACE_CHARS:]}",
        threat=threat_in_history(item.content),
    )


def _origin(item: MemoryItem, agent_name: str) -> str:
    if item.said_on is None:
        return _("from your conversations with %(agent)s") % {"agent": agent_name}
    day = date_format(item.said_on)
    return _("from your conversations with %(agent)s, %(day)s") % {"agent": agent_name, "day": day}


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= EXCERPT_CHARS else f"{line[:EXCERPT_CHARS]}…"


def not_found(error: BackendError | None, title: str) -> Found:
    """What happened and what can be done; `error` None is a backend that did not answer in time."""
    if error is None or error.is_retryable:
        words = _(
            "%(title)s did not answer just now. Nothing is lost, and your assistants answer without it meanwhile. Try again in a while."
        )
    else:
        words = _(
            "%(title)s refused to answer. Nothing is lost, and your assistants answer without it. Tell the person who runs this site."
        )
    return Found(trouble=words % {"title": title}, code=error.code if error is not None else "memory_timeout")


def _rows(user: AbstractBaseUser, tenant_id: str) -> QuerySet[RemoteScope]:
    return RemoteScope.objects.filter(tenant_key=tenant_id, user_key=str(user.pk))


def gaps_of(user: AbstractBaseUser, tenant_id: str) -> list[Gap]:
    """The rounds that were not captured and that the teacher has not put away, newest first; those that are gone here are left out."""
    found = RemoteGap.objects.filter(session__scope__in=_rows(user, tenant_id), is_seen=False)
    rows = list(found.order_by("-created_at", "pk")[:GAPS_MOST])
    runs = Run.objects.for_user(user).select_related("thread").filter(pk__in=[row.run_key for row in rows], tenant_id=tenant_id)
    by_id = {run.pk: run for run in runs}
    return [_gap(row, by_id[row.run_key]) for row in rows if row.run_key in by_id]


def _gap(row: RemoteGap, run: Run) -> Gap:
    why = str(_OUTCOMES.get(row.outcome, row.outcome))
    return Gap(run.pk, run.thread_id, run.thread.title, _short(run.input), why, run.created_at)


def put_away_gaps(user: AbstractBaseUser, tenant_id: str, run_ids: Sequence[str]) -> None:
    """The teacher has seen them."""
    RemoteGap.objects.filter(session__scope__in=_rows(user, tenant_id), run_key__in=run_ids).update(is_seen=True)


def forgetting_of(user: AbstractBaseUser, tenant_id: str) -> Forgetting:
    rows = list(_rows(user, tenant_id).values_list("pk", "forget_asked_at", "forgotten_at"))
    asked = [at for _key, at, _done in rows if at is not None]
    done = [at for _key, _asked, at in rows if at is not None]
    if not asked:
        return Forgetting(done_at=max(done, default=None))
    waiting = [key for key, at, _done in rows if at is not None]
    troubles = Work.objects.filter(kind=Work.Kind.FORGET, subject_id__in=waiting).exclude(error_code="")
    return Forgetting(max(asked), None, troubles.values_list("error_code", flat=True).first() or "")
