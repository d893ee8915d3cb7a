"""Whether memory is on: for the school, for the teacher, and in a conversation (DESIGN §2 Incognito, §6).

Asked anew for each message and each piece of background work and never kept, so a switch holds from the next message
on, in every process. Off means: no facts, notes or recall in a prompt, no memory tools, nothing learnt. What stays is
the running conversation itself, which is L1 with its tool `thread_read`. Looking, exporting and deleting never ask here.

The read path and `catch_up.settle` leave out every layer but that of L1 (`registry.working`). Who learns from runs
asks twice more: only runs with `Run.has_memory` (it was on when they were sent), and `is_memory_on` again directly
before storing, since the model's answer takes its time.
"""

from typing import Final, Literal

from django.db import connection
from django.utils import timezone

from chat.models import Owner, Preference, Thread

OffBy = Literal["", "school", "teacher", "thread"]  # "" is on; "thread" is an incognito one
# As plain SQL: asked several times a message, and building it by the ORM takes thirty times as long as the query.
SWITCHES: Final = """
SELECT has_memory, EXISTS (SELECT 1 FROM chat_preference WHERE user_id = %s AND NOT has_memory) FROM chat_tenant WHERE id = %s"""


def off_by(owner: Owner, *, is_incognito: bool = False) -> OffBy:
    """Who has switched memory off; of several the one that the teacher can do least about."""
    with connection.cursor() as cursor:
        cursor.execute(SWITCHES, [owner.user_id, owner.tenant_id])
        switches = cursor.fetchone()
    if switches is None or not switches[0]:
        return "school"
    if switches[1]:
        return "teacher"
    return "thread" if is_incognito else ""


def is_memory_on(owner: Owner, thread: Thread | None = None) -> bool:
    """Whether something may be remembered or recalled for the owner, and in the thread when one is given."""
    return not off_by(owner, is_incognito=thread is not None and thread.is_incognito)


def switch_memory(user_id: int, *, is_on: bool) -> None:
    """Switches memory for a teacher, in all their schools."""
    Preference.objects.update_or_create(user_id=user_id, defaults={"has_memory": is_on, "news_at": timezone.now()})
