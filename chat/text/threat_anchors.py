"""A prefilter drawn from the rules themselves: what must stand in a text for a pattern to match there.

Each pattern is taken apart once. Some element of it always matches one of a few beginnings (two Chinese characters, five others);
the text is then walked over once, for all patterns together, and only those are tried whose beginnings were met.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from operator import add
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, Final

_MOST: Final = 1_500
_LONG: Final = 5


@cache
def anchors_of(pattern: str) -> frozenset[str]:
    """Strings of one to five characters, of which at least one is part of any match; empty when nothing can be said."""
    return frozenset(_Parts().best(list(parser.parse(pattern))) or ())


class Finder:
    """Several patterns that must all match, many times over: says which of these groups are worth a try in a text."""

    def __init__(self, groups: Sequence[Sequence[str]]) -> None:
        self._bits: dict[str, int] = {}
        self._always = 0
        self._needed: list[int] = []
        self._by_key: dict[int, list[int]] = {}
        for group in groups:
            sets = sorted(map(anchors_of, group), key=lambda anchors: _cost(anchors) if anchors else math.inf)
            bits = [1 << (sum(map(int.bit_count, self._needed)) + i) for i in range(len(sets))]
            for bit, anchors in zip(bits, sets, strict=True):
                self._always |= 0 if anchors else bit
                for anchor in anchors:
                    self._bits[anchor] = self._bits.get(anchor, 0) | bit
            self._by_key.setdefault(bits[0], []).append(len(self._needed))
            self._needed.append(sum(bits))
        self._keys = sum(self._by_key)

    def met(self, text: str) -> int:
        """What of the groups is met in `text`, as bits for `groups_of`; texts are put together with `|`."""
        twos = list(map(add, text, text[1:]))
        fours = list(map(add, twos, twos[2:]))
        grams = {*text, *twos, *map(add, twos, text[2:]), *fours, *map(add, fours, text[4:])}
        bits, met = self._bits, self._always
        for gram in grams & bits.keys():
            met |= bits[gram]
        return met

    def groups_of(self, met: int) -> Iterator[int]:
        """The groups, by their place, of which all patterns can match."""
        keys = met & self._keys
        while keys:
            key = keys & -keys
            keys ^= key
            yield from (group for group in self._by_key[key] if met & self._needed[group] == self._needed[group])


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
    """About how often one of the beginnings is met in ordinary text; more than ever for none."""
    return sum(0.0002 if _is_full(one) else 0.002 if one[0] >= "\u2e80" else (0.05, 0.01, 0.002, 0.001)[len(one) - 1] for one in starts)


class _Parts:
    """What the elements of one parsed pattern may begin with; each is worked out once."""

    def __init__(self) -> None:
        self._known: dict[int, _Heads | None] = {}

    def best(self, sequence: list[Any]) -> set[str] | None:
        """The most telling set of beginnings among the elements of a sequence."""
        if sequence and all(kind is op.LITERAL for kind, _ in sequence):
            word = "".join(chr(value) for _, value in sequence)
            return {min((word[i : i + _size(word[i:])] for i in range(len(word))), key=lambda one: _cost((one,)))}
        candidates: list[set[str]] = []
        for i, (kind, value) in enumerate(sequence):
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
        return min(candidates, key=_cost, default=None)

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
