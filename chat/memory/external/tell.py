"""What a memory backend remembers, as a segment of the prompt: untrusted, cleaned, filtered, within recall's budget.

It was said by the same teacher, but it was worded by another service and confirmed by nobody (seed 002 §8.3, DESIGN §5).
"""

import hashlib
from collections.abc import Iterable
from typing import Final

from chat.memory.backends.base import MemoryItem
from chat.memory.base import Segment, Turn
from chat.memory.blocked import reason_of, threat_in_history
from chat.memory.core.wording import folded
from chat.text.boundary import RECALL, clean, close_line, open_line
from chat.text.outline import cut_before
from chat.text.redlines import head_of, redact
from chat.text.tokens import count_tokens

CHARS_MOST: Final = 2_000  # as recall, in whose place it stands (DESIGN §4, §5); the frame included
PRIORITY: Final = 4
OPEN: Final = open_line(RECALL, "下列由记忆服务从该教师说过的话中提取，未经教师确认，可能与本轮有关")
CLOSE: Final = close_line(RECALL)
ROOM_CHARS: Final = CHARS_MOST - len(OPEN) - len(CLOSE) - 2
ITEMS_LOOKED_AT: Final = 24
ITEM_CHARS: Final = 600  # of one item; backends cut earlier
READ_CHARS: Final = 4_000  # of an item, whatever a backend sends
CATEGORY_CHARS: Final = 40


def segment(turn: Turn, budget_tokens: int) -> Segment | None:
    """Best first, a line each; what gives orders, what says the same again and what finds no room is left out with its reason."""
    items = turn.remembered.items[:ITEMS_LOOKED_AT] if turn.backend and turn.remembered else ()
    if not items:
        return None
    made = Segment("external", "user", "", 0, min(budget_tokens, CHARS_MOST), PRIORITY)
    lines, chars = [OPEN], 0
    for item, line, is_cut in _lines(items, made):
        text = "\n".join([*lines, line, CLOSE])
        if chars + len(line) + 1 > ROOM_CHARS or count_tokens(text) > made.budget_tokens:
            _leave_out(made, item, "budget")
            continue
        lines.append(line)
        chars += len(line) + 1
        made.text, made.tokens = text, count_tokens(text)
        made.source_ids.append(id_of(item))
        made.notes.append({"id": id_of(item), "score": _score(item), "matched": [], "category": _category(item)})
        if is_cut:
            made.truncated.append({"id": id_of(item), "tokens": _missing(item, line), "reason": "share"})
    return made if made.text or made.dropped else None


def id_of(item: MemoryItem) -> str:
    """How the ledger names an item. Not as the backend does: that names its files by words of what it remembers, which would
    stay in the ledger after all was forgotten."""
    return f"ov_{hashlib.sha256(item.id.encode(errors='surrogatepass')).hexdigest()[:16]}"


def _lines(items: Iterable[MemoryItem], made: Segment) -> Iterable[tuple[MemoryItem, str, bool]]:
    """The items that may be told, each with its line and whether it was cut; the others are noted in `made`."""
    seen: set[str] = set()
    for item in items:
        told = redact(head_of(item.content, READ_CHARS))
        if category := threat_in_history(f"{item.category}\n{told}"):
            _leave_out(made, item, reason_of(category))
            continue
        known = {f"id {id_of(item)}", f"said {folded(told)}"}
        if seen & known:
            _leave_out(made, item, "duplicate")
            continue
        seen |= known
        words = " ".join(clean(told).split())
        is_cut = len(words) > ITEM_CHARS or len(item.content) > READ_CHARS
        if words:
            # Once more as one line: what stood on two may make a mark together.
            yield item, clean(f"- [{_category(item)}] {_head(words)}"), is_cut


def _leave_out(made: Segment, item: MemoryItem, reason: str) -> None:
    made.dropped.append({"id": id_of(item), "tokens": count_tokens(item.content[:READ_CHARS]), "reason": reason})


def _missing(item: MemoryItem, line: str) -> int:
    return max(0, count_tokens(item.content[:READ_CHARS]) - count_tokens(line))


def _category(item: MemoryItem) -> str:
    return " ".join(item.category.split())[:CATEGORY_CHARS] or "memory"


def _score(item: MemoryItem) -> float:
    return round(min(1.0, max(0.0, item.score)), 4)


def _head(words: str) -> str:
    return words if len(words) <= ITEM_CHARS else f"{words[: cut_before(words, ITEM_CHARS - 1)]}…"
