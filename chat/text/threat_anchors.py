"""A prefilter drawn from the rules themselves: what must stand in a text for a pattern to match there.

Some element of each pattern always matches one of a few beginnings (two Chinese characters, five others). Which, stands in
threat_index.json, made from the rules by `make threat-index`: taking the patterns apart costs each process a second. A text is
walked over once, for all patterns together, and only those are tried whose beginnings were met.
"""

import json
import zlib
from collections.abc import Iterator, Sequence
from operator import add
from pathlib import Path
from typing import Final

INDEX: Final = Path(__file__).with_name("threat_index.json")


class StaleIndex(Exception):
    """The index was made from other rules. `make threat-index` makes it anew."""


def digest_of(groups: Sequence[Sequence[str]]) -> int:
    """Tells the rules by whose patterns an index was made."""
    return zlib.crc32("\0".join(pattern for group in groups for pattern in group).encode())


class Finder:
    """Several patterns that must all match, many times over: says which of these groups are worth a try in a text.

    The index holds sets of beginnings, numbered through: how many each group has, the most telling one first, and for each
    beginning the sets that it is in. Of each set of a group one beginning must be met. Raises StaleIndex.
    """

    def __init__(self, groups: Sequence[Sequence[str]]) -> None:
        index = json.loads(INDEX.read_text(encoding="utf-8"))
        if index["digest"] != digest_of(groups):
            raise StaleIndex
        self._bits = {anchor: _bits(numbers) for anchor, numbers in index["anchors"].items()}
        self._needed: list[int] = []
        self._by_key: dict[int, list[int]] = {}
        start = 0
        for size in index["sets"]:
            self._by_key.setdefault(1 << start, []).append(len(self._needed))
            self._needed.append(((1 << size) - 1) << start)
            start += size
        self._keys = sum(self._by_key)

    def met(self, text: str) -> int:
        """What of the groups is met in `text`, as bits for `groups_of`; texts are put together with `|`."""
        twos = list(map(add, text, text[1:]))
        fours = list(map(add, twos, twos[2:]))
        grams = {*text, *twos, *map(add, twos, text[2:]), *fours, *map(add, fours, text[4:])}
        bits, met = self._bits, 0
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


def _bits(numbers: Sequence[int]) -> int:
    return sum(1 << number for number in numbers)
