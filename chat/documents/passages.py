"""Blocks of a document to passages: cut where it hurts least, within what a search and a prompt can use.

A document is a row of leaves: lines, and sentences of long lines. Before each leaf a cut has a price (least before a heading,
most in the middle of a sentence), and a passage has one for being shorter or longer than wanted; from the beginning on,
the cheapest end of the next passage is taken.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import takewhile
from typing import Final

from chat.documents.base import Piece
from chat.documents.blocks import Block
from chat.documents.decode import frequent
from chat.text.outline import units
from chat.text.tokens import estimate_tokens

# Characters of a passage: fewer are joined with what follows, more are cut when there is a good place, `MOST` always.
FEW: Final = 200
MANY: Final = 600
MOST: Final = 900
# By the estimate, which is low for rare hanzi and for digits between letters; real counts then stay below 700.
MOST_TOKENS: Final = 560
_RARE_TOKENS: Final = 2.4
_DIGITS_TOKENS: Final = 0.7
_TINY: Final = 60
_HEADER_CHARS: Final = 200
_LEAF_CHARS: Final = 300
PATH_CHARS: Final = 200
_NAME_CHARS: Final = 60
_SEPARATOR: Final = " > "
_BESIDE: Final = " / "

# The prices of a cut. One unit is what a passage of MOST or of no characters costs.
_AFTER_HEADING: Final = 50.0
_IN_CHARACTERS: Final = 5.0
_IN_CLAUSES: Final = 3.0
_IN_SENTENCES: Final = 2.4
_IN_ITEM: Final = 1.6
_IN_LINES: Final = 1.5
_IN_CODE: Final = 1.3
_IN_LIST: Final = 1.2
_IN_TABLE: Final = 0.6
_PARAGRAPH: Final = 0.3
_CLEAR_PARAGRAPH: Final = 0.2
# Before a heading of a higher, the same or a lower section than the one above; and for having such a heading inside.
_HEADINGS: Final = {1: -0.3, 0: -0.3, -1: 0.1}
_CROSSED: Final = {1: 0.9, 0: 0.15, -1: 0.05}
_MOST_CROSSED: Final = 0.3
_SHORT_REST: Final = 0.5

_ITEM: Final = re.compile(r"\s*(?:\d{1,3}\s*[.．、)）](?!\d)|[（(]\s*\d{1,3}\s*[)）]|[①-⑳]|[-*+•●·▪◆]\s)")
_SENTENCE_END: Final = re.compile(r"[。！？!?….；;][”』」）)\"'’]*\s*\Z")
_CLAUSE_END: Final = re.compile(r"[，、；：,;:\s][”』」）)\"'’]*\s*\Z")
_DIGITS: Final = re.compile(r"\d+")
_FIRST_HANZI: Final = "\u3400"
_BLANKS: Final = re.compile(r"\s+")


@dataclass(slots=True)
class _Leaf:
    """What is never cut. `joint` stands before it when it does not begin a passage, `header` when it does."""

    text: str
    joint: str
    cut: float
    path: tuple[str, ...]
    page: int | None
    header: str = ""
    # Of a heading: whether its section is higher (1), lower (-1) or the same (0) as the one before.
    turn: int | None = None
    tokens: float = 0.0
    # Characters from here to the next section, or the end.
    rest: int = 0


def passages(blocks: list[Block]) -> list[Piece]:
    """All of the document in pieces of at most MOST characters, in order; only headers of tables stand in several."""
    leaves = list(_leaves(blocks))
    rest = 0
    for place in reversed(range(len(leaves))):
        rest += len(leaves[place].text)
        leaves[place].rest = rest
        # Headings that follow each other are of one section.
        rest = 0 if leaves[place].turn is not None and leaves[place - 1].turn is None else rest
    found: list[Piece] = []
    start = 0
    while start < len(leaves):
        end = _end(leaves, start)
        piece = _piece(leaves[start:end])
        found += [piece] if piece.text else []
        start = end
    return found


def _end(leaves: list[_Leaf], start: int) -> int:
    """Where the passage that begins with the leaf at `start` ends for the least price."""
    first = leaves[start]
    size, tokens = len(first.header) - len(first.joint), _tokens(first.header)
    below = above = 0.0  # for headings inside, of sections that are lower or the same, and higher
    best, best_price = start + 1, float("inf")
    for place in range(start, len(leaves)):
        leaf = leaves[place]
        # What is tiny is joined with the next section at no price, what is short at no more than for a few.
        if leaf.turn == 1 and size >= _TINY:
            above += _CROSSED[1]
        elif leaf.turn is not None and size >= _TINY:
            below = min(below + _CROSSED[leaf.turn], _MOST_CROSSED)
        size += len(leaf.joint) + len(leaf.text)
        tokens += leaf.tokens
        # From here on these only grow, and no cut costs less than one before a heading.
        least = above + below + (_size_price(size) if size > MANY else 0.0) + _HEADINGS[0]
        if place > start and (size > MOST or tokens > MOST_TOKENS or (size >= FEW and least >= best_price)):
            break
        price = above + below + _size_price(size)
        if place + 1 < len(leaves):
            following = leaves[place + 1]
            price += following.cut
            price += _SHORT_REST if following.turn != 1 and following.rest < FEW / 2 else 0.0
        if price < best_price:
            best, best_price = place + 1, price
    return best


def _size_price(size: int) -> float:
    if size < FEW:
        return 1.0 - size / FEW + (1.0 if size < _TINY else 0.0)
    if size <= MANY:
        return 0.05 * (MANY - size) / (MANY - FEW)
    return (size - MANY) / (MOST - MANY)


def _piece(leaves: list[_Leaf]) -> Piece:
    first = leaves[0]
    text = "".join([first.header, first.text, *(part for leaf in leaves[1:] for part in (leaf.joint, leaf.text))])
    # Headings at the beginning lead to the text below them; of sections that follow each other, what they share counts, or all.
    paths = list(dict.fromkeys(leaf.path for leaf in leaves if leaf.turn is None and leaf.path)) or [leaves[-1].path]
    shared = reduce(_shared, paths)
    return Piece(text.strip("\n").rstrip(), _joined(shared) if shared else _listed([path[0] for path in paths if path]), first.page)


def _shared(path: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    same = takewhile(lambda pair: pair[0] == pair[1], zip(path, other, strict=False))
    return tuple(name for name, _ in same)


def _joined(path: tuple[str, ...]) -> str:
    while len(path) > 1 and len(_SEPARATOR.join(path)) > PATH_CHARS:
        path = path[1:]
    return _SEPARATOR.join(path)


def _listed(names: list[str]) -> str:
    """The headings of sections that have none above them, as many as there is room for."""
    kept = list(dict.fromkeys(names))
    while len(kept) > 1 and len(_BESIDE.join(kept)) > PATH_CHARS:
        kept.pop()
    return _BESIDE.join(kept)


def _leaves(blocks: list[Block]) -> Iterator[_Leaf]:
    path: list[tuple[int, str]] = []
    before: Block | None = None
    in_list = False
    for block in blocks:
        turn = None
        if block.kind == "heading":
            level = path[-1][0] if path else 0
            turn = 0 if block.level == level else 1 if block.level < level else -1
            path = [*((one, name) for one, name in path if one < block.level), (block.level, _name(block.text))]
        is_item = block.kind in ("line", "paragraph") and bool(_ITEM.match(block.text))
        in_list = is_item or (in_list and block.kind in ("line", "paragraph") and not block.after_blank)
        cut = _cut(before, block, turn, in_list, is_item)
        names = tuple(name for _, name in path)
        joint = "\n\n" if block.after_blank else "\n"
        header = f"{block.header}\n" if 0 < len(block.header) <= _HEADER_CHARS else ""
        for place, (text, price) in enumerate(_parts(block.text)):
            yield _Leaf(
                text,
                joint=joint if place == 0 else "",
                cut=cut if place == 0 else price,
                path=names,
                page=block.page,
                header=header if place == 0 else "",
                turn=turn,
                tokens=_tokens(text),
            )
        before = block


def _cut(before: Block | None, block: Block, turn: int | None, in_list: bool, is_item: bool) -> float:
    """The price of a cut between two blocks."""
    if before is None:
        return 0.0
    if turn is not None:
        return _HEADINGS[turn] if before.kind != "heading" or turn >= 0 else _AFTER_HEADING
    if before.kind == "heading":
        return _AFTER_HEADING
    if block.kind == "row" and before.kind == "row":
        return _AFTER_HEADING if before.text == block.header else _IN_TABLE
    if block.kind == "code" and before.kind == "code":
        return _PARAGRAPH if block.after_blank else _IN_CODE
    if before.text.rstrip().endswith(("：", ":")):
        return _IN_LINES
    if in_list and _is_text(before):
        return (_IN_LIST if is_item else _IN_ITEM) if not _opens_list(before, is_item) else _PARAGRAPH
    if block.after_blank:
        return _CLEAR_PARAGRAPH
    is_whole = "paragraph" in (block.kind, before.kind) or block.kind != before.kind or _SENTENCE_END.search(before.text)
    return _PARAGRAPH if is_whole else _IN_LINES


def _is_text(block: Block) -> bool:
    return block.kind in ("line", "paragraph")


def _opens_list(before: Block, is_item: bool) -> bool:
    """True when an item comes behind a line that is none and ends a paragraph: the list begins here."""
    return is_item and not _ITEM.match(before.text) and bool(_SENTENCE_END.search(before.text))


def _parts(text: str) -> Iterator[tuple[str, float]]:
    """The leaves of a block, and what a cut before each costs."""
    before = ""
    for unit in units(text):
        part = text[unit.start : unit.end]
        if not before:
            price = 0.0
        elif unit.starts_line:
            price = _PARAGRAPH if _SENTENCE_END.search(before) else _IN_LINES
        elif _SENTENCE_END.search(before):
            price = _IN_SENTENCES
        else:
            price = _IN_CLAUSES if _CLAUSE_END.search(before) else _IN_CHARACTERS
        before = part[-40:]
        for place in range(0, len(part), _LEAF_CHARS):
            yield part[place : place + _LEAF_CHARS], price if place == 0 else _IN_CHARACTERS


def _tokens(text: str) -> float:
    """What `text` may have of tokens, rather too many than too few."""
    known = frequent()
    rare = sum(char > _FIRST_HANZI and char not in known for char in text)
    return estimate_tokens(text) + _RARE_TOKENS * rare + _DIGITS_TOKENS * len(_DIGITS.findall(text))


def _name(heading: str) -> str:
    name = _BLANKS.sub(" ", heading.strip().strip("#*_").strip())
    return name if len(name) <= _NAME_CHARS else f"{name[: _NAME_CHARS - 1]}…"
