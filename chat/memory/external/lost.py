"""What no worker would come to by itself: its mark was lost with a worker that was killed, or with rows that went without us.

Marks are written with what makes them necessary, so there is hardly ever one: rows that were deleted by hand, or with
their school or teacher. What a backend extracted of these goes a day later, if they are still gone then: there may be a
database being put back in between.
"""

import logging
import time
from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import BigIntegerField, Exists, OuterRef, Q
from django.db.models.functions import Cast
from django.utils import timezone

from chat.memory.external import chosen
from chat.memory.registry import OF_ANOTHER, OF_THE_BUILTIN
from chat.models import Agent, LayerState, Preference, RemoteScope, RemoteSession, Tenant, Thread, Work

log = logging.getLogger(__name__)
LOOK_SECONDS: Final = 60.0
AT_ONCE: Final = 200
GONE_FOR: Final = timedelta(days=1)


@dataclass(slots=True)
class LostMarks:
    """Looks about once in LOOK_SECONDS, however often it is asked."""

    _looked_at: float = float("-inf")

    def sweep(self) -> int:
        if time.monotonic() - self._looked_at < LOOK_SECONDS:
            return 0
        self._looked_at = time.monotonic()
        return mark_lost()


def mark_lost() -> int:
    """Marks what is to be forgotten, followed or recalled and has no work; returns how many. Five queries that find nothing."""
    _watch_gone_owners()
    return (
        _mark(Work.Kind.THREAD, _returned())
        + _ask_for_gone_threads()
        + _mark(Work.Kind.FORGET, _scopes())
        + _mark(Work.Kind.REMOTE, _sessions())
    )


def _ask_for_gone_threads() -> int:
    """Sessions whose thread is gone are to be forgotten; not at once, for one that is just being delivered ends with its lease."""
    is_there = Exists(Thread.objects.filter(pk=OuterRef("thread_key")))
    quiet = timezone.now() - timedelta(seconds=settings.LEASE_SECONDS)
    gone = RemoteSession.objects.filter(~is_there, forget_asked_at=None, scope__forget_asked_at=None, updated_at__lt=quiet)
    keys = list(gone.values_list("pk", flat=True)[:AT_ONCE])
    for key in keys:
        with transaction.atomic():
            if RemoteSession.objects.filter(pk=key).update(forget_asked_at=timezone.now()):
                Work.objects.mark(Work.Kind.REMOTE, key)
    if keys:
        log.warning("%d conversations that are gone are to be forgotten by their memory backend", len(keys))
    return len(keys)


def _watch_gone_owners() -> None:
    """Scopes whose school or teacher is gone are looked at again after GONE_FOR, and forgotten then (forgetting.forget)."""
    is_taught = Exists(get_user_model().objects.filter(pk=Cast(OuterRef("user_key"), BigIntegerField())))
    is_school = Exists(Tenant.objects.filter(pk=OuterRef("tenant_key")))
    has_work = Exists(Work.objects.filter(kind=Work.Kind.FORGET, subject_id=OuterRef("pk")))
    gone = RemoteScope.objects.filter(~is_taught | ~is_school, ~has_work, forget_asked_at=None)
    due_at = timezone.now() + GONE_FOR
    looks = [Work(kind=Work.Kind.FORGET, subject_id=key, due_at=due_at) for key in gone.values_list("pk", flat=True)[:AT_ONCE]]
    if looks:
        Work.objects.bulk_create(looks, ignore_conflicts=True)
        log.warning("%d scopes at memory backends have no school or no teacher any more", len(looks))


def _returned() -> list[str]:
    """Threads that went on under another backend and whose assistant has the built-in one now, so that recall is behind.

    Only those have a cursor of the external layer. Where memory is off nothing is caught up, so they are not looked at.
    """
    recalled = LayerState.objects.filter(thread=OuterRef("thread"), layer=OF_THE_BUILTIN, upto_slot__gte=OuterRef("upto_slot"))
    off = Preference.objects.filter(user_id=OuterRef("thread__user_id"), has_memory=False)
    has_work = Exists(Work.objects.filter(kind=Work.Kind.THREAD, subject_id=OuterRef("thread")))
    behind = LayerState.objects.filter(~Exists(recalled), ~Exists(off), ~has_work, layer=OF_ANOTHER, upto_slot__gt=0)
    behind = behind.filter(thread__is_incognito=False, thread__tenant__has_memory=True)
    agents = Agent.objects.filter(pk__in=behind.order_by().values("thread__agent_id"))
    returned = [agent.pk for agent in agents if not chosen.in_force(agent)]
    if not returned:
        return []
    return list(behind.filter(thread__agent_id__in=returned).order_by("pk").values_list("thread_id", flat=True)[:AT_ONCE])


def _scopes() -> list[str]:
    has_work = Exists(Work.objects.filter(kind=Work.Kind.FORGET, subject_id=OuterRef("pk")))
    return list(RemoteScope.objects.filter(~has_work, forget_asked_at__isnull=False).values_list("pk", flat=True)[:AT_ONCE])


def _sessions() -> list[str]:
    has_work = Exists(Work.objects.filter(kind=Work.Kind.REMOTE, subject_id=OuterRef("pk")))
    is_due = Q(forget_asked_at__isnull=False) | Q(pending_tasks__gt=0)
    due = RemoteSession.objects.filter(is_due, ~has_work, scope__forget_asked_at=None)
    return list(due.values_list("pk", flat=True)[:AT_ONCE])


def _mark(kind: Work.Kind, keys: Collection[str]) -> int:
    for key in keys:
        Work.objects.mark(kind, key)
    return len(keys)
