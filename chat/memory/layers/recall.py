"""Recall (L3): related rounds of other conversations come back, with their date, title and assistant (seed 000 §3)."""

from django.utils import timezone

from chat.memory.base import Lease, Segment, SegmentName, Turn
from chat.memory.blocked import reason_of, threat_in_history
from chat.memory.recall import keep
from chat.memory.recall.entries import name_of
from chat.memory.recall.find import Found, find
from chat.models import Thread
from chat.text.boundary import ASSISTANT_MARK, RECALL, USER_MARK, clean, close_line, open_line
from chat.text.clip import clip
from chat.text.tokens import count_tokens

CHARS_MOST = 2_000  # DESIGN §4, the frame included
OPEN = open_line(RECALL, "下列摘自该教师的其他会话，可能与本轮有关")
CLOSE = close_line(RECALL)
TITLE_CHARS = 60


class RecallLayer:
    name = "recall"
    segment: SegmentName = "recall"
    priority = 4

    def read(self, turn: Turn, budget_tokens: int) -> Segment | None:
        """The best three related entries, which share the room; the last ones are left out when it is short, and all that give orders.

        Nothing while another memory backend stands in its place.
        """
        if turn.backend or not turn.has_memory or (turn.thread is not None and turn.thread.is_incognito):
            return None
        findings = find(turn)
        if not (findings.kept or findings.withheld):
            return None
        budget = min(budget_tokens, CHARS_MOST)
        segment = Segment("recall", "user", "", 0, budget, self.priority)
        for reason, left_out in (("consent", findings.withheld), ("duplicate", findings.doubles)):
            segment.dropped += [{"id": name_of(one.entry), "tokens": count_tokens(_whole(one)), "reason": reason} for one in left_out]
        kept = []
        for one in findings.kept:
            if category := _threat_of(one):
                segment.dropped.append({"id": name_of(one.entry), "tokens": count_tokens(_whole(one)), "reason": reason_of(category)})
            else:
                kept.append(one)
        while kept:
            _tell(segment, kept, turn.question)
            if segment.tokens <= budget:
                return segment
            last = kept.pop()
            segment.dropped.append({"id": name_of(last.entry), "tokens": count_tokens(_whole(last)), "reason": "budget"})
        segment.text, segment.tokens = "", 0
        segment.source_ids, segment.truncated, segment.notes = [], [], []
        return segment

    def catch_up(self, thread: Thread, lease: Lease) -> None:
        keep.catch_up(thread, lease)


def _threat_of(found: Found) -> str:
    entry = found.entry
    return threat_in_history("\n".join((entry.title, entry.input, entry.head, entry.keywords)))


def _tell(segment: Segment, kept: list[Found], question: str) -> None:
    left = CHARS_MOST - len(OPEN) - len(CLOSE) - 1
    lines, segment.truncated = [OPEN], []
    for i, found in enumerate(kept):
        share = left // (len(kept) - i) - 1
        whole = _whole(found)
        text = whole if len(whole) <= share else _shortened(found, share, question)
        if len(text) < len(whole):
            segment.truncated.append(
                {"id": name_of(found.entry), "tokens": max(0, count_tokens(whole) - count_tokens(text)), "reason": "share"}
            )
        lines.append(text)
        left -= len(text) + 1
    segment.text = "\n".join([*lines, CLOSE])
    segment.tokens = count_tokens(segment.text)
    segment.source_ids = [name_of(found.entry) for found in kept]
    segment.notes = [{"id": name_of(found.entry), "score": round(found.hit.score, 4), "matched": list(found.hit.matched)} for found in kept]


def _head(found: Found) -> str:
    entry = found.entry
    title = " ".join(clean(entry.title).split())[:TITLE_CHARS]
    agent = " ".join(clean(found.agent_name).split())[:TITLE_CHARS]
    return f"- {timezone.localtime(entry.at).date().isoformat()} 《{title}》 {agent}".rstrip()


def _answer(found: Found) -> str:
    return clean("\n".join(part for part in (found.entry.head, found.entry.keywords) if part))


def _whole(found: Found) -> str:
    return f"{_head(found)}\n{USER_MARK} {clean(found.entry.input)}\n{ASSISTANT_MARK} {_answer(found)}"


def _shortened(found: Found, share: int, question: str) -> str:
    """A longer entry in at most `share` characters: the question to a third of it at most, of the answer what fits to the turn."""
    head, answer = _head(found), _answer(found)
    room = share - len(head) - len(f"\n{USER_MARK} \n{ASSISTANT_MARK} ")
    asked = clip(clean(found.entry.input), max(room // 3, room - len(answer)), question, _gap, len).text
    told = clip(answer, room - len(asked), question, _gap, len).text
    return f"{head}\n{USER_MARK} {asked}\n{ASSISTANT_MARK} {told}"


def _gap(chars: int) -> str:
    return f"…（中略 {chars} 字）…"
