"""The write verb of recall: an entry for each completed run of the active path (seed 000 §3).

The cursor moves over a contiguous prefix of finished runs, one run a step, together with what the step stores; no model
is asked. So nothing is lost or doubled, whoever dies when.
"""

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from chat.memory.base import Lease
from chat.memory.recall.entries import Parts, add, drop, entry_of, parts_of
from chat.memory.redline_records import redact_and_record
from chat.memory.switches import is_memory_on
from chat.models import LayerState, Owner, RecallEntry, Run, Thread
from chat.models.run import finished_prefix

LAYER = "recall"
RUNS_AT_ONCE = 50


class Moved(Exception):
    """The thread, its path or the cursor is no longer as it was read."""


def catch_up(thread: Thread, lease: Lease) -> None:
    """Passes over the finished runs behind the cursor. Raises LeaseLost."""
    while True:
        state, _ = LayerState.objects.get_or_create(thread=thread, layer=LAYER)
        path = Run.objects.active_path().filter(thread=thread, slot__gt=state.upto_slot)
        runs = finished_prefix(path.defer("reasoning", "tool_calls")[:RUNS_AT_ONCE])
        if not runs:
            return
        try:
            for run in runs:
                lease.renew()
                _pass(thread, state, run, lease)
        except Moved:
            continue  # what is due now is looked up again


def _pass(thread: Thread, state: LayerState, run: Run, lease: Lease) -> None:
    """Keeps one run and moves the cursor behind it, or raises Moved and changes nothing.

    The thread's row is taken first, as everything does that changes the path, the title or deletes it.
    """
    owner = Owner(thread.tenant_id, thread.user_id, thread.agent_id)
    parts = _parts(thread, run, owner)
    with transaction.atomic():
        if not Thread.objects.filter(pk=thread.pk).update(summary_upto_slot=F("summary_upto_slot")):
            raise Moved
        moved = LayerState.objects.filter(pk=state.pk, upto_slot=state.upto_slot).update(
            upto_slot=run.slot, attempts=0, error_code="", retry_at=None, updated_at=timezone.now()
        )
        if not moved or not Run.objects.filter(pk=run.pk, is_latest=True).exists():
            raise Moved
        drop(owner, RecallEntry.objects.filter(thread=thread, run__slot=run.slot, run__is_latest=False))
        is_kept = RecallEntry.objects.filter(tenant_id=owner.tenant_id, user_id=owner.user_id, source=run.pk).exists()
        if parts is not None and not is_kept and is_memory_on(owner, thread):
            titled = Thread.objects.only("title").get(pk=thread.pk)
            add(owner, [entry_of(run, titled, parts)])
        lease.renew()
    state.upto_slot = run.slot


def _parts(thread: Thread, run: Run, owner: Owner) -> Parts | None:
    """None for a run that is not kept: failed, stopped, without a question, incognito, or sent while memory was off."""
    is_usable = run.status == Run.Status.COMPLETED and run.has_memory and not thread.is_incognito and run.input.strip()
    if not is_usable or not is_memory_on(owner, thread):
        return None
    return parts_of(run.input, run.output, lambda text: redact_and_record(owner, LAYER, text, run.pk))
