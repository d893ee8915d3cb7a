"""The entries that a turn is about: related, from other conversations, each thing once."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Final

from django.utils import timezone

from chat.memory.base import Turn
from chat.memory.recall.entries import KIND
from chat.memory.recall.vendors import Receiver
from chat.models import RecallEntry
from chat.models.reading import Columns, read
from chat.search.query import RELATED, Hit, Question, search
from chat.search.vectors import cosines
from chat.text.features import features, terms

HITS_MOST: Final = 3
LOOKED_AT: Final = 20
SHORT_TERMS: Final = 11  # "简答题换两道" alone says little
ROUNDS_OF_CONTEXT: Final = 3
INPUT_OF_CONTEXT_CHARS: Final = 300
OUTPUT_OF_CONTEXT_CHARS: Final = 200
SAME: Final = 0.8  # so much of what two entries say is the same
# None that was replaced or put away.
ENTRIES: Final = """
FROM chat_recallentry entry LEFT JOIN chat_agent agent ON agent.id = entry.agent_id
LEFT JOIN chat_run run ON run.id = entry.run_id LEFT JOIN chat_thread thread ON thread.id = entry.thread_id
WHERE entry.tenant_id = %s AND entry.user_id = %s AND (run.id IS NULL OR run.is_latest)
AND (thread.id IS NULL OR thread.status = 'active') AND entry.number {}"""


@dataclass(frozen=True)
class Found:
    """An entry with its score and the terms that it was found by, and the name of its assistant."""

    entry: RecallEntry
    hit: Hit
    agent_name: str

    @cached_property
    def said(self) -> set[str]:
        return set(features(f"{self.entry.input}\n{self.entry.head}"))


@dataclass(frozen=True, slots=True)
class Findings:
    """At most three entries, best first, those which say the same as one of them, and the best that need a consent."""

    kept: list[Found]
    doubles: list[Found]
    withheld: list[Found]


def find(turn: Turn) -> Findings:
    """Three to five queries for the index, mostly one for the entries, and one for a consent that is needed."""
    owner = turn.owner
    near = cosines(owner.tenant_id, owner.user_id, KIND, turn.vector) if turn.vector is not None else None
    hits = [hit for hit in search(owner.tenant_id, owner.user_id, KIND, question_of(turn), cosines=near) if hit.score > RELATED]
    findings, receiver = Findings([], [], []), Receiver(turn.owner, turn.agent.provider)
    for start in range(0, len(hits), LOOKED_AT):
        for one in _entries(turn, hits[start : start + LOOKED_AT]):
            _sort(one, findings, receiver)
        if len(findings.kept) == HITS_MOST:
            break
    return findings


def _sort(one: Found, findings: Findings, receiver: Receiver) -> None:
    if not receiver.may_have(one.entry):
        if len(findings.kept) + len(findings.withheld) < HITS_MOST:
            findings.withheld.append(one)
    elif any(_is_same(one.said, other.said) for other in findings.kept):
        findings.doubles.append(one)
    elif len(findings.kept) < HITS_MOST:
        findings.kept.append(one)


def _entries(turn: Turn, hits: Sequence[Hit]) -> list[Found]:
    """The entries of the hits in their order: none of this conversation, which thread memory tells, none that was replaced or put away."""
    numbers = [hit.number for hit in hits]
    columns = _columns()
    query = f"SELECT {columns.names}, agent.name {ENTRIES}"  # noqa: S608  names of our own columns
    entries = columns.rows(read(query, [turn.owner.tenant_id, turn.owner.user_id], numbers))
    if turn.thread is not None:
        rounds = {run.pk for run in turn.rounds}
        entries = [row for row in entries if row[0].thread_id != turn.thread.pk and row[0].source not in rounds]
    by_number = {entry.number: (entry, agent_name or "") for entry, agent_name in entries}
    found = [(hit, *by_number[hit.number]) for hit in hits if hit.number in by_number]
    return [Found(entry, hit, agent_name) for hit, entry, agent_name in found]


@cache
def _columns() -> Columns:
    return Columns({"entry": RecallEntry})


def _is_same(one: set[str], other: set[str]) -> bool:
    return len(one & other) >= SAME * max(1, len(one | other))


def question_of(turn: Turn) -> Question:
    """What is looked for: the input; for a short one that goes on with a conversation, also what that is about."""
    text, today = turn.question, timezone.localdate()
    if turn.thread is None:
        return Question(text, today)
    if (turn.rounds or turn.thread.rolling_summary) and _is_short(text):
        text = f"{text}\n{_topic(turn)}"
    return Question(text, today, _said(turn), turn.thread.pk)


def _is_short(text: str) -> bool:
    return len(text) < 100 and len(set(terms(text))) <= SHORT_TERMS


def _topic(turn: Turn) -> str:
    """The thread's title, and the newest question that says more than the short ones do."""
    title = turn.thread.title if turn.thread else ""
    asked = next((run.input for run in reversed(turn.rounds) if not _is_short(run.input)), "")
    return f"{title}\n{asked[:INPUT_OF_CONTEXT_CHARS]}"


def _said(turn: Turn) -> list[str]:
    rounds = turn.rounds[-ROUNDS_OF_CONTEXT:]
    return [f"{run.input[:INPUT_OF_CONTEXT_CHARS]}\n{run.output[:OUTPUT_OF_CONTEXT_CHARS]}" for run in rounds]
