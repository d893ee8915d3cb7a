"""The write verb of core memory: after each completed run the model is asked once what is worth remembering.

The cursor moves over a contiguous prefix of finished runs, one run a step; what the step gave is stored in the same
transaction. So a crash loses at most the answer that was being waited for.
"""

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from chat.memory.base import Lease
from chat.memory.core.extract_prompt import grounded, messages, read
from chat.memory.core.journal import hold
from chat.memory.core.propose import SHARED_KINDS, Proposal, drop_runs, propose
from chat.memory.core.use import touch
from chat.memory.external.forgetting import is_forgotten
from chat.memory.model import Question, ask
from chat.memory.rounds import answer_text
from chat.memory.switches import is_memory_on
from chat.models import Agent, LayerState, MemoryOp, Owner, Run, Thread
from chat.models.run import finished_prefix
from chat.text.boundary import ASSISTANT_MARK, USER_MARK, clean
from chat.text.clip import clip
from chat.text.redlines import redact
from chat.text.tokens import count_tokens

LAYER = "core"
RUNS_AT_ONCE = 50
ANSWER_MOST_TOKENS = 400  # the answer is context alone
ROUND_MOST_TOKENS = 8_000
REPLY_TOKENS = 1_500  # some models think before they write
ATTEMPTS = 3
# Failures which say that the request or its answer is the trouble; after others the same request may well succeed.
HOPELESS = ("provider_rejected", "context_too_long")


class Moved(Exception):
    """The thread, its path or the cursor is no longer as it was read."""


def catch_up(thread: Thread, lease: Lease) -> None:
    """Passes over the finished runs behind the cursor. Raises LayerTrouble, ProviderError, LeaseLost or Interrupted."""
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
            continue  # what was found is dropped; what is due now is looked up again


def _pass(thread: Thread, state: LayerState, run: Run, lease: Lease) -> None:
    """Learns from one run and moves the cursor behind it, or raises Moved and changes nothing.

    The thread's row is taken first, as everything does that changes the path: either that has happened before, and the
    run is found replaced here, or it waits for us and then takes the cursor back.
    """
    owner = Owner(thread.tenant_id, thread.user_id, thread.agent_id)
    proposals = _found(thread, state, run, owner) if _is_due(thread, run, owner) else []
    with transaction.atomic():
        if not Thread.objects.filter(pk=thread.pk).update(summary_upto_slot=F("summary_upto_slot")):
            raise Moved
        moved = LayerState.objects.filter(pk=state.pk, upto_slot=state.upto_slot).update(
            upto_slot=run.slot, attempts=0, error_code="", retry_at=None, updated_at=timezone.now()
        )
        if not moved or not Run.objects.filter(pk=run.pk, is_latest=True).exists():
            raise Moved
        hold(thread.user_id)
        replaced = Run.objects.filter(thread=thread, slot=run.slot, is_latest=False).values_list("pk", flat=True)
        if replaced:
            drop_runs(owner, replaced)
        if proposals and is_memory_on(owner, thread) and not is_forgotten(owner, run):
            propose(owner, proposals, run=run)
        touch(owner, run)
        lease.renew()
    state.upto_slot = run.slot
    state.attempts = 0


def _is_due(thread: Thread, run: Run, owner: Owner) -> bool:
    """Failed and stopped runs teach nothing, nor do those that were sent while memory was off: that is not caught up later.

    Nor those of another memory backend, which learns from them itself (seed 002 §3), nor what is to be forgotten.
    """
    is_usable = run.status == Run.Status.COMPLETED and run.has_memory and not run.backend and not thread.is_incognito
    return is_usable and bool(run.input.strip()) and is_memory_on(owner, thread) and not is_forgotten(owner, run)


def _found(thread: Thread, state: LayerState, run: Run, owner: Owner) -> list[Proposal]:
    if _is_hopeless(thread, state):
        return []
    question = Question(MemoryOp.Kind.EXTRACTION, messages(_round(thread.agent, run), _date(run)), _reply_tokens(thread.agent), read)
    found = ask(thread, question)
    shown = redact(run.input) if found else ""
    items = [kept for item in found if (kept := grounded(item, run.input, shown))]
    return [
        Proposal(
            text=item.fact,
            kind=item.kind,
            agent_id=None if item.kind in SHARED_KINDS else owner.agent_id,
            confidence=item.confidence,
            quote=item.quote,
            reason=item.reason,
        )
        for item in items
    ]


def _round(agent: Agent, run: Run) -> str:
    """The round as it is sent: the teacher's words as far as they fit, the head of the answer."""
    room = min((agent.context_tokens - _reply_tokens(agent)) // 2, ROUND_MOST_TOKENS)
    answer = clip(answer_text(run), min(ANSWER_MOST_TOKENS, room // 4), run.input, _gap).text
    said = clip(clean(run.input), room - count_tokens(answer), "", _gap).text
    return f"{USER_MARK} {said}\n{ASSISTANT_MARK} {answer}"


def _gap(chars: int) -> str:
    return f"…（中略 {chars} 字）…"


def _reply_tokens(agent: Agent) -> int:
    return min(REPLY_TOKENS, agent.reply_tokens, agent.context_tokens // 4)


def _date(run: Run) -> str:
    return timezone.localtime(run.created_at).date().isoformat()


def _is_hopeless(thread: Thread, state: LayerState) -> bool:
    """Whether the last attempts at this run brought no usable answer. An outage does not count: then the work waits."""
    if state.attempts < ATTEMPTS:
        return False
    if state.error_code == "internal_error":
        return True  # a fault of ours with this answer; asking for ever would cost a call each time
    calls = MemoryOp.objects.filter(thread=thread, kind=MemoryOp.Kind.EXTRACTION).exclude(error_code="interrupted")
    last = list(calls.exclude(outcome=MemoryOp.Outcome.RUNNING).order_by("-created_at")[:ATTEMPTS])
    return bool(last) and all(op.outcome == MemoryOp.Outcome.UNUSABLE or op.error_code in HOPELESS for op in last)
