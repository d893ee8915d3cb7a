"""Delete: a thread with all that belongs to it, and what of that which was learnt from it shall go too.

Runs that are going in it are stopped first. Then one transaction deletes the rows, takes the thread's words out of what
stays (core memory, ledgers of other threads), and lets the teacher's other pages know. What memory's model calls have
cost stays, without the thread.
"""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from chat.memory.base import SegmentName
from chat.memory.core import decide
from chat.memory.core.sources import forget_thread, learnt_from
from chat.memory.external import forgetting
from chat.memory.ledger import blank
from chat.memory.notes import erasing
from chat.memory.recall import entries as recall
from chat.models import Candidate, NoteReview, Run, Thread, Work
from chat.models.tenancy import ping
from chat.runs import live
from chat.runs.bridge import hop

STOP_SECONDS = 3.0  # a run of another process ends within a beat; one that does not is ended by finding its row gone
LOOK_AGAIN_SECONDS = 0.1
THREADS_AT_ONCE = 50
TELL_OF_OTHER_THREADS: tuple[SegmentName, ...] = ("recall", "knowledge", "continue")  # core memory names facts, L1 its own thread


@dataclass(frozen=True, slots=True)
class Deleted:
    """What went with the thread; less than was chosen when it had changed meanwhile."""

    candidate_ids: list[str] = field(default_factory=list)
    fact_ids: list[str] = field(default_factory=list)


async def delete_thread(
    user: AbstractBaseUser, thread_id: str, *, candidate_ids: Collection[str] = (), fact_ids: Collection[str] = ()
) -> Deleted | None:
    """Stops what is going in the user's thread and deletes it with the chosen of what was learnt from it.

    None when the user has no such thread.
    """
    await _stop_runs(user, thread_id)
    return await hop(erase_thread, user, thread_id, candidate_ids=candidate_ids, fact_ids=fact_ids)


async def _stop_runs(user: AbstractBaseUser, thread_id: str) -> None:
    run_ids = await hop(_mark_going, user, thread_id)
    tasks = []
    for run_id in run_ids:
        going = live.get(run_id)
        if going is not None and going.task is not None:
            going.cancel("stop")
            tasks.append(going.task)
    if tasks:
        await asyncio.wait(tasks, timeout=STOP_SECONDS)
    end = asyncio.get_running_loop().time() + STOP_SECONDS
    while run_ids and asyncio.get_running_loop().time() < end:
        is_any_going = await hop(_is_any_going, run_ids)
        if not is_any_going:
            return
        await asyncio.sleep(LOOK_AGAIN_SECONDS)


def _mark_going(user: AbstractBaseUser, thread_id: str) -> list[str]:
    going = Run.objects.going().filter(pk__in=Run.objects.for_user(user).filter(thread_id=thread_id).values("pk"))
    run_ids = list(going.values_list("pk", flat=True))
    Run.objects.going().filter(pk__in=run_ids, stop_requested_at=None).update(stop_requested_at=timezone.now())
    return run_ids


def _is_any_going(run_ids: list[str]) -> bool:
    return Run.objects.going().filter(pk__in=run_ids).exists()


def erase_thread(
    user: AbstractBaseUser, thread_id: str, *, candidate_ids: Collection[str] = (), fact_ids: Collection[str] = ()
) -> Deleted | None:
    """The transaction of `delete_thread`. A run that is still going finds its row gone and ends."""
    with transaction.atomic():
        if not _take(Thread.objects.for_user(user), thread_id):
            return None
        deleted = _delete_learnt(user, thread_id, candidate_ids, fact_ids)
        _erase(int(user.pk), thread_id)
    return deleted


def erase_any(thread: Thread) -> None:
    """Deletes a thread for whoever may delete those of others; what was learnt from it stays its teacher's."""
    with transaction.atomic():
        if _take(Thread.objects.all(), thread.pk):
            _erase(thread.user_id, thread.pk)


def erase_idle_incognito(idle: timedelta) -> int:
    """Deletes the incognito threads whose last run is older than that; returns how many."""
    limit = timezone.now() - idle
    is_young = Q(status__in=Run.GOING) | Q(created_at__gt=limit) | Q(finished_at__gt=limit)
    has_young = Exists(Run.objects.filter(is_young, thread=OuterRef("pk")))
    idle_threads = Thread.objects.filter(~has_young, is_incognito=True, created_at__lt=limit)
    erased = 0
    for thread_id, user_id in list(idle_threads.values_list("pk", "user_id")[:THREADS_AT_ONCE]):
        with transaction.atomic():
            if _take(idle_threads, thread_id):  # no run has begun meanwhile
                _erase(user_id, thread_id)
                erased += 1
    return erased


def _take(threads: QuerySet[Thread], thread_id: str) -> bool:
    """Takes the thread's row first, as the start of a run does: either that run is deleted here, or it finds no thread."""
    return bool(Thread.objects.filter(pk__in=threads.filter(pk=thread_id).values("pk")).update(last_position=F("last_position")))


def _erase(user_id: int, thread_id: str) -> None:
    forget_thread(user_id, thread_id)
    recall.forget_thread(user_id, thread_id)
    erasing.forget_thread(user_id, thread_id)
    forgetting.ask_thread(thread_id)
    run_ids = list(Run.objects.filter(thread_id=thread_id).values_list("pk", flat=True))
    Work.objects.filter(kind=Work.Kind.THREAD, subject_id=thread_id).delete()
    # A review that is going loses its lease with its work, which ends its model call.
    Work.objects.filter(kind=Work.Kind.REVIEW, subject_id__in=NoteReview.objects.filter(thread_id=thread_id).values("pk")).delete()
    Thread.objects.filter(pk=thread_id).delete()
    blank(user_id, [thread_id, *run_ids], within=TELL_OF_OTHER_THREADS)
    ping(user_id)


def _delete_learnt(user: AbstractBaseUser, thread_id: str, candidate_ids: Collection[str], fact_ids: Collection[str]) -> Deleted:
    learnt = learnt_from(user, thread_id)
    facts = [fact.pk for fact in learnt.facts if fact.pk in fact_ids]
    if facts:
        facts = [result.item_id for result in decide.delete(user, facts) if result.outcome == "done"]
    candidates = [candidate.pk for candidate in learnt.candidates if candidate.pk in candidate_ids]
    if candidates:
        Candidate.objects.filter(pk__in=candidates, status=Candidate.Status.PENDING).delete()
    return Deleted(candidates, facts)
