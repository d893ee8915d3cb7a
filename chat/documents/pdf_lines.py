"""Lines on pages to paragraphs and headings: what a pdf has lost, by where the lines stand and how large they are."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import Final

from chat.documents.blocks import Block
from chat.documents.text import level_of

_NEW_LINE: Final = re.compile(r"\s*(?:\d{1,3}\s*[.．、)）](?!\d)|[（(]\s*\d{1,3}\s*[)）]|[①-⑳]|[A-Ha-h]\s*[.．、]|[-*+•●·▪◆]\s)")
_SENTENCE_END: Final = re.compile(r"[。！？!?.…；;：:][”』」）)\"'’]*\Z")
_NUMBERS: Final = re.compile(r"\d+|\b(?=[ivx])x{0,3}(?:ix|iv|v?i{0,3})\b", re.IGNORECASE)
_PAGE_WORDS: Final = re.compile(r"[\s\W_]|第|共|页|頁|page|of", re.IGNORECASE)
_LETTER: Final = re.compile(r"[^\W\d_]")
_WIDE: Final = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\u3000-\u303f]")

# An outer line that stands on so many pages at the same place is the head or the foot of the page, perhaps of a chapter's.
_RUNNING_SHARE: Final = 0.03
_RUNNING_PAGES: Final = 3
_EDGE_LINES: Final = 2
_NUMBER_CHARS: Final = 6
_SAME_PLACE: Final = 6.0  # points
# So many lines above the one before them are no columns.
_UPWARD_SHARE: Final = 0.3
_LARGER: Final = 1.15
_HEADING_CHARS: Final = 60
_FONT_LEVELS: Final = 6
_SAME_SIZE: Final = 0.12
# In heights of a letter; and the distance of lines, in that of most lines of the page.
_INDENT: Final = 1.0
_ITEM_INDENT: Final = 3.0
_SAME_ROW: Final = 0.3
_FREE_AT_END: Final = 0.5
_FREE_WITHIN: Final = 3.0
_FAR: Final = 1.4
_FAR_LETTERS: Final = 2.3
# Lines that begin so near to each other are of one column.
_COLUMN_POINTS: Final = 28.0


@dataclass(frozen=True, slots=True)
class Line:
    """Places are in points from the left and the bottom of the page; `size` is the height of its letters."""

    text: str
    left: float
    right: float
    y: float
    size: float
    page: int = 0


def in_order(lines: list[Line]) -> list[Line]:
    """The lines of a page from top to bottom, unless their own order is a reading order too (columns, tables)."""
    upward = sum(below.y > above.y + above.size / 2 and _overlap(above, below) for above, below in pairwise(lines))
    if upward <= max(1, _UPWARD_SHARE * len(lines)):
        return lines
    height = median(line.size for line in lines) or 1.0
    return sorted(lines, key=lambda line: (-round(line.y / height * 2), line.left))


def _overlap(one: Line, other: Line) -> bool:
    return one.left < other.right and other.left < one.right


def without_running(pages: list[list[Line]]) -> list[list[Line]]:
    """Pages without their heads and feet: of a repeated line only the first stays, of page numbers none."""
    body = _body_size(pages)
    edges = [_edges(lines, body) for lines in pages]
    seen = Counter(key for lines in edges for key in {key for line in lines for key in _running_keys(line)})
    often = max(_RUNNING_PAGES, _RUNNING_SHARE * len(pages))
    kept: set[str] = set()
    found = []
    for lines, outer in zip(pages, edges, strict=True):
        dropped = set()
        for line in outer:
            words = _PAGE_WORDS.sub("", _NUMBERS.sub("", line.text))
            if any(seen[key] >= often for key in _running_keys(line)):
                if words in kept or not words:
                    dropped.add(line)
                kept.add(words)
        found.append([line for line in lines if line not in dropped])
    return found


def _edges(lines: list[Line], body: float) -> list[Line]:
    """The highest and the lowest lines of a page: apart from its text, and not larger than it."""
    ordered = sorted(lines, key=lambda line: -line.y)
    far = _FAR * median([above.y - below.y for above, below in pairwise(ordered)] or [0.0])
    found: dict[Line, None] = {}
    for side in (ordered, ordered[::-1]):
        for count in range(1, min(_EDGE_LINES, len(side) - 1) + 1):
            if abs(side[count - 1].y - side[count].y) > far:
                found.update(dict.fromkeys(side[:count]))
    return [line for line in found if line.size < _LARGER * body and not level_of(line.text, is_markdown=False)]


def _running_keys(line: Line) -> set[tuple[str, int]]:
    """What is the same on each page: the line, or the line with its first or last number counted from the page's."""
    place = round(line.y / _SAME_PLACE)
    keys = {(line.text, place)}
    numbers = list(_NUMBERS.finditer(line.text))
    for match in {numbers[0], numbers[-1]} if numbers else ():
        # Roman numbers are only for pages.
        offset = str(int(match[0]) - line.page) if match[0].isdecimal() and len(match[0]) < _NUMBER_CHARS else ""
        keys.add((f"{line.text[: match.start()]}#{offset}{line.text[match.end() :]}", place))
    return keys


