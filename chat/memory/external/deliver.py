"""The write verb of the external layer: what was said goes to the memory backend (seed 002 §7, DESIGN §5).

The cursor moves over a contiguous prefix of finished runs, RUNS_AT_ONCE a step at most, after the backend has accepted what
of them is to go. A step that ends anywhere is done again: what the backend has already is left out by its watermark.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from chat.memory import calls
from chat.memory.backends.base import (
    BackendClosed,
    BackendError,
    BackendMisconfigured,
    MemoryManager,
    MemoryMessage,
    MemoryScope,
    WatermarkMoved,
)
from chat.memory.base import LayerTrouble, Lease
from chat.memory.external import chosen
from chat.memory.external.forgetting import forgotten_at, is_forgetting, scope_of
from chat.memory.external.permission import agreed_at
from chat.memory.external.watermarks import sessions_of
from chat.memory.redline_records import record_all
from chat.memory.rounds import without_marks
from chat.memory.switches import is_memory_on
from chat.models import LayerState, Owner, RemoteGap, RemoteScope, RemoteSession, Run, Thread, Work
from chat.models.run import finished_prefix
from chat.text.redlines import find

log = logging.getLogger(__name__)

LAYER = "external"
RUNS_AT_ONCE = 50
# Not the backend's refusal of these messages: dropping them would help nobody.
NEVER_DROPPED = (BackendClosed, BackendMisconfigured)
MOVED_MOST = 4  # somebody else writes the mark of the same conversation: the worker that follows its tasks, for an instant


class Moved(Exception):
    """The thread, its path or the cursor is no longer as it was read."""


@dataclass(frozen=True, slots=True)
class Receiver:
    """Where the thread's words go, and since when they may."""

    backend: str
    manager: MemoryManager
    owner: Owner
    scope: MemoryScope
    since: datetime | None  # None: they may not

    def may_have(self, run: Run) -> bool:
        """Completed runs that were made for this backend, with memory, after the teacher had agreed and last asked to forget."""
        if self.since is None or run.created_at < self.since:
            return False
        return run.status == Run.Status.COMPLETED and run.has_memory and run.backend == self.backend and bool(run.input.strip())


def catch_up(thread: Thread, lease: Lease) -> None:
    """Passes over the finished runs behind the cursor; does nothing, at no cost, while the built-in backend is in force.

    Nor while everything is being forgotten: then the thread is marked again at the end of that. What was made for another
    backend is passed over. Raises LayerTrouble, LeaseLost and Interrupted.
    """
    try:
        backend = chosen.external_of(thread.agent)
        if not backend or not chosen.manager(backend).capabilities.sends_text:
            return
    except BackendMisconfigured as error:
        raise LayerTrouble(error.code) from error
    while True:
        to = _receiver(thread, backend)
        if to is None:
            return
        upto_slot = LayerState.objects.filter(thread=thread, layer=LAYER).values_list("upto_slot", flat=True).first() or 0
        path = Run.objects.active_path().filter(thread=thread, slot__gt=upto_slot)
        runs = finished_prefix(path.defer("reasoning", "tool_calls")[:RUNS_AT_ONCE])
        if not runs:
            return
        lease.renew()
        try:
            _pass(thread, to, upto_slot, runs, lease)
        except Moved:
            continue  # what is due now is looked up again


def _receiver(thread: Thread, backend: str) -> Receiver | None:
    """None while nothing is written: memory was switched off, or everything is being forgotten."""
    owner = Owner(thread.tenant_id, thread.user_id, thread.agent_id)
    scope = scope_of(owner)
    if not is_memory_on(owner, thread) or is_forgetting(scope, backend):
        return None
    agreed, forgotten = agreed_at(owner, backend), forgotten_at(scope, backend)
    since = max(agreed, forgotten) if agreed and forgotten else agreed
    return Receiver(backend, chosen.manager(backend), owner, scope, since)


