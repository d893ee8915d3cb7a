"""What of a record is turned into numbers, by its number in the index."""

from collections.abc import Collection
from typing import Final

from chat.models import Passage, Provider, RecallEntry, SearchIndex
from chat.text.redlines import redact

# Of a round: the words of the teacher and the head of the answer, as measured with the retrieval data. Small models read
# some 500 tokens of a text.
ASKED_CHARS: Final = 600
ANSWERED_CHARS: Final = 250
PIECE_CHARS: Final = 900
PIECES_MOST: Final = 4  # of a passage; the nearest one counts


def texts_of(index: SearchIndex, numbers: Collection[int]) -> dict[int, list[str]]:
    """For each record its texts, none of them empty; a record that is gone meanwhile is left out."""
    if index.kind == SearchIndex.Kind.RECALL:
        return _of_recall(index, numbers)
    return _of_knowledge(index, numbers)


def _of_recall(index: SearchIndex, numbers: Collection[int]) -> dict[int, list[str]]:
    entries = RecallEntry.objects.filter(tenant_id=index.tenant_id, user_id=index.user_id or 0, number__in=numbers)
    return {entry.number: _pieces(_round(entry)) for entry in entries}


def _round(entry: RecallEntry) -> str:
    asked = entry.input[:ASKED_CHARS]
    title = "" if asked.startswith(entry.title) else entry.title
    return "\n".join(part for part in (title, asked, entry.head[:ANSWERED_CHARS]) if part)


def _of_knowledge(index: SearchIndex, numbers: Collection[int]) -> dict[int, list[str]]:
    passages = Passage.objects.filter(index=index, number__in=numbers)
    found: dict[int, list[str]] = {}
    for number, heading, text in passages.values_list("number", "heading", "text"):
        if number is not None:
            found[number] = _pieces(f"{heading}\n{text}")
    return found


def _pieces(text: str) -> list[str]:
    whole = text.strip()
    cut = [whole[start : start + PIECE_CHARS].strip() for start in range(0, min(len(whole), PIECES_MOST * PIECE_CHARS), PIECE_CHARS)]
    return [piece for piece in cut if piece]


def outgoing(text: str, embedder: Provider) -> str:
    """What leaves for the embedder: without what the red lines forbid, when it is another vendor's."""
    return text if embedder.is_local else redact(text)
