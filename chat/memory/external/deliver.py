"""The write verb of the external layer: what was said goes to the memory backend (seed 002 §7, DESIGN §5).

The cursor moves over a contiguous prefix of finished runs, RUNS_AT_ONCE a step at most, after the backend has accepted what
of them is to go. A step that ends anywhere is done again: what the backend has already is left out by its watermark.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import F, Max
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
from chat.memory.external.watermarks import passed_of, sessions_of
from chat.memory.redline_records import record_all
from chat.memory.rounds import without_marks
from chat.memory.switches import is_memory_on
from chat.models import LayerState, Owner, RemoteGap, RemoteScope, RemoteSession, Run, Thread, Work
from chat.models.run import finished_prefix, said_at
from chat.text.redlines import find

log = logging.getLogger(__name__)

LAYER = "external"
RUNS_AT_ONCE = 50
# Not the backend's refusal of these messages: dropping them would help nobody.
NEVER_DROPPED = (BackendClosed, BackendMisconfigured)
MOVED_MOST = 8  # one after the other: somebody else writes the mark, as the worker that follows its tasks, or the thread goes on


class Moved(Exception):
    """The thread, its path, the cursor or the mark is no longer as it was read, or its words may not go any more."""


@dataclass(frozen=True, slots=True)
class Receiver:
    """Where the thread's words go, and since when they may."""

    backend: str
    manager: MemoryManager
    owner: Owner
    scope: MemoryScope
    since: datetime | None  # None: they may not
    is_known: bool  # whether it is kept here that words of the thread go there
    passed: tuple[int, int]

    def may_have(self, run: Run) -> bool:
        """Completed runs that were made for this backend, with memory, after the teacher had agreed and last asked to forget.

        When the cursor was taken back for a round that was made anew, those behind it have gone there: a backend keeps a
        window of ids only, and would take old ones twice.
        """
        if run.slot <= self.passed[0] and run.position <= self.passed[1]:
            return False
        if self.since is None or said_at(run) < self.since:
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
    moved = 0
    while moved < MOVED_MOST:
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
            moved = 0
        except Moved:
            moved += 1  # who may have what is due now is looked up again
    raise LayerTrouble(WatermarkMoved.code)


def _receiver(thread: Thread, backend: str) -> Receiver | None:
    """None while nothing is written: memory was switched off, or everything is being forgotten."""
    owner = Owner(thread.tenant_id, thread.user_id, thread.agent_id)
    scope = scope_of(owner)
    if not is_memory_on(owner, thread) or is_forgetting(scope, backend):
        return None
    agreed, forgotten = agreed_at(owner, backend), forgotten_at(scope, backend)
    since = max(agreed, forgotten) if agreed and forgotten else agreed
    told = sessions_of(backend, scope).filter(thread_key=thread.pk).values_list("mark", flat=True).first()
    return Receiver(backend, chosen.manager(backend), owner, scope, since, told is not None, passed_of(told or {}))


def _pass(thread: Thread, to: Receiver, upto_slot: int, runs: Sequence[Run], lease: Lease) -> None:
    """Hands over what is due of the runs and moves the cursor from `upto_slot` behind them, or raises Moved.

    The thread's row is taken first, as everything does that changes the path or deletes it.
    """
    due = [run for run in runs if to.may_have(run)]
    if due and not to.is_known:
        _make_known(thread, to)
    dropped = _hand_over(thread, to, due) if due else []
    with transaction.atomic():
        if not Thread.objects.filter(pk=thread.pk).update(summary_upto_slot=F("summary_upto_slot")):
            raise Moved  # deleted: its session is forgotten by whoever did
        _move_cursor(thread, upto_slot, runs[-1].slot)
        if Run.objects.filter(pk__in=[run.pk for run in runs], is_latest=True).count() != len(runs):
            raise Moved
        if due:
            _note(thread, to, due, dropped)
        _note_passed(thread, to, runs[-1].slot)
        lease.renew()


def _make_known(thread: Thread, to: Receiver) -> None:
    """Keeps that words of the thread go there before any does: whoever deletes the thread from here on finds it."""
    with transaction.atomic():
        if not Thread.objects.filter(pk=thread.pk).update(summary_upto_slot=F("summary_upto_slot")):
            raise Moved
        _session(thread, to)


def _hand_over(thread: Thread, to: Receiver, due: Sequence[Run]) -> Sequence[Run]:
    """Gives the messages to the backend. Returns the runs that were dropped: what it can never take holds up no other round."""
    messages = [message for run in due for message in messages_of(run)]
    try:
        calls.call(to.manager.add(to.scope, thread.pk, messages))
        return ()
    except WatermarkMoved:
        raise Moved from None
    except BackendError as error:
        is_dropped = error.refuses_text or to.manager.drops_writes
        if not is_dropped or isinstance(error, NEVER_DROPPED):
            raise LayerTrouble(error.code) from error
        if error.refuses_text and len(due) > 1:
            return [run for one in due for run in _hand_over(thread, to, [one])]
        log.warning("%d rounds of thread %s were not captured: %s", len(due), thread.pk, error.code)
        return due


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


def _note(thread: Thread, to: Receiver, due: Sequence[Run], dropped: Sequence[Run]) -> None:
    """What follows from the handing over: rounds that were dropped, tasks to be followed, what the filter takes out."""
    if dropped:
        note_gaps(_session(thread, to), [run.pk for run in dropped], "dropped")
    for session in sessions_of(to.backend, to.scope).filter(thread_key=thread.pk, pending_tasks__gt=0):
        Work.objects.mark(Work.Kind.REMOTE, session.pk)
    for run in due:
        stopped = [(message.content, hits) for message in messages_of(run) if (hits := find(message.content))]
        record_all(to.owner, LAYER, stopped, source_id=run.pk)


def _note_passed(thread: Thread, to: Receiver, slot: int) -> None:
    """Keeps with the mark up to where all has gone there, once the cursor is as far as it ever was. Raises Moved."""
    session = sessions_of(to.backend, to.scope).filter(thread_key=thread.pk).first()
    if session is None or slot < passed_of(session.mark)[0]:
        return
    newest = Run.objects.filter(thread=thread, is_latest=True, slot__lte=slot).aggregate(newest=Max("position"))["newest"]
    own = RemoteSession.objects.filter(pk=session.pk, version=session.version)
    if not own.update(mark=session.mark | {"passed": [slot, newest]}, version=F("version") + 1):
        raise Moved


def _session(thread: Thread, to: Receiver) -> RemoteSession:
    """Its version is that of a mark which was saved: once it is forgotten, nobody who had read it makes it anew."""
    whose, _ = RemoteScope.objects.get_or_create(
        backend=to.backend, tenant_key=to.scope.tenant_id, user_key=to.scope.user_id, agent_key=to.scope.agent_id
    )
    return RemoteSession.objects.get_or_create(scope=whose, thread_key=thread.pk, defaults={"version": 1})[0]


def note_gaps(session: RemoteSession, run_ids: Sequence[str], outcome: str) -> None:
    """Keeps that no memory was made of these rounds; each once."""
    RemoteGap.objects.bulk_create(
        [RemoteGap(session=session, run_key=run_id, outcome=outcome) for run_id in dict.fromkeys(run_ids)], ignore_conflicts=True
    )
