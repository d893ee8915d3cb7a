"""How much waits for the teacher, and since when: on every page, live."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.contrib.auth.models import AbstractBaseUser

from chat.models import Candidate, NoteOp

# As plain SQL: each page asks for it at each change, and building it by the ORM takes six times as long as the query.
WAITING: Final = """
SELECT MIN(id) AS id, COUNT(*) AS waiting, MIN(created_at) AS created_at FROM (
SELECT candidate.id, candidate.created_at FROM chat_candidate candidate
JOIN chat_membership membership ON membership.tenant_id = candidate.tenant_id AND membership.user_id = candidate.user_id
WHERE candidate.user_id = %s AND candidate.tenant_id = %s AND candidate.status = %s
UNION ALL SELECT note.id, note.created_at FROM chat_noteop note
JOIN chat_membership membership ON membership.tenant_id = note.tenant_id AND membership.user_id = note.user_id
WHERE note.user_id = %s AND note.tenant_id = %s AND note.state = %s) waiting"""


@dataclass(frozen=True, slots=True)
class Badge:
    """`oldest_at` is None when nothing waits."""

    count: int = 0
    oldest_at: datetime | None = None


def badge_of(user: AbstractBaseUser, tenant_id: str) -> Badge:
    """What waits for the user in a school, memories and changes of notes; one query, none without a school."""
    if not tenant_id:
        return Badge()
    owner = (user.pk, tenant_id)
    found = vars(next(iter(Candidate.objects.raw(WAITING, [*owner, Candidate.Status.PENDING, *owner, NoteOp.State.STAGED]))))
    return Badge(found["waiting"], found["created_at"])