def _pass(thread: Thread, to: Receiver, upto_slot: int, runs: Sequence[Run], lease: Lease) -> None:
    """Hands over what is due of the runs and moves the cursor from `upto_slot` behind them, or raises Moved.

    The thread's row is taken first, as everything does that changes the path or deletes it.
    """
    due = [run for run in runs if to.may_have(run)]
    dropped = _hand_over(thread, to, due) if due else ""
    with transaction.atomic():
        if not Thread.objects.filter(pk=thread.pk).update(summary_upto_slot=F("summary_upto_slot")):
            raise Moved  # deleted: its session is forgotten by whoever did, or by the sweep
        _move_cursor(thread, upto_slot, runs[-1].slot)
        if Run.objects.filter(pk__in=[run.pk for run in runs], is_latest=True).count() != len(runs):
            raise Moved
        if due:
            _note(thread, to, due, dropped)
        lease.renew()


def _hand_over(thread: Thread, to: Receiver, due: Sequence[Run]) -> str:
    """Gives the messages to the backend. Returns the code of the trouble for which they were dropped, "" when it has them."""
    messages = [message for run in due for message in messages_of(run)]
    for _ in range(MOVED_MOST):
        try:
            calls.call(to.manager.add(to.scope, thread.pk, messages))
            return ""
        except WatermarkMoved:
            if is_forgetting(to.scope, to.backend):
                raise Moved from None
        except BackendError as error:
            if not to.manager.drops_writes or isinstance(error, NEVER_DROPPED):
                raise LayerTrouble(error.code) from error
            log.warning("Rounds of thread %s were not captured: %s", thread.pk, error.code)
            return error.code
    raise LayerTrouble(WatermarkMoved.code)


def messages_of(run: Run) -> list[MemoryMessage]:
    """What the teacher said and what they were answered, as it is shown to them."""
    answer = without_marks(run.output, len(run.citations))
    said = [
        MemoryMessage(f"{run.pk}:user", "user", run.input, run.created_at),
        MemoryMessage(f"{run.pk}:assistant", "assistant", answer, run.finished_at),
    ]
    return [message for message in said if message.content.strip()]


def run_of(message_id: str) -> str:
    return message_id.rpartition(":")[0]


def _move_cursor(thread: Thread, upto_slot: int, slot: int) -> None:
    LayerState.objects.get_or_create(thread=thread, layer=LAYER)
    state = LayerState.objects.filter(thread=thread, layer=LAYER, upto_slot=upto_slot)
    if not state.update(upto_slot=slot, attempts=0, error_code="", retry_at=None, updated_at=timezone.now()):
        raise Moved


def _note(thread: Thread, to: Receiver, due: Sequence[Run], dropped: str) -> None:
    """What follows from the handing over: rounds that were dropped, tasks to be followed, what the filter takes out."""
    if dropped:
        note_gaps(_session(thread, to), [run.pk for run in due], "dropped")
    for session in sessions_of(to.backend, to.scope).filter(thread_key=thread.pk, pending_tasks__gt=0):
        Work.objects.mark(Work.Kind.REMOTE, session.pk)
    for run in due:
        stopped = [(message.content, hits) for message in messages_of(run) if (hits := find(message.content))]
        record_all(to.owner, LAYER, stopped, source_id=run.pk)


def _session(thread: Thread, to: Receiver) -> RemoteSession:
    whose, _ = RemoteScope.objects.get_or_create(
        backend=to.backend, tenant_key=to.scope.tenant_id, user_key=to.scope.user_id, agent_key=to.scope.agent_id
    )
    return RemoteSession.objects.get_or_create(scope=whose, thread_key=thread.pk)[0]


def note_gaps(session: RemoteSession, run_ids: Sequence[str], outcome: str) -> None:
    """Keeps that no memory was made of these rounds; each once."""
    RemoteGap.objects.bulk_create(
        [RemoteGap(session=session, run_key=run_id, outcome=outcome) for run_id in dict.fromkeys(run_ids)], ignore_conflicts=True
    )
