"""The right to work on a row (DESIGN §3.7): claimed, renewed and given back by conditional updates.

Every statement names the lease's random token, so a worker whose lease ran out and was taken over changes nothing any
more. A mark that is set while the work goes on makes the row stay (`Work.marks`).
"""

import secrets
from collections.abc import Collection
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import F, QuerySet
from django.utils import timezone

from chat.memory.base import LeaseLost
from chat.models import Work

CANDIDATES = 8  # rows looked at in one claim; with more workers than this some come back empty-handed and look again


class WorkLease:
    """A claimed row. `marks` is what the row had when it was claimed: work done now covers all of these."""

    def __init__(self, row: Work) -> None:
        self.work_id = row.pk
        self.kind = row.kind
        self.subject_id = row.subject_id
        self.marks = row.marks
        self.attempts = row.attempts
        self.token = row.lease

    def renew(self) -> None:
        """Holds the row for another settings.LEASE_SECONDS; raises LeaseLost when somebody else has it.

        Inside a transaction this also keeps others from taking the row over until the transaction ends.
        """
        if not self._own().update(lease_until=_end_of_lease()):
            raise LeaseLost

    def finish(self) -> None:
        """Removes the row, or gives it back as due now when it was marked again meanwhile. Raises LeaseLost."""
        if not self._own().filter(marks=self.marks).delete()[0]:
            self.release()

    def put_off(self, until: datetime, error_code: str) -> None:
        """Gives the row back, due at `until`, or now when it was marked again meanwhile. Raises LeaseLost."""
        if (
            not self._own()
            .filter(marks=self.marks)
            .update(due_at=until, attempts=F("attempts") + 1, error_code=error_code, lease="", lease_until=None)
        ):
            self.release()

    def release(self) -> None:
        """Gives the row back as due now. Raises LeaseLost."""
        if not self._own().update(due_at=timezone.now(), lease="", lease_until=None):
            raise LeaseLost

    def _own(self) -> "QuerySet[Work]":
        return Work.objects.filter(pk=self.work_id, lease=self.token)


def claim(kinds: Collection[str], passed_over: Collection[str] = ()) -> WorkLease | None:
    """Takes the row of one of `kinds` that has been due longest, without those whose keys are in `passed_over`."""
    now = timezone.now()
    due = Work.objects.claimable(now).filter(kind__in=kinds).exclude(pk__in=passed_over)
    for work_id in due.values_list("pk", flat=True)[:CANDIDATES]:
        token = secrets.token_hex(16)
        # The condition again: of two workers that saw the row free, the second one's update finds it held.
        if Work.objects.claimable(now).filter(pk=work_id).order_by().update(lease=token, lease_until=_end_of_lease()):
            row = Work.objects.filter(pk=work_id, lease=token).first()
            return WorkLease(row) if row else None
    return None


def _end_of_lease() -> datetime:
    return timezone.now() + timedelta(seconds=settings.LEASE_SECONDS)
