"""Makes the index of the threat rules, for threat_anchors: takes their patterns apart with the parser of `re`, in about a second.

As a file the index is sealed: rules that changed, a change in this module, and any damage all show before a byte of it is believed.
"""

import json
import math
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, Final

_MOST: Final = 1_500
_LONG: Final = 5
_SETS_MOST: Final = 3  # of one pattern; a fourth lets no fewer rules be tried (measured on the school's talk of the corpus)


@cache
def anchors_of(pattern: str) -> tuple[frozenset[str], ...]:
    """Sets of strings of one to five characters; of each set at least one string is part of any match. None when nothing can be said."""
    sets = {frozenset(one) for one in _Parts().candidates(list(parser.parse(pattern)))}
    return tuple(sorted(sets, key=lambda one: (_cost(one), sorted(one)))[:_SETS_MOST])


@dataclass(frozen=True, slots=True)
class Index:
    """Sets of beginnings, numbered through: `sets` is how many each group has, the most telling one first, and `anchors` says for
    each beginning which sets it is in. Of each set of a group one beginning must be met."""

    sets: list[int]
    anchors: dict[str, list[int]]


def index_of(groups: Sequence[Sequence[str]]) -> Index:
    """The index of groups of patterns; all patterns of a group must match."""
    anchors: dict[str, list[int]] = {}
    sizes: list[int] = []
    for group in groups:
        sets = sorted({one for pattern in group for one in anchors_of(pattern)}, key=lambda one: (_cost(one), sorted(one)))
        if not sets:
            raise ValueError(f"nothing can be said of what must stand in a match of {group}")
        for number, known in enumerate(sets, sum(sizes)):
            for anchor in known:
                anchors.setdefault(anchor, []).append(number)
        sizes.append(len(sets))
    return Index(sizes, anchors)


def sealed(groups: Sequence[Sequence[str]]) -> bytes:
    """The index of the groups as a file holds it."""
    content = json.dumps(asdict(index_of(groups)), ensure_ascii=False, sort_keys=True).encode()
    return _seal(content, groups) + content


def unsealed(file: bytes, groups: Sequence[Sequence[str]]) -> Index | None:
    """The index that `sealed` wrote; None when it is damaged, or was made from other groups or by another version of this module."""
    seal, newline, content = file.partition(b"\n")
    return Index(**json.loads(content)) if seal + newline == _seal(content, groups) else None


def _seal(content: bytes, groups: Sequence[Sequence[str]]) -> bytes:
    rules = "\n".join("\0".join(group) for group in groups).encode()
    return b"%08x\n" % zlib.crc32(content, zlib.crc32(rules, zlib.crc32(Path(__file__).read_bytes())))


# A beginning, and whether what follows in the pattern may be added to it.
_Heads = set[tuple[str, bool]]


def _size(text: str) -> int:
    return 2 if text and text[0] >= "\u2e80" else _LONG


def _is_full(text: str) -> bool:
    return len(text) >= _size(text)


_ONCE: Final = (op.SUBPATTERN, op.ATOMIC_GROUP)
_REPEATS: Final = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)


def _inside(kind: Any, value: Any) -> list[Any] | None:  # noqa: ANN401
    """The sequence that a group or a repetition holds."""
    if kind is op.SUBPATTERN:
        return list(value[3])
    if kind is op.ATOMIC_GROUP:
        return list(value)
    return list(value[2]) if kind in _REPEATS else None


def _cost(starts: Iterable[str]) -> float:
    """About how often one of the beginnings is met in ordinary text, whatever their order; more than ever for none."""
    return math.fsum(
        0.0002 if _is_full(one) else 0.002 if one[0] >= "\u2e80" else (0.05, 0.01, 0.002, 0.001)[len(one) - 1] for one in starts
    )


class _Parts:
    """What the elements of one parsed pattern may begin with; each is worked out once."""

    def __init__(self) -> None:
        self._known: dict[int, _Heads | None] = {}

    def best(self, sequence: list[Any]) -> set[str] | None:
        """The most telling set of beginnings among the elements of a sequence."""
        return min(self.candidates(sequence), key=_cost, default=None)

    def candidates(self, sequence: list[Any]) -> list[set[str]]:
        """For each element of a sequence of which something can be said, the most telling set of beginnings."""
        if sequence and all(kind is op.LITERAL for kind, _ in sequence):
            word = "".join(chr(value) for _, value in sequence)
            return [{min((word[i : i + _size(word[i:])] for i in range(len(word))), key=lambda one: _cost((one,)))}]
        found: list[set[str]] = []
        for i, (kind, value) in enumerate(sequence):
            candidates: list[set[str]] = []
            starts = {text[: _size(text)] for text, _ in self._starts(sequence[i:]) or {("", False)}}
            if "" not in starts:
                candidates.append(starts)
            inner = _inside(kind, value)
            nested = self.best(inner) if inner is not None and (kind in _ONCE or value[0] >= 1) else None
            if nested:
                candidates.append(nested)
            branches = [self.best(list(branch)) for branch in value[1]] if kind is op.BRANCH else []
            if branches and all(branches):
                candidates.append(set().union(*(branch for branch in branches if branch)))
            if candidates:
                found.append(min(candidates, key=_cost))
        return found

    def _starts(self, sequence: list[Any]) -> _Heads | None:
        """All beginnings that a match of the sequence may have; None when there are too many."""
        word, literals = "", 0
        for kind, value in sequence:
            if kind is not op.LITERAL:
                break
            word += chr(value)
            literals += 1
            if _is_full(word):
                return {(word, False)}
        heads: _Heads = {(word, True)}
        for kind, value in sequence[literals:]:
            if not any(is_open for _, is_open in heads):
                break
            more = self._pieces(kind, value)
            if more is None:
                return None
            closed = {one for one in heads if not one[1]}
            heads = closed | {
                (text + piece, goes_on and not _is_full(text + piece)) for text, is_open in heads if is_open for piece, goes_on in more
            }
            if len(heads) > _MOST:
                return None
        return heads

    def _pieces(self, kind: Any, value: Any) -> _Heads | None:  # noqa: ANN401
        """What one element may begin with; a piece that is not open ends where nothing more can be said."""
        if kind is op.LITERAL:
            return {(chr(value), True)}
        if kind in (op.AT, op.ASSERT, op.ASSERT_NOT):
            return {("", True)}
        key = id(value)
        if key not in self._known:
            self._known[key] = self._listed(kind, value)
        return self._known[key]

    def _listed(self, kind: Any, value: Any) -> _Heads | None:  # noqa: ANN401
        if kind is op.IN and all(what is op.LITERAL for what, _ in value):
            return {(chr(one), True) for _, one in value}
        if kind is op.BRANCH:
            found: _Heads = set()
            for branch in value[1]:
                starts = self._starts(list(branch))
                if starts is None:
                    return None
                found |= starts
            return found
        inner = _inside(kind, value)
        if inner is None:
            return {("", False)}
        starts = self._starts(inner)
        if starts is None or kind in _ONCE:
            return starts
        low, high = value[:2]
        pieces = starts if (low, high) in ((0, 1), (1, 1)) else {(text, False) for text, _ in starts}
        return pieces | {("", True)} if low == 0 else pieces
