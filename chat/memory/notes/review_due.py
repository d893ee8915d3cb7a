"""When a review of notes is due (specs/notes_memory.md §3.2 Counting, Due, In flight, Window).

All of it is counted from rows. What was counted last stands on the thread and moves in the transaction that makes the
review and its work, so that neither a restart nor a second worker makes one trigger two.
"""

import logging

from django.db import transaction
from django.db.models import QuerySet

from chat.memory.base import Lease
from chat.models import NoteReview, Run, Thread, Work

log = logging.getLogger(__name__)
WINDOW_ROUNDS, MOST_ROUNDS = 12, 24  # 24 messages, and at most 48 when earlier ones were not looked at
SKIPPED_IN_FLIGHT = "skipped_in_flight"
IN_FLIGHT = (NoteReview.State.QUEUED, NoteReview.State.RUNNING)


def note_end(thread: Thread, lease: Lease) -> NoteReview | None:
    """Makes the review that is due after the thread's newest finished run; None when none is.

    Most calls end without a query: a thread counts at most as many messages as it has runs.
    """
    every = thread.agent.review_every
    if not every or thread.is_incognito or _multiple(thread.last_position, every) <= thread.review_total:
        return None
    due = _multiple(counted(thread), every)
    if due <= thread.review_total:
        return None
    with transaction.atomic():
        if not Thread.objects.filter(pk=thread.pk, review_total=thread.review_total).update(review_total=due):
            return None  # another worker was first
        review = _make(thread, due)
        lease.renew()
    thread.review_total = due
    log.info("Review %s of thread %s is due at %d messages: %s", review.pk, thread.pk, due, review.state)
    return review


def counted(thread: Thread) -> int:
    """The teacher's messages that count: each place of the conversation once, when its answer is complete.

    What was sent while memory was off is not looked at, so it does not count either.
    """
    return Run.objects.active_path().filter(thread=thread, status=Run.Status.COMPLETED, has_memory=True).order_by().count()


def _multiple(total: int, every: int) -> int:
    """The largest multiple up to `total`: several runs may have ended since the last look."""
    return total - total % every


def _make(thread: Thread, due: int) -> NoteReview:
    reviews = NoteReview.objects.filter(thread=thread)
    is_busy = reviews.filter(state__in=IN_FLIGHT).exists()
    upto = readable(thread).order_by("-slot").values_list("slot", flat=True).first() or 0
    review = NoteReview.objects.create(
        tenant_id=thread.tenant_id,
        user_id=thread.user_id,
        agent_id=thread.agent_id,
        thread=thread,
        total=due,
        since_slot=_since(thread, upto),
        upto_slot=upto,
        state=NoteReview.State.SKIPPED if is_busy else NoteReview.State.QUEUED,
        error_code=SKIPPED_IN_FLIGHT if is_busy else "",
    )
    if not is_busy:
        Work.objects.mark(Work.Kind.REVIEW, review.pk)
    return review


def readable(thread: Thread) -> "QuerySet[Run]":
    """The rounds that a review may read: finished, on the active path, sent while memory was on."""
    return Run.objects.active_path().filter(thread=thread, status__in=Run.FINISHED, has_memory=True)


def _since(thread: Thread, upto: int) -> int:
    """The slot behind which the window begins: the last rounds, and more when earlier triggers came to nothing."""
    slots = list(readable(thread).filter(slot__lte=upto).order_by("-slot").values_list("slot", flat=True)[:MOST_ROUNDS])
    seen = (
        NoteReview.objects.filter(thread=thread, state=NoteReview.State.DONE).order_by("-total").values_list("upto_slot", flat=True).first()
        or 0
    )
    is_missed = NoteReview.objects.filter(thread=thread).exclude(state=NoteReview.State.DONE).filter(upto_slot__gt=seen).exists()
    unread = [slot for slot in slots if slot > seen] if is_missed else []
    window = slots[: max(WINDOW_ROUNDS, len(unread))]
    return window[-1] - 1 if window else upto
