"""How much waits for the teacher, and since when: on every page, live."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Count, Min, OuterRef, QuerySet, Subquery

from chat.models import Candidate, NoteOp, Tenant


@dataclass(frozen=True, slots=True)
class Badge:
    """`oldest_at` is None when nothing waits."""

    count: int = 0
    oldest_at: datetime | None = None


def badge_of(user: AbstractBaseUser, tenant_id: str) -> Badge:
    """What waits for the user in a school, memories and changes of notes; one query, none without a school."""
    if not tenant_id:
        return Badge()
    memories = Candidate.objects.for_user(user).filter(status=Candidate.Status.PENDING)
    notes = NoteOp.objects.for_user(user).filter(state=NoteOp.State.STAGED)
    found = Tenant.objects.filter(pk=tenant_id).values_list(*_count_and_oldest(memories), *_count_and_oldest(notes)).first()
    if found is None:
        return Badge()
    oldest = [at for at in (found[1], found[3]) if at is not None]
    return Badge((found[0] or 0) + (found[2] or 0), min(oldest, default=None))


def _count_and_oldest(waiting: QuerySet[Any]) -> tuple[Subquery, Subquery]:
    """Of the rows of the school that is looked at; NULL for none."""
    of_school = waiting.filter(tenant=OuterRef("pk")).order_by().values("tenant")
    count, oldest = of_school.annotate(number=Count("pk")), of_school.annotate(at=Min("created_at"))
    return Subquery(count.values("number")), Subquery(oldest.values("at"))
