"""Knowledge (L4): passages of documents that the question is about, with the marks by which an answer cites them (DESIGN §5)."""

from dataclasses import replace

from chat.memory.base import Lease, Segment, SegmentName, Turn
from chat.memory.blocked import reason_of
from chat.memory.knowledge.find import Found, find
from chat.memory.knowledge.telling import body, framed, head, threat_of_passage, told
from chat.memory.recall.find import question_of
from chat.models import Thread
from chat.text.clip import clip
from chat.text.tokens import count_tokens

TOKENS_MOST = 2_000  # DESIGN §4, the frame included
PASSAGES_MOST = 5
WORTH_TOKENS = 120  # less of a passage says nothing


class KnowledgeLayer:
    name = "knowledge"
    segment: SegmentName = "knowledge"
    priority = 3

    def read(self, turn: Turn, budget_tokens: int) -> Segment | None:
        """The surest related passages; the last ones are left out when the room is short, the first one is shortened then.

        Those that read like orders are left out.
        """
        if not turn.documents or not turn.has_memory or (turn.thread is not None and turn.thread.is_incognito):
            return None
        question = replace(question_of(turn), day=None, without_group="")
        findings = find(turn.owner, turn.documents, question, PASSAGES_MOST, turn.vector)
        if not findings.kept:
            return None
        budget = min(budget_tokens, TOKENS_MOST)
        segment = Segment("knowledge", "user", "", 0, budget, self.priority)
        for double in findings.doubles:
            segment.dropped.append(_left_out(double, "duplicate"))
        kept = []
        for one in findings.kept:
            if category := threat_of_passage(one.passage):
                segment.dropped.append(_left_out(one, reason_of(category)))
            else:
                kept.append(one)
        while kept:
            _tell(segment, kept, [told(n, one.passage) for n, one in enumerate(kept, start=1)])
            if segment.tokens <= budget or (len(kept) == 1 and _shorten(segment, kept[0], turn.question)):
                return segment
            segment.dropped.append(_left_out(kept.pop(), "budget"))
        return Segment("knowledge", "user", "", 0, budget, self.priority, dropped=segment.dropped)

    def catch_up(self, thread: Thread, lease: Lease) -> None:
        """Nothing: documents are read by themselves, not by what is said."""


def _tell(segment: Segment, kept: list[Found], parts: list[str]) -> None:
    segment.text = framed(parts)
    segment.tokens = count_tokens(segment.text)
    segment.source_ids = [one.passage.pk for one in kept]
    # With the document, by which its ledgers are found when it is deleted.
    segment.notes = [
        {"id": one.passage.pk, "document": one.passage.document_id, "score": round(one.score, 2), "matched": list(one.matched)}
        for one in kept
    ]


def _shorten(segment: Segment, only: Found, question: str) -> bool:
    """Puts what matters of the only passage into the room; false when there is too little of it."""
    first, text = head(1, only.passage), body(only.passage)
    room = segment.budget_tokens - count_tokens(framed([first, ""])) - 2
    if room < WORTH_TOKENS:
        return False
    whole = segment.tokens
    _tell(segment, [only], [f"{first}\n{clip(text, room, question, _gap).text}"])
    segment.truncated = [{"id": only.passage.pk, "tokens": max(0, whole - segment.tokens), "reason": "budget"}]
    return segment.tokens <= segment.budget_tokens


def _left_out(found: Found, reason: str) -> dict[str, object]:
    return {"id": found.passage.pk, "tokens": count_tokens(told(1, found.passage)), "reason": reason}


def _gap(chars: int) -> str:
    return f"…（中略 {chars} 字）…"
