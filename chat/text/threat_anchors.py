"""A prefilter drawn from the rules themselves: what must stand in a text for a pattern to match there.

Some element of each pattern always matches one of a few beginnings (two Chinese characters, five others). Which, says the index
that threat_index makes. A text is walked over once, for all patterns together, and only those are tried whose beginnings were met.
"""

from collections.abc import Iterator, Sequence
from operator import add
from pathlib import Path
from typing import Final

from chat.text.threat_index import index_of, unsealed

# Made by `manage.py compile_threats`, to spare each process the second that it takes to make the index.
INDEX_FILE: Final = Path(__file__).with_name("threats.idx")


class Finder:
    """Several patterns that must all match, many times over: says which of these groups are worth a try in a text.

    The index is read from `file`; where that holds none of these groups, it is made.
    """

    def __init__(self, groups: Sequence[Sequence[str]], file: Path = INDEX_FILE) -> None:
        try:
            index = unsealed(file.read_bytes(), groups)
        except OSError:
            index = None
        index = index or index_of(groups)
        self._bits = {anchor: _bits(numbers) for anchor, numbers in index.anchors.items()}
        self._needed: list[int] = []
        self._by_key: dict[int, list[int]] = {}
        start = 0
        for size in index.sets:
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
