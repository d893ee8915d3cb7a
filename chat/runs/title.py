"""Titles: what is kept of a first message or typed by its teacher as the name of a thread, without sensitive text."""

from chat.memory.redline_records import record
from chat.models import Owner
from chat.text.redlines import find, head_of, redact

HEAD_CHARS = 1_000  # read for a title: enough that nothing is cut in two before it is recognised


def title_of(text: str, most_chars: int, owner: Owner, thread_id: str) -> str:
    """The first words of `text` on one line (seed 000 §2.2), with a placeholder for each sensitive place.

    What was taken out is recorded for the owner; with `thread_id` "" (of an incognito thread) nothing is.
    """
    line = " ".join(head_of(text, HEAD_CHARS).split())
    hits = [hit for hit in find(line) if hit.start < most_chars]
    if not hits:
        return line[:most_chars]
    if thread_id:
        record(owner, "title", line, hits, source_id=thread_id)
    return _cut(redact(line), most_chars)


def _cut(line: str, most_chars: int) -> str:
    """The beginning of the line; a placeholder that does not fit is left out whole."""
    cut = line[:most_chars]
    opened = cut.rfind("(涉及")
    return cut if len(line) <= most_chars or opened < 0 or ")" in cut[opened:] else cut[:opened].rstrip()