def _body_size(pages: list[list[Line]]) -> float:
    """The size of most characters."""
    sizes: Counter[float] = Counter()
    for lines in pages:
        for line in lines:
            sizes[round(line.size, 1)] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def to_blocks(pages: list[list[Line]]) -> list[Block]:
    body = _body_size(pages)
    lines = [line for page in pages for line in page]
    goes_on = [False, *_joins(pages), False]
    large = [_is_large(line, body) for line in lines]
    sizes = sorted({round(line.size) for line, is_large in zip(lines, large, strict=True) if is_large}, reverse=True)
    levels = {size: min(place, _FONT_LEVELS) for place, size in enumerate(sizes, 1)}
    blocks: list[Block] = []
    for place, line in enumerate(lines):
        if goes_on[place] and large[place] == large[place - 1]:
            above = blocks[-1]
            text = above.text + _joint(lines[place - 1], line) + line.text
            blocks[-1] = replace(above, text=text)
        elif large[place]:
            blocks.append(Block(line.text, "heading", levels[round(line.size)], line.page))
        else:
            # A line within a paragraph, or the first of one, may begin like a heading.
            level = 0 if goes_on[place] or goes_on[place + 1] else level_of(line.text, is_markdown=False)
            blocks.append(Block(line.text, "heading" if level else "paragraph", level, line.page))
    return blocks


def _is_large(line: Line, body: float) -> bool:
    is_title = len(line.text) <= _HEADING_CHARS and not line.text.endswith(("。", "，", "；"))
    return is_title and line.size >= _LARGER * body and bool(_LETTER.search(line.text))


def _joint(above: Line, below: Line) -> str:
    is_row = _same_row(above, below)
    return "" if not is_row and (_WIDE.match(above.text[-1]) or _WIDE.match(below.text)) else " "


def _same_row(one: Line, other: Line) -> bool:
    return one.page == other.page and abs(one.y - other.y) < _SAME_ROW * one.size and other.left >= one.right - one.size


def _joins(pages: list[list[Line]]) -> Iterator[bool]:
    """For each line but the first, whether it goes on with what the line before has begun."""
    last: Line | None = None
    went_on = False
    last_margin = 0.0
    for page in pages:
        margins = _margins(page)
        steps = [above.y - below.y for above, below in pairwise(page) if above.y > below.y]
        far = _FAR * median(steps) if steps else 0.0
        for line in page:
            if last is not None:
                is_near = last.page != line.page or last.y - line.y <= min(far, _FAR_LETTERS * last.size)
                is_outdented = went_on and last.page == line.page and last.left - line.left > _INDENT * last.size
                went_on = _same_row(last, line) or (is_near and not is_outdented and _goes_on(last, line, last_margin))
                yield went_on
            last, last_margin = line, margins[_bucket(line)]


def _goes_on(above: Line, below: Line, margin: float) -> bool:
    """True when the line below belongs to the paragraph of the line above: that one is full, and this one not indented."""
    if abs(above.size - below.size) > _SAME_SIZE * above.size or _NEW_LINE.match(below.text):
        return False
    if above.page != below.page:
        if _SENTENCE_END.search(above.text):
            return False
    elif (
        below.y >= above.y
        or not _overlap(above, below)
        or below.left - above.left > above.size * (_ITEM_INDENT if _NEW_LINE.match(above.text) else _INDENT)
    ):
        return False
    # What begins the line below would have found no place above; in the middle of a sentence a few letters more may be free.
    word = below.text.split(maxsplit=1)[0]
    letters = 1 if _WIDE.match(word) else len(word) + 1
    width = (below.right - below.left) / len(below.text)
    free = letters * width + above.size * (_FREE_AT_END if _SENTENCE_END.search(above.text) else _FREE_WITHIN)
    return margin - above.right < free


def _bucket(line: Line) -> int:
    return round(line.left / _COLUMN_POINTS)


def _margins(lines: list[Line]) -> dict[int, float]:
    """Up to where lines go that begin at about the same place."""
    rights: dict[int, float] = {}
    for line in lines:
        rights[_bucket(line)] = max(rights.get(_bucket(line), 0.0), line.right)
    return {at: max(rights.get(near, 0.0) for near in (at - 1, at, at + 1)) for at in rights}
