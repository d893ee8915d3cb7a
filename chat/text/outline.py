"""The outline of a text: its lines, which of them are headings, and where a line may be cut."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

_SENTENCE_END: Final = re.compile(r"(?:[。！？!?…]+|\.(?=\s|\Z))[”』」）)\"'’]*|\n+")
_CLAUSE_END: Final = re.compile(r"[，、；：,;:]+[”』」）)\"'’]*|\s+")
_LINE: Final = re.compile(r"[^\n]*\n\s*\n|[^\n]*\n|[^\n]+\Z")
# A line longer than this many characters is taken in sentences, a sentence in clauses, a clause in pieces.
UNIT_CHARS: Final = 240

_NUMERALS: Final = "〇零一二三四五六七八九十百两0-9０-９"
_HEADINGS: Final = (
    (7, re.compile(rf"第\s*[{_NUMERALS}]{{1,4}}\s*(?:[章节篇课]|部分|单元|大?题(?=[\s：:、.．（(]|\Z))")),
    (8, re.compile(r"[一二三四五六七八九十]{1,3}\s*[、.．]")),
    (9, re.compile(r"[（(][一二三四五六七八九十]{1,3}[）)]")),
)
_MARKDOWN: Final = re.compile(r"(#{1,6})\s+\S")
_BOLD: Final = re.compile(r"(\*\*|__)(?P<inner>[^*_]{1,60})\1[：:]?\s*\Z")
_NUMBERED: Final = re.compile(r"(?P<number>\d{1,3})\s*[.．、)）](?!\d)\s*\S")
BOLD_LEVEL: Final = 10
NUMBERED_LEVEL: Final = 11
_HEADING_CHARS: Final = 48
_NUMBERED_CHARS: Final = 32


@dataclass(frozen=True, slots=True)
class Unit:
    """A stretch of a text that is kept or left out whole: a line with the blank lines after it, or a part of a long line.

    `level` is that of a heading (1 the highest), 0 for others; `starts_line` is false inside a long line.
    """

    start: int
    end: int
    level: int
    starts_line: bool


def units(text: str) -> list[Unit]:
    """All of `text` in units, in order and without gaps."""
    lines = [match.span() for match in _LINE.finditer(text)]
    bare = [text[start:end].strip() for start, end in lines]
    found: list[Unit] = []
    for i, (start, end) in enumerate(lines):
        if end - start <= UNIT_CHARS:
            following = bare[i + 1] if i + 1 < len(bare) else ""
            found.append(Unit(start, end, heading_level(bare[i], following), True))
        else:
            cuts = _cuts(text, start, end)
            found.extend(Unit(a, b, 0, a == start) for a, b in zip(cuts, cuts[1:], strict=False))
    return found


def heading_level(line: str, following: str = "") -> int:
    """The level of `line` as a heading, 0 when it is none; `following` is the next line that is not blank.

    Levels: Markdown 1 to 6, 第…章 7, 一、 8, （一） 9, a bold line 10, a short `1.` that is no item of a list 11.
    """
    if markdown := _MARKDOWN.match(line):
        return len(markdown.group(1))
    bold = _BOLD.match(line)
    inner = bold.group("inner").strip() if bold else line
    if len(inner) > _HEADING_CHARS:
        return 0
    for level, pattern in _HEADINGS:
        if pattern.match(inner) and not inner.endswith(("。", "；", "，")):
            return level
    if bold:
        return BOLD_LEVEL
    if _NUMBERED.match(line) and len(line) <= _NUMBERED_CHARS and not line.endswith(("；", "，", ";", ",")):
        return 0 if _NUMBERED.match(following) else NUMBERED_LEVEL
    return 0


def section_end(found: list[Unit], index: int) -> int:
    """The index behind the last unit of the section that the heading at `index` opens."""
    level = found[index].level
    return next((i for i in range(index + 1, len(found)) if 0 < found[i].level <= level), len(found))


def _cuts(text: str, start: int, end: int) -> list[int]:
    """Where the long line from `start` to `end` is cut, both included."""
    cuts = [start]
    while end - cuts[-1] > UNIT_CHARS:
        cuts.append(_next_cut(text, cuts[-1], end))
    if cuts[-1] < end:
        cuts.append(end)
    return cuts


def _next_cut(text: str, start: int, end: int) -> int:
    limit = start + UNIT_CHARS
    for pattern in (_SENTENCE_END, _CLAUSE_END):
        # The first end of a sentence; of clauses the last one within the limit.
        ends = [match.end() for match in pattern.finditer(text, start + 1, limit) if match.end() < limit]
        if ends:
            return ends[0] if pattern is _SENTENCE_END else ends[-1]
    while limit < end and joins(text, limit):
        limit += 1
    return limit


def joins(text: str, place: int) -> bool:
    """True when a cut before `place` would tear what is seen as one character."""
    if not 0 < place < len(text):
        return False
    char, before = text[place], text[place - 1]
    if unicodedata.category(char).startswith("M") or char == "\u200d" or before == "\u200d" or "\U0001f3fb" <= char <= "\U0001f3ff":
        return True
    low_surrogate = "\udc00" <= char <= "\udfff" and "\ud800" <= before <= "\udbff"
    flag = all("\U0001f1e6" <= c <= "\U0001f1ff" for c in (char, before))
    return low_surrogate or flag or (before == "\r" and char == "\n")


def cut_before(text: str, place: int) -> int:
    """The last good place at or before `place` to end `text`: behind a sentence, else a clause, else a character.

    An end of a sentence counts only behind the first third, so that not too much is lost.
    """
    if place >= len(text):
        return len(text)
    for pattern in (_SENTENCE_END, _CLAUSE_END):
        ends = [match.end() for match in pattern.finditer(text, 0, place + 1) if match.end() <= place]
        if ends and ends[-1] * 3 >= place:
            return ends[-1]
    while joins(text, place):
        place -= 1
    return place
