"""The write verb of recall: an entry for each completed run of the active path (seed 000 §3).

The cursor moves over a contiguous prefix of finished runs, one run a step, together with what the step stores; no model
is asked. So nothing is lost or doubled, whoever dies when.
"""

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from chat.memory.base import Lease
from chat.memory.external.forgetting import is_forgotten
from chat.memory.recall.entries import Parts, add, drop, entry_of, parts_of
from chat.memory.redline_records import record_all
from chat.memory.rounds import without_marks
from chat.memory.switches import is_memory_on
from chat.models import LayerState, Owner, RecallEntry, Run, Thread
from chat.models.run import finished_prefix
from chat.text.redlines import Hit, find, redact

LAYER = "recall"
RUNS_AT_ONCE = 50
Stopped = tuple[str, list[Hit]]  # a text and what is sensitive in it


class Moved(Exception):
    """The thread, its path or the cursor is no longer as it was read."""


def catch_up(thread: Thread, lease: Lease) -> None:
    """Passes over the finished runs behind the cursor. Raises LeaseLost."""
    while True:
        upto_slot = LayerState.objects.filter(thread=thread, layer=LAYER).values_list("upto_slot", flat=True).first() or 0
        path = Run.objects.active_path().filter(thread=thread, slot__gt=upto_slot)
        runs = finished_prefix(path.select_related("provider").defer("reasoning", "tool_calls")[:RUNS_AT_ONCE])
        if not runs:
            return
        try:
            for run in runs:
                lease.renew()
                _pass(thread, upto_slot, run, lease)
                upto_slot = run.slot
        except Moved:
            continue  # what is due now is looked up again


def _pass(thread: Thread, upto_slot: int, run: Run, lease: Lease) -> None:
    """Keeps one run and moves the cursor from `upto_slot` behind it, or raises Moved and changes nothing.

    The thread's row is taken first, as everything does that changes the path, the title or deletes it.
    """
    owner = Owner(thread.tenant_id, thread.user_id, thread.agent_id)
    stopped: list[Stopped] = []
    parts = _parts(thread, run, stopped) if is_memory_on(owner, thread) else None
    with transaction.atomic():
        if not Thread.objects.filter(pk=thread.pk).update(summary_upto_slot=F("summary_upto_slot")):
            raise Moved
        _move_cursor(thread, upto_slot, run.slot)
        if not Run.objects.filter(pk=run.pk, is_latest=True).exists():
            raise Moved
        drop(owner, RecallEntry.objects.filter(thread=thread, run__slot=run.slot, run__is_latest=False))
        if parts is not None and is_memory_on(owner, thread) and not is_forgotten(owner, run):
            titled = Thread.objects.only("title").get(pk=thread.pk)
            add(owner, [entry_of(run, titled, parts)])
            record_all(owner, LAYER, stopped, source_id=run.pk)
        lease.renew()


def _move_cursor(thread: Thread, upto_slot: int, slot: int) -> None:
    LayerState.objects.get_or_create(thread=thread, layer=LAYER)
    state = LayerState.objects.filter(thread=thread, layer=LAYER, upto_slot=upto_slot)
    if not state.update(upto_slot=slot, attempts=0, error_code="", retry_at=None, updated_at=timezone.now()):
        raise Moved


def _parts(thread: Thread, run: Run, stopped: list[Stopped]) -> Parts | None:
    """None for a run that is not kept: failed, stopped, without a question, incognito, or sent while memory was off."""
    is_usable = run.status == Run.Status.COMPLETED and run.has_memory and not thread.is_incognito and run.input.strip()
    return parts_of(run.input, without_marks(run.output, len(run.citations)), lambda text: redacted(text, stopped)) if is_usable else None


def redacted(text: str, stopped: list[Stopped]) -> str:
    """`text` with its placeholders; when there are any it is put with their places into `stopped`, to be recorded."""
    hits = find(text)
    if not hits:
        return text
    stopped.append((text, hits))
    return redact(text)
