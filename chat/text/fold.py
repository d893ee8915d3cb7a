"""Fold: the form of a text in which people search, and the words around what they find.

NFKC, then case folding, then NFKC again, because case folding can take a text out of normal form. Upper and lower case,
full and half width, ligatures and circled figures are the same; the ideographic space is a space. Both sides of a
search are folded, so whether a text holds a word is exact by this definition, on every database.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from dataclasses import dataclass

BEFORE_CHARS, AFTER_CHARS = 30, 70
CUT = "…"
# Signs of Markdown that say nothing to a reader: of headings and quotations, of emphasis but not of 2**3, of code, of tables.
_SIGNS = re.compile(
    r"(?<=\n)[ ]{0,3}(?:\#{1,6}[ ]+|>[ ]?)|(?<![A-Za-z0-9_)])\*\*|\*\*(?![A-Za-z0-9_(])|`+|(?<=\n)\|?[ :|-]*-{3}[ :|-]*(?=\n|$)"
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an excerpt; `is_hit` says that it is one of the words searched for."""

    text: str
    is_hit: bool = False


def fold(text: str) -> str:
    """The text as it is searched."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def words_of(query: str) -> list[str]:
    """The folded words of a query, each once; [] for a query of spaces."""
    return list(dict.fromkeys(fold(query).split()))


def holds(text: str, words: list[str]) -> bool:
    """Whether all words occur in the text; both are folded."""
    return all(word in text for word in words)


def excerpt(text: str, words: list[str]) -> list[Piece]:
    """The first place of each folded word in a text that is not folded, with what stands around it."""
    folded = fold(text)
    windows: list[tuple[int, int]] = []
    for start, end in sorted(_place(text, folded, folded.find(word), word) for word in words if word in folded):
        start, end = max(0, start - BEFORE_CHARS), min(len(text), end + AFTER_CHARS)
        if windows and start <= windows[-1][1]:
            start, end = windows[-1][0], max(end, windows[-1][1])
            windows.pop()
        windows.append((start, end))
    pieces: list[Piece] = []
    for number, (start, end) in enumerate(windows):
        if start > 0:
            pieces.append(Piece(f" {CUT} " if number else CUT))
        pieces += marked(text[start:end], words)
    return [*pieces, Piece(CUT)] if windows and windows[-1][1] < len(text) else pieces


def plain(pieces: list[Piece]) -> list[Piece]:
    """The pieces of an answer without signs of Markdown; what was searched for stays as it is."""
    if pieces and not pieces[0].is_hit and pieces[0].text != CUT:  # the text's beginning is that of a line
        pieces = [Piece(_SIGNS.sub("", f"\n{pieces[0].text}")[1:]), *pieces[1:]]
    shown = [piece if piece.is_hit else Piece(_SIGNS.sub("", piece.text)) for piece in pieces]
    return [piece for piece in shown if piece.text]


def marked(text: str, words: list[str]) -> list[Piece]:
    """The whole text, in pieces, with all places of the folded words."""
    longest_first = sorted(words, key=len, reverse=True)
    folded = fold(text)
    pieces: list[Piece] = []
    done = 0
    for match in re.finditer("|".join(map(re.escape, longest_first)), folded) if words else ():
        start, end = _place(text, folded, match.start(), match[0])
        start = max(start, done)
        if start >= end:
            continue
        pieces += [Piece(text[done:start]), Piece(text[start:end], is_hit=True)]
        done = end
    return [piece for piece in (*pieces, Piece(text[done:])) if piece.text]


def _place(text: str, folded: str, at: int, word: str) -> tuple[int, int]:
    """Start and end, in the text, of the word that stands at `at` of its folded form."""
    end = at + len(word)
    before = fold(text[:at])
    if len(before) == at and before + fold(text[at:end]) == folded[:end]:
        return at, end  # as nearly always: nothing before it became longer or shorter

    def length(chars: int) -> int:
        return len(fold(text[:chars]))

    return bisect_right(range(len(text) + 1), at, key=length) - 1, bisect_left(range(len(text) + 1), end, key=length)
