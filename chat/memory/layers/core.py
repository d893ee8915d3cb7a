"""Core memory (L2): what the teacher has confirmed goes into every prompt; after a run something new may be proposed."""

from typing import Any

from chat.memory.base import Lease, Segment, SegmentName, Turn
from chat.memory.blocked import reason_of, threat_of
from chat.memory.core import extract
from chat.memory.core.use import facts_for, line_of
from chat.models import Fact, Thread
from chat.text.boundary import CORE, close_line, open_line
from chat.text.tokens import count_tokens

CHARS_MOST = 1_000  # seed 000 §1, its frame included
OPEN = open_line(CORE, "下列为教师本人确认过、长期有效的资料")
CLOSE = close_line(CORE)


class CoreLayer:
    name = "core"
    segment: SegmentName = "core"
    priority = 1

    def read(self, turn: Turn, budget_tokens: int) -> Segment | None:
        """The facts that fit, pinned ones, fitting ones and recently used ones first; told in the order they were confirmed.

        Those that read like orders are left out, whatever their owner has confirmed.
        """
        if turn.thread is not None and turn.thread.is_incognito:
            return None
        facts = facts_for(turn.owner, turn.question)
        if not facts:
            return None
        budget = min(budget_tokens, CHARS_MOST)  # no character of a fact is more than a token, but for rare ones
        left_chars = CHARS_MOST - len(OPEN) - len(CLOSE) - 1
        left_tokens = budget - count_tokens(f"{OPEN}\n{CLOSE}")
        told: list[tuple[Fact, str]] = []
        dropped: list[dict[str, Any]] = []
        for fact in facts:
            if category := threat_of(fact.text):
                dropped.append({"id": fact.pk, "tokens": count_tokens(fact.text), "reason": reason_of(category)})
                continue
            line = line_of(fact.text)
            chars, tokens = len(line) + 1, count_tokens(f"{line}\n")
            if chars <= left_chars and tokens <= left_tokens:
                told.append((fact, line))
                left_chars, left_tokens = left_chars - chars, left_tokens - tokens
            else:
                dropped.append({"id": fact.pk, "tokens": tokens, "reason": "budget"})
        if not told:
            return Segment("core", "user", "", 0, budget, self.priority, dropped=dropped)
        told.sort(key=lambda one: (one[0].confirmed_at, one[0].pk))
        text = "\n".join([OPEN, *(line for _, line in told), CLOSE])
        ids = [fact.pk for fact, _ in told]
        return Segment("core", "user", text, count_tokens(text), budget, self.priority, ids, dropped=dropped)

    def catch_up(self, thread: Thread, lease: Lease) -> None:
        extract.catch_up(thread, lease)
