"""Blocks of vectors that this process has read: the next question of the same owner reads only those that have changed since.

At most `MOST_BYTES` are held, those of the owners who asked last: an owner's 100,000 vectors of 384 numbers are 39 MB. What
nobody has asked for goes after `SECONDS`, as soon as anybody asks, also what was erased; a block that has changed or gone is
never used, since what is held is known by a random stamp that each writing gives anew.
"""

import time
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Final

import numpy as np
from numpy.typing import NDArray

MOST_BYTES: Final = 64 * 1024 * 1024
SECONDS: Final = 600.0


@dataclass(frozen=True, slots=True)
class Block:
    """The items of one block, as they were read."""

    stamp: bytes
    items: NDArray[np.void]


Blocks = Mapping[int, Block]


@dataclass(frozen=True, slots=True)
class _Held:
    blocks: Blocks
    size: int
    at: float


class Shelf:
    """The blocks of some owners, by number; for several threads at once. What it has given is never changed."""

    def __init__(self, most_bytes: int = MOST_BYTES, seconds: float = SECONDS) -> None:
        self.most_bytes, self.seconds = most_bytes, seconds
        self.size = 0
        self._held: OrderedDict[Hashable, _Held] = OrderedDict()  # the one that was asked for last is last
        self._lock = Lock()

    def of(self, owner: Hashable) -> Blocks:
        now = time.monotonic()
        with self._lock:
            while self._held and next(iter(self._held.values())).at < now - self.seconds:
                self._drop_oldest()
            found = self._held.get(owner)
            if found is None:
                return {}
            self._held[owner] = _Held(found.blocks, found.size, now)
            self._held.move_to_end(owner)
            return found.blocks

    def put(self, owner: Hashable, blocks: Blocks) -> None:
        """Holds these in place of what was held of the owner: as many as there is room for, others giving way."""
        kept: dict[int, Block] = {}
        size = 0
        for number, block in blocks.items():
            if size + block.items.nbytes <= self.most_bytes:
                kept[number] = block
                size += block.items.nbytes
        with self._lock:
            if (before := self._held.pop(owner, None)) is not None:
                self.size -= before.size
            while self.size + size > self.most_bytes:
                self._drop_oldest()
            if kept:
                self._held[owner] = _Held(kept, size, time.monotonic())
                self.size += size

    def clear(self) -> None:
        with self._lock:
            self._held.clear()
            self.size = 0

    def _drop_oldest(self) -> None:
        _, gone = self._held.popitem(last=False)
        self.size -= gone.size


SHELF: Final = Shelf()
