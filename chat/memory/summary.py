"""The write verb of thread memory: old rounds become a rolling summary (seed 000 §2, DESIGN §5 L1).

What is due and what goes into a request follow from the stored rows alone, and each accepted answer is one step that
is stored in one transaction. So a crash loses at most the answer that was being waited for; the same step is then
asked for again.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from chat.memory.base import Lease
from chat.memory.model import Question, ask
from chat.memory.redline_records import redact_and_record
from chat.memory.rounds import answer_text, round_text
from chat.memory.summary_prompt import messages, reader
from chat.models import Agent, LayerState, MemoryOp, Owner, Run, Summary, Thread
from chat.models.run import finished_prefix
from chat.models.tenancy import ping
from chat.providers.base import Message
from chat.text.boundary import ASSISTANT_MARK, CANCELLED_ROUND, FAILED_ROUND, USER_MARK, clean
from chat.text.clip import clip, sentence_head
from chat.text.redlines import head_of, redact
from chat.text.tokens import count_tokens

LAYER = "thread"
ROUNDS_READ = 200  # more rounds than this are summed up in several steps anyway
REQUEST_MOST_TOKENS = 24_000  # also for models with huge windows: the call stays short, and 600 tokens can hold what matters
ROUND_LEAST_TOKENS = 120
ATTEMPTS = 5
HEAD_CHARS = 1_000  # read for a first sentence
SENTENCE_CHARS = 80
# Failures which say that the request or its answer is the trouble; after others the same request may well succeed.
HOPELESS = ("provider_rejected", "context_too_long")


@dataclass(frozen=True, slots=True)
class Step:
    """The next step of the summary: `rounds` are folded into what `thread` has. `texts` are the rounds as they are sent."""

    thread: Thread
    rounds: list[Run]
    texts: list[str]

    @property
    def agent(self) -> Agent:
        return self.thread.agent

    @property
    def messages(self) -> list[Message]:
        return messages(self.thread.rolling_summary, self.texts, limit_tokens(self.agent))


class PathChanged(Exception):
    """What was summed up is no longer what the thread says."""


def catch_up(thread: Thread, lease: Lease) -> None:
    """Sums up old rounds until none is due. Raises LayerTrouble, ProviderError, LeaseLost or Interrupted."""
    while (step := next_step(thread.pk)) is not None:
        lease.renew()
        text, origin = _sum_up(step)
        try:
            _store(step, text, origin, lease)
        except PathChanged:
            continue  # the answer is dropped; what is due now is looked up again


def limit_tokens(agent: Agent) -> int:
    """The longest summary: the agent's setting, at most an eighth of a small window."""
    return min(agent.summary_tokens, agent.context_tokens // 8)


def reply_tokens(agent: Agent) -> int:
    """Room for the answer: twice the summary, as models count badly and some think before they write."""
    return min(max(2 * limit_tokens(agent), 1_024), agent.reply_tokens, agent.context_tokens // 4)


def next_step(thread_id: str) -> Step | None:
    """What is to be summed up next; None when nothing is due or the thread is gone.

    Rounds are due when there are more than K behind the cursor and they are too long or too many (DESIGN §5 L1). They
    go down to K, oldest first, as many as fit a request.
    """
    thread = Thread.objects.select_related("agent__provider").filter(pk=thread_id).first()
    if thread is None:
        return None
    agent = thread.agent
    path = Run.objects.active_path().filter(thread_id=thread_id, slot__gt=thread.summary_upto_slot)
    rounds = finished_prefix(path.defer("reasoning", "tool_calls")[:ROUNDS_READ])
    if len(rounds) <= agent.keep_rounds:
        return None
    texts = [round_text(run) for run in rounds]
    sizes = [count_tokens(text) for text in texts]
    if sum(sizes) <= agent.compress_over_tokens and len(rounds) <= agent.compress_over_rounds:
        return None
    old = len(rounds) - agent.keep_rounds
    room = _room_tokens(thread)
    count, used = 0, 0
    while count < old and used + sizes[count] <= room:
        used += sizes[count]
        count += 1
    if count == 0:
        return Step(thread, rounds[:1], [_clipped(rounds[0], room)])
    return Step(thread, rounds[:count], texts[:count])


def _room_tokens(thread: Thread) -> int:
    """Tokens of rounds that fit a request: with the reply at most half of what the window has (and REQUEST_MOST_TOKENS)."""
    agent = thread.agent
    frame = messages(thread.rolling_summary, [], limit_tokens(agent))
    room = min((agent.context_tokens - reply_tokens(agent)) // 2, REQUEST_MOST_TOKENS)
    return max(ROUND_LEAST_TOKENS, room - sum(count_tokens(message["content"]) for message in frame))


def _clipped(run: Run, room_tokens: int) -> str:
    """A round that alone is too long for a request: the input to a third of the room, the output to the rest."""
    question = clip(clean(run.input), room_tokens // 3, "", _gap).text
    answer = clip(answer_text(run), room_tokens - count_tokens(question), "", _gap).text
    return f"{USER_MARK} {question}\n{ASSISTANT_MARK} {answer}"


def _gap(chars: int) -> str:
    return f"…（中略 {chars} 字）…"


def _sum_up(step: Step) -> tuple[str, Summary.Origin]:
    limit, redacted = limit_tokens(step.agent), _redacter(step.thread)
    if _is_hopeless(step.thread):
        return extract(step.thread.rolling_summary, step.rounds, limit, redacted), Summary.Origin.EXTRACT
    question = Question(MemoryOp.Kind.SUMMARY, step.messages, reply_tokens(step.agent), reader(limit, redacted))
    return ask(step.thread, question), Summary.Origin.MODEL


def _redacter(thread: Thread) -> Callable[[str], str]:
    """Puts placeholders for what is sensitive, and keeps a record of what was taken out; not of an incognito thread."""
    if thread.is_incognito:
        return redact
    owner = Owner(thread.tenant_id, thread.user_id, thread.agent_id)
    return lambda text: redact_and_record(owner, LAYER, text, thread.pk)


def _is_hopeless(thread: Thread) -> bool:
    """Whether the last five attempts in a row brought no usable answer.

    An outage of the service does not count: then the work waits (DESIGN §8).
    """
    if not LayerState.objects.filter(thread=thread, layer=LAYER, attempts__gte=ATTEMPTS).exists():
        return False
    calls = MemoryOp.objects.filter(thread=thread, kind=MemoryOp.Kind.SUMMARY).exclude(error_code="interrupted")
    last = list(calls.exclude(outcome=MemoryOp.Outcome.RUNNING).order_by("-created_at")[:ATTEMPTS])
    return bool(last) and all(op.outcome == MemoryOp.Outcome.UNUSABLE or op.error_code in HOPELESS for op in last)


def _store(step: Step, text: str, origin: Summary.Origin, lease: Lease) -> None:
    """Stores the step and moves the cursor, or raises PathChanged or LeaseLost and changes nothing.

    Why no change of the active path slips through: it happens in a transaction which also updates the thread's row
    (`rewind` does, and so does the allocation of a position). Ours updates that row first. Either the other one has
    committed before, then its rewind has moved the cursor or the path is found changed here; or it waits for us, and
    then its rewind finds this step and drops it. The lease is renewed last, so that rows are locked in the order of a
    run's end (thread, then work); until we commit nobody can take it over.
    """
    thread, last = step.thread, step.rounds[-1]
    with transaction.atomic():
        is_moved = Thread.objects.filter(
            pk=thread.pk, summary_upto_slot=thread.summary_upto_slot, rolling_summary=thread.rolling_summary
        ).update(rolling_summary=text, summary_upto_at=last.created_at, summary_upto_slot=last.slot)
        path = Run.objects.active_path().filter(thread=thread, slot__gt=thread.summary_upto_slot, slot__lte=last.slot)
        if not is_moved or list(path.values_list("pk", flat=True)) != [run.pk for run in step.rounds]:
            raise PathChanged
        Summary.objects.create(thread=thread, upto_slot=last.slot, upto_at=last.created_at, text=text, origin=origin)
        LayerState.objects.filter(thread=thread, layer=LAYER).update(attempts=0, error_code="", retry_at=None, updated_at=timezone.now())
        ping(thread.user_id)
        lease.renew()


def extract(earlier: str, rounds: list[Run], limit: int, redacted: Callable[[str], str]) -> str:
    """A summary without a model: what there was, and the first sentences of each round, newest kept first."""
    kept = earlier if count_tokens(earlier) <= limit // 2 else sentence_head(earlier, limit // 2)
    left = limit - count_tokens(kept)
    lines: list[str] = []
    for run in reversed(rounds):
        line = f"{_first_sentence(run.input, redacted)} → {_short_answer(run, redacted)}"
        if count_tokens(line) >= left and not lines:
            line = sentence_head(line, left - 1)  # an empty summary would lose all of them
        left -= count_tokens(line) + 1
        if left < 0:
            break
        lines.insert(0, line)
    return "\n".join(part for part in [kept.strip(), *lines] if part)


def _short_answer(run: Run, redacted: Callable[[str], str]) -> str:
    if run.status == Run.Status.FAILED:
        return FAILED_ROUND
    if run.status == Run.Status.CANCELLED:
        return f"{_first_sentence(run.output, redacted)}{CANCELLED_ROUND}"
    return _first_sentence(run.output, redacted)


_SENTENCE_END = re.compile(r"(?<=[。！？!?；])|(?<=\.)\s|\n")


def _first_sentence(text: str, redacted: Callable[[str], str]) -> str:
    """The first sentence, at most SENTENCE_CHARS long; through the filter before it is cut, as half a number is not recognised."""
    head = redacted(head_of(text.strip(), HEAD_CHARS))
    first = next((part.strip() for part in _SENTENCE_END.split(head) if part.strip()), "")
    return first if len(first) <= SENTENCE_CHARS else f"{first[:SENTENCE_CHARS]}…"
