"""What became of what a backend took: its tasks are asked after until they have ended; one that failed leaves gaps.

Also the work of a conversation that is gone here and is to be gone there.
"""

import logging

from django.db import transaction

from chat.memory import calls
from chat.memory.backends.base import BackendError, BackendMisconfigured, FollowUp, MemoryScope
from chat.memory.base import Lease
from chat.memory.catch_up import Later, wait_seconds
from chat.memory.external import chosen
from chat.memory.external.deliver import note_gaps, run_of
from chat.memory.external.forgetting import again, attempts_of, forget_session
from chat.models import RemoteSession, Work

log = logging.getLogger(__name__)

FIRST_LOOK_SECONDS = 1.0
LONGEST_LOOK_SECONDS = 30.0
UNREACHABLE_MOST_SECONDS = 60.0
AWAY_SECONDS = 600.0  # for a backend that is not set up any more


def follow_up(session_id: str, lease: Lease) -> Later | None:
    """Asks once after the tasks of a conversation. Returns when to ask again; without an error code it is only not over yet.

    Raises LeaseLost and Interrupted.
    """
    session = RemoteSession.objects.select_related("scope").filter(pk=session_id).first()
    if session is None:
        return None
    if session.forget_asked_at is not None:
        return forget_session(session, lease)
    if session.scope.forget_asked_at is not None or not session.pending_tasks:
        return None  # everything of the scope goes, its tasks too
    attempts = attempts_of(Work.Kind.REMOTE, session_id)
    scope = MemoryScope(session.scope.tenant_key, session.scope.user_key, session.scope.agent_key)
    try:
        manager = chosen.manager_of_earlier(session.scope.backend)
        found = calls.call(manager.follow_up(scope, session.thread_key))
        _note(session, found, lease)
        if found.ended:
            calls.call(manager.settled(scope, session.thread_key, [one.task_id for one in found.ended]))
    except BackendMisconfigured:
        return again(AWAY_SECONDS)
    except BackendError as error:
        log.warning("Tasks of session %s could not be asked after: %s", session_id, error.code)
        return again(min(UNREACHABLE_MOST_SECONDS, wait_seconds(attempts + 1)), error.code)
    return again(min(LONGEST_LOOK_SECONDS, FIRST_LOOK_SECONDS * 1.5 ** min(attempts, 32))) if found.pending else None


def _note(session: RemoteSession, found: FollowUp, lease: Lease) -> None:
    """Keeps the rounds of which no memory came; before the backend is told that their end was noted."""
    gone = [one for one in found.ended if one.outcome != "completed"]
    with transaction.atomic():
        lease.renew()
        for one in gone:
            note_gaps(session, [run_of(message_id) for message_id in one.message_ids], one.outcome)
    for one in gone:
        log.warning("Task %s of session %s was %s: its rounds were not captured", one.task_id, session.pk, one.outcome)
