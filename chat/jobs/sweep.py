"""What was lost, and what is old. Everything here may be done by several workers at once, and twice.

Threads whose memory is behind without a `Work` row are not looked for: the mark is written in the transaction that ends
a run (`chat.runs.finish.after_end`, also for runs that were swept), and a row goes only when no mark has come since it
was claimed. So there is no moment at which a finished run and its mark could part.
"""

import logging
from datetime import timedelta

from django.conf import settings
from django.db.models import Exists, OuterRef
from django.utils import timezone

from chat.memory.core.journal import forget_deleted
from chat.memory.external.lost import LostMarks
from chat.memory.meaning.fill import mark_behind
from chat.memory.notes.erasing import Eraser
from chat.memory.notes.lost import LostFolders
from chat.memory.notes.review_due import IN_FLIGHT
from chat.models import MemoryOp, NoteReview, RunLedger, Work
from chat.runs.delete import erase_idle_incognito
from chat.runs.sweep import RunSweeper

log = logging.getLogger(__name__)
_lost_folders = LostFolders()
_lost_marks = LostMarks()
_eraser = Eraser()
OP_LOST_AFTER = timedelta(minutes=10)
INCOGNITO_KEPT = timedelta(hours=24)  # after the last run (DESIGN §2)
LEDGERS_AT_ONCE = 500  # short transactions: answers are being written at the same time


def sweep(runs: RunSweeper) -> int:
    """Ends and removes what is due; returns how many rows were changed. `runs` knows the looks before this one."""
    ended = runs.sweep() + end_lost_ops() + end_lost_reviews()
    ended += remove_old_ledgers() + erase_idle_incognito(INCOGNITO_KEPT) + forget_deleted()
    return ended + mark_behind() + _lost_marks.sweep() + sweep_notes()


def sweep_notes() -> int:
    """Puts folders of notes aside whose owner is gone, brings back others, and erases what was removed from notes long ago."""
    return _lost_folders.sweep() + _eraser.sweep()  # a folder that comes back is there before its store is looked at


def end_lost_ops() -> int:
    """Ends memory operations whose worker was killed, as failed with code `interrupted`."""
    lost = MemoryOp.objects.filter(outcome=MemoryOp.Outcome.RUNNING, created_at__lt=timezone.now() - OP_LOST_AFTER)
    ended = lost.update(outcome=MemoryOp.Outcome.FAILED, error_code="interrupted")
    if ended:
        log.warning("Ended %d interrupted memory operations", ended)
    return ended


def end_lost_reviews() -> int:
    """Fails reviews that nobody will make any more, as their work is gone: one that is going would keep its teacher's place.

    While the work is there, the review of a killed worker is taken up by whoever claims it next.
    """
    has_work = Exists(Work.objects.filter(kind=Work.Kind.REVIEW, subject_id=OuterRef("pk")))
    lost = NoteReview.objects.filter(~has_work, state__in=IN_FLIGHT, created_at__lt=timezone.now() - OP_LOST_AFTER)
    keys = list(lost.values_list("pk", flat=True))  # a look holds no lock; there is hardly ever one
    if not keys:
        return 0
    ended = lost.filter(pk__in=keys).update(state=NoteReview.State.FAILED, error_code="interrupted", finished_at=timezone.now())
    log.warning("Ended %d lost reviews", ended)
    return ended


def remove_old_ledgers() -> int:
    """Removes ledgers older than settings.LEDGER_KEEP_DAYS, some at a time."""
    limit = timezone.now() - timedelta(days=settings.LEDGER_KEEP_DAYS)
    old = RunLedger.objects.filter(created_at__lt=limit).order_by("created_at").values_list("pk", flat=True)[:LEDGERS_AT_ONCE]
    keys = list(old)
    return RunLedger.objects.filter(pk__in=keys).delete()[0] if keys else 0
