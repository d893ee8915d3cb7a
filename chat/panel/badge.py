"""How much waits for the teacher, and since when: on every page, live."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Count, Min

from chat.models import Candidate


@dataclass(frozen=True, slots=True)
class Badge:
    """`oldest_at` is None when nothing waits."""

    count: int = 0
    oldest_at: datetime | None = None


def badge_of(user: AbstractBaseUser, tenant_id: str) -> Badge:
    """What waits for the user in a school; one query, none without a school."""
    if not tenant_id:
        return Badge()
    waiting = Candidate.objects.for_user(user).filter(tenant_id=tenant_id, status=Candidate.Status.PENDING)
    found = waiting.aggregate(count=Count("pk"), oldest_at=Min("created_at"))
    return Badge(found["count"], found["oldest_at"])
