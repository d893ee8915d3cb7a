"""Thread memory (L1): the rolling summary and the rounds behind its cursor (seed 000 §2, DESIGN §4)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from chat.memory import summary
from chat.memory.base import Lease, Segment, SegmentName, Turn
from chat.memory.blocked import reason_of, threat_in_history
from chat.memory.rounds import answer_text, told
from chat.models import Run, Thread
from chat.text.boundary import (
    ROUNDS_LABEL,
    SUMMARY_LABEL,
    THREAD_CLOSE_LAST,
    THREAD_OPEN,
    clean,
)
from chat.text.clip import clip, sentence_head
from chat.text.tokens import count_tokens

# Of a question or an answer when it is shortened, twelve times a long paper: weighing every line of 400,000 characters
# took 3 to 8 s, in which all other answers of the process waited.
SEEN_CHARS = 60_000
SUMMARY_BLOCKED = "（此前对话的摘要被安全检查拦下，未放入）"
SMALLEST_TOKENS = 200  # the frame alone takes about 120; less than this tells the model nothing


@dataclass(slots=True)
class _Shown:
    """A round as it goes into the prompt, both texts cleaned; `missing_tokens` is what was shortened away."""

    run: Run
    question: str
    answer: str
    tokens: int
    missing_tokens: int = 0

    @property
    def text(self) -> str:
        return told(self.question, self.answer)


class ThreadLayer:
    name = "thread"
    segment: SegmentName = "thread"
    priority = 2

    def read(self, turn: Turn, budget_tokens: int) -> Segment | None:
        if turn.thread is None or not (turn.rounds or turn.thread.rolling_summary):
            return None
        budget = min(budget_tokens, turn.agent.thread_tokens)
        if budget < SMALLEST_TOKENS:
            return _nothing(turn, budget)
        rounds_budget = turn.agent.rounds_tokens
        while True:
            segment = _build(turn, budget, rounds_budget)
            # Parts are counted one by one; joined they can come to a few tokens more.
            excess = segment.tokens - budget
            if excess <= 0 or rounds_budget <= 0:
                return segment
            rounds_budget = min(rounds_budget, budget) - excess - 8

    def catch_up(self, thread: Thread, lease: Lease) -> None:
        summary.catch_up(thread, lease)


def _nothing(turn: Turn, budget: int) -> Segment:
    return Segment("thread", "user", "", 0, budget, ThreadLayer.priority, dropped=_dropped(turn, turn.rounds))


def _build(turn: Turn, budget: int, rounds_budget: int) -> Segment:
    segment = Segment("thread", "user", "", 0, budget, ThreadLayer.priority)
    room = budget - count_tokens("\n".join([THREAD_OPEN, SUMMARY_LABEL, _left_out(99), ROUNDS_LABEL, "", THREAD_CLOSE_LAST]))
    lines = [THREAD_OPEN]
    summary_text = _summary(turn, segment, room)
    if summary_text:
        lines.append(SUMMARY_LABEL + summary_text)
    elif segment.dropped:
        lines.append(SUMMARY_BLOCKED)
    shown = _choose(turn, min(rounds_budget, room - count_tokens(summary_text)))
    left_out = turn.rounds[: len(turn.rounds) - len(shown)]
    if left_out or turn.older_rounds:
        lines.append(_left_out(len(left_out) + turn.older_rounds))
        segment.dropped += _dropped(turn, left_out)
    if shown:
        lines.append(ROUNDS_LABEL)
    for one in shown:
        lines.append(one.text)
        segment.source_ids.append(one.run.pk)
        if one.missing_tokens:
            segment.truncated.append({"id": one.run.pk, "tokens": one.missing_tokens, "reason": "share"})
    segment.text = "\n".join(lines)
    segment.tokens = count_tokens(f"{segment.text}\n{THREAD_CLOSE_LAST}")
    return segment


def _dropped(turn: Turn, left_out: list[Run]) -> list[dict[str, Any]]:
    """What the ledger says of the rounds that are not shown; of those that were only counted there are no ids."""
    dropped: list[dict[str, Any]] = [{"id": run.pk, "tokens": count_tokens(run.output), "reason": "budget"} for run in left_out]
    if turn.older_rounds:
        dropped.append({"id": "", "tokens": 0, "reason": "older", "count": turn.older_rounds})
    return dropped


def _left_out(count: int) -> str:
    return f"（另有 {count} 轮较早的对话因篇幅未放入）"


def _summary(turn: Turn, segment: Segment, room_tokens: int) -> str:
    """The rolling summary, cleaned: at most its own budget, and two fifths of a room that is short.

    One that gives orders is left out; the rounds themselves, the teacher's own words, are always told.
    """
    thread = turn.thread
    if thread is None or not thread.rolling_summary:
        return ""
    if category := threat_in_history(thread.rolling_summary):
        segment.dropped.append({"id": thread.pk, "tokens": count_tokens(thread.rolling_summary), "reason": reason_of(category)})
        return ""
    whole = clean(thread.rolling_summary)
    kept = sentence_head(whole, min(turn.agent.summary_tokens, room_tokens * 2 // 5))
    segment.source_ids.append(thread.pk)
    if kept != whole:
        segment.truncated.append({"id": thread.pk, "tokens": count_tokens(whole) - count_tokens(kept), "reason": "summary"})
    return kept


def _choose(turn: Turn, budget: int) -> list[_Shown]:
    """The rounds that are shown, oldest first: newest kept first as far as the budget reaches, at least the last K.

    When the last K do not fit whole, they share the budget: a round that needs less than its share leaves the rest to
    the others.
    """
    keep = max(1, turn.agent.keep_rounds)
    newest = [_whole(run) for run in turn.rounds[-keep:]]
    left = budget - sum(one.tokens for one in newest)
    if left < 0:
        return _share(turn, newest, budget)
    for run in reversed(turn.rounds[:-keep]):
        one = _whole(run)
        left -= one.tokens
        if left < 0:
            break
        newest.insert(0, one)
    return newest


def _share(turn: Turn, rounds: list[_Shown], budget: int) -> list[_Shown]:
    left, waiting = max(0, budget), len(rounds)
    for one in sorted(rounds, key=lambda shown: shown.tokens):
        share = left // waiting
        if one.tokens > share:
            _shorten(one, share, turn)
        left, waiting = left - one.tokens, waiting - 1
    return rounds


def _whole(run: Run) -> _Shown:
    question, answer = clean(run.input), answer_text(run)
    return _Shown(run, question, answer, _tokens(question, answer))


def _tokens(question: str, answer: str) -> int:
    """Of a round with its line end, counted in parts, as these are asked for again when it is shortened."""
    return count_tokens(told("", "")) + count_tokens(question) + count_tokens(answer) + 1


def _shorten(one: _Shown, share: int, turn: Turn) -> None:
    """Cuts a round to its share: the input to a third of it at most, the output to what is left."""
    run, before = one.run, one.tokens

    def gap(chars: int) -> str:
        return f"…（中略 {chars} 字，可用 thread_read 读取 {run.pk}）…" if turn.agent.has_tools else f"…（中略 {chars} 字）…"

    answer = _without_middle(one.answer, gap)
    room = max(0, share - count_tokens(told("", "")) - 3)
    if count_tokens(one.question) > room // 3:
        one.question = clip(_without_middle(one.question, gap), max(room // 3, room - count_tokens(answer)), turn.question, gap).text
    one.answer = clip(answer, room - count_tokens(one.question), turn.question, gap).text
    one.tokens = _tokens(one.question, one.answer)
    one.missing_tokens = max(0, before - one.tokens)


def _without_middle(text: str, gap: Callable[[int], str]) -> str:
    """A text of monstrous length as its beginning and its end."""
    if len(text) <= SEEN_CHARS:
        return text
    tail = SEEN_CHARS // 4
    return f"{text[: SEEN_CHARS - tail]}\n{gap(len(text) - SEEN_CHARS)}\n{text[-tail:]}"
