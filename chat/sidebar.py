"""Sidebar: the assistants and the conversations of a user, as plain values for pages and sockets."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from chat.models import Agent, Preference, Thread

PAGE_THREADS = 30


@dataclass(frozen=True, slots=True)
class ThreadLink:
    id: str
    title: str
    updated_at: datetime
    is_incognito: bool = False


@dataclass(slots=True)
class ThreadGroup:
    """Conversations of today, yesterday or earlier. `label` is "" when the page before ended in the same group."""

    label: str
    threads: list[ThreadLink]


@dataclass(frozen=True, slots=True)
class ThreadList:
    """One page of conversations, newest first. `more` goes into `?before=` of the next page, "" on the last."""

    agent_id: str
    groups: list[ThreadGroup]
    more: str


def thread_list(user: AbstractBaseUser, agent_id: str, before: str = "") -> ThreadList:
    """The user's active conversations with an assistant; `before` is the `more` of the page above."""
    rows, more = _page(user, agent_id, Thread.Status.ACTIVE, before)
    cursor = _parse_cursor(before)
    label = day_words(cursor[0]) if cursor is not None else ""
    groups: list[ThreadGroup] = []
    for row in rows:
        words = day_words(row.updated_at)
        if not groups or words != label:
            groups.append(ThreadGroup("" if words == label else words, []))
            label = words
        groups[-1].threads.append(row)
    return ThreadList(agent_id, groups, more)


def archived_page(user: AbstractBaseUser, agent_id: str, before: str = "") -> tuple[list[ThreadLink], str]:
    """One page of what the user has put away, newest first, and the `before` of the next page."""
    return _page(user, agent_id, Thread.Status.ARCHIVED, before)


def _page(user: AbstractBaseUser, agent_id: str, status: str, before: str) -> tuple[list[ThreadLink], str]:
    of_agent = Thread.objects.for_user(user).filter(agent_id=agent_id, status=status)
    found = after_cursor(of_agent.order_by("-updated_at", "-id"), before)
    rows = [ThreadLink(*values) for values in found.values_list("id", "title", "updated_at", "is_incognito")[: PAGE_THREADS + 1]]
    has_more, rows = len(rows) > PAGE_THREADS, rows[:PAGE_THREADS]
    return rows, cursor_of(rows[-1].updated_at, rows[-1].id) if has_more else ""


def cursor_of(updated_at: datetime, thread_id: str) -> str:
    """A place in a list of threads, newest first, for an address."""
    return f"{updated_at.isoformat()}~{thread_id}"


def after_cursor(threads: QuerySet[Thread], cursor: str) -> QuerySet[Thread]:
    """The threads behind a place in their list; all of them for a text that is no place."""
    place = _parse_cursor(cursor)
    return threads.filter(Q(updated_at__lt=place[0]) | Q(updated_at=place[0], pk__lt=place[1])) if place is not None else threads


def _parse_cursor(text: str) -> tuple[datetime, str] | None:
    at_text, _separator, thread_id = text.replace("\0", "").partition("~")
    try:
        at = parse_datetime(at_text)
    except ValueError:
        return None
    return (at, thread_id) if at is not None and timezone.is_aware(at) else None


def day_words(at: datetime) -> str:
    """The group of a time, in the active time zone."""
    today = timezone.localdate()
    day = timezone.localdate(at)
    if day >= today:
        return _("Today")
    return _("Yesterday") if day == today - timedelta(days=1) else _("Earlier")


def agents_of(user: AbstractBaseUser, tenant_id: str) -> list[Agent]:
    """The assistants that the user may talk to in a school."""
    return list(Agent.objects.for_user(user).filter(tenant_id=tenant_id).select_related("provider"))


def last_agent(user: AbstractBaseUser, preference: Preference, tenant_id: str) -> Agent | None:
    """The assistant used last in the school, else its first one; None when there is none."""
    agents = agents_of(user, tenant_id)
    used_id = preference.agent_id
    if used_id is None:
        threads = Thread.objects.for_user(user).filter(tenant_id=tenant_id)
        used_id = threads.order_by("-updated_at").values_list("agent_id", flat=True).first()
    return next((agent for agent in agents if agent.pk == used_id), agents[0] if agents else None)


def remember_agent(user_id: int, agent_id: str) -> None:
    """Keeps which assistant the user has sent a message to last."""
    Preference.objects.update_or_create(user_id=user_id, defaults={"agent_id": agent_id})
