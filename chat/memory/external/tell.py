"""What a memory backend remembers, as a segment of the prompt: untrusted, cleaned, filtered, within recall's budget."""

from chat.memory.base import Segment, Turn


def segment(turn: Turn, budget_tokens: int) -> Segment | None:
    return None
