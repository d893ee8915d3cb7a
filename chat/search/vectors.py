"""Search by meaning: an owner's vectors in small blocks, written with the index and read as cosines.

A block's items are a place, a scale and whole numbers of one byte: against a question of length 1 that is off by about
0.0005, where cosines of related and unrelated records differ by some 0.05. A record may have several items, of which the
nearest counts. One without items is done all the same when its bit is set: the service had nothing to say about it.
Behind the bits stands the stamp, random and new with each writing, by which a process knows blocks again that it holds.
"""

import os
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from django.db.models import F, Q, QuerySet
from numpy.typing import NDArray

from chat.models import SearchIndex, VectorBlock
from chat.search.held import SHELF, Block
from chat.search.score import Cosines

SIZE: Final = 128  # records a block; a full one of 384 numbers is 50 kB
LARGEST: Final = 127
BITS_BYTES: Final = SIZE // 8
STAMP_BYTES: Final = 16
AT_ONCE: Final = 8  # blocks; a quarter faster than one by one

Floats32 = NDArray[np.float32]
Bits = NDArray[np.bool_]
Items = NDArray[np.void]


@dataclass(frozen=True, slots=True)
class Vector:
    """What a question means to one model of one service; `values` have the length 1."""

    provider_id: str
    model: str
    values: Floats32


def item_type(dimension: int) -> np.dtype[np.void]:
    return np.dtype([("place", "u1"), ("scale", "<f4"), ("values", "i1", (dimension,))])


def pack(place: int, vectors: Sequence[Floats32], dimension: int) -> Items:
    """Vectors of one record as items."""
    items = np.zeros(len(vectors), item_type(dimension))
    for i, vector in enumerate(vectors):
        scale = float(np.abs(vector).max(initial=0.0)) / LARGEST
        items[i] = (place, scale, np.rint(vector / scale) if scale else 0)
    return items


def cosines(tenant_id: str, user_id: int | None, kind: SearchIndex.Kind, vector: Vector) -> Cosines | None:
    """How near the owner's records (no user: the school's) are to the question; None without any vectors of its model.

    One query; of an owner whose blocks this process holds one for their stamps, and one for those that have changed.
    """
    dimension = len(vector.values)
    owner = Q(index__user=None) if user_id is None else Q(index__user_id=user_id)
    rows = VectorBlock.objects.filter(
        owner,
        index__tenant_id=tenant_id,
        index__kind=kind,
        index__embedder_id=vector.provider_id,
        index__embedding_model=vector.model,
        model=vector.model,
        dimension=dimension,
    )
    blocks = _blocks(rows, (tenant_id, user_id, kind, vector.provider_id, vector.model, dimension), dimension)
    if not blocks:
        return None
    several = [(number, block.items) for number, block in sorted(blocks.items())]
    numbers = np.concatenate([items["place"].astype(np.int64) + number * SIZE for number, items in several])
    return _nearest(numbers, _products([items for _, items in several], vector.values).astype(np.float64))


def _products(blocks: Sequence[Items], asked: Floats32) -> Floats32:
    """Of each item with what was asked for. Some blocks at a time, whose numbers the processor then still has at hand."""
    room = np.empty((max(map(len, blocks)) * AT_ONCE, len(asked)), np.float32)
    found = []
    for start in range(0, len(blocks), AT_ONCE):
        filled = 0
        for items in blocks[start : start + AT_ONCE]:
            room[filled : filled + len(items)] = items["values"]
            filled += len(items)
        found.append(room[:filled] @ asked)
    return np.concatenate(found) * np.concatenate([items["scale"] for items in blocks])


def _blocks(rows: QuerySet[VectorBlock], owner: Hashable, dimension: int) -> dict[int, Block]:
    """The owner's blocks as they are now, by number; those that have changed are read. An old one without a stamp is never held."""
    held = SHELF.of(owner)
    if held:
        stamps = {number: _stamp(made) for number, made in rows.values_list("block", "made")}
        found = {number: held[number] for number, stamp in stamps.items() if number in held and held[number].stamp == stamp}
        missing = [number for number in stamps if number not in found]
        rows = rows.filter(block__in=missing) if missing else rows.none()
    else:
        found = {}
    kinds = item_type(dimension)
    read = {
        number: Block(_stamp(made), np.frombuffer(bytes(packed), kinds))
        for number, made, packed in rows.values_list("block", "made", "packed")
    }
    if read or len(found) != len(held):
        found |= read
        SHELF.put(owner, {number: block for number, block in found.items() if block.stamp})
    return found


def _nearest(numbers: NDArray[np.int64], values: NDArray[np.float64]) -> Cosines | None:
    """One value a record, of several the highest; items stand in the order of their places."""
    if not len(numbers):
        return None
    starts = np.flatnonzero(np.concatenate([[True], numbers[1:] != numbers[:-1]]))
    return Cosines(numbers[starts], np.maximum.reduceat(values, starts))


# Writing; always inside a transaction that has taken the index's row first (chat.search.index.writing, or `take`).


def take(index_id: int) -> SearchIndex | None:
    """Takes the row of an index, so that its writers follow each other, and returns it as it is now; None when it is gone."""
    if not SearchIndex.objects.filter(pk=index_id).update(vectors=F("vectors")):
        return None
    return SearchIndex.objects.get(pk=index_id)


def clear(index: SearchIndex, numbers: Collection[int]) -> None:
    """Forgets the vectors of records that have changed or gone."""
    by_block = _by_block(numbers)
    cleared = 0
    for row in VectorBlock.objects.filter(index=index, block__in=list(by_block)):
        bits, places = _bits(row.made), by_block[row.block]
        had = int(bits[places].sum())
        if not had:
            continue
        bits[places] = False
        items = np.frombuffer(bytes(row.packed), item_type(row.dimension))
        row.made, row.packed = _made(bits), items[~np.isin(items["place"], places)].tobytes()
        row.save(update_fields=["made", "packed"])
        cleared += had
    if cleared:
        SearchIndex.objects.filter(pk=index.pk).update(vectors=F("vectors") - cleared)


def put(index: SearchIndex, vectors: Mapping[int, Sequence[Floats32]], dimension: int) -> None:
    """Stores the vectors of records that have none; without vectors a record is only marked as done."""
    for block, places in _by_block(vectors).items():
        row = VectorBlock.objects.filter(index=index, block=block).first()
        new = [pack(place, vectors[block * SIZE + place], dimension) for place in places]
        old = np.frombuffer(bytes(row.packed) if row else b"", item_type(dimension))
        items = np.concatenate([old, *new])
        items = items[np.argsort(items["place"], kind="stable")]
        bits = _bits(row.made if row else bytes(BITS_BYTES))
        bits[places] = True
        VectorBlock.objects.update_or_create(
            index=index,
            block=block,
            defaults={
                "model": index.embedding_model,
                "dimension": dimension,
                "made": _made(bits),
                "packed": items.tobytes(),
            },
        )
    SearchIndex.objects.filter(pk=index.pk).update(vectors=F("vectors") + len(vectors), dimension=dimension)


def forget(indexes: QuerySet[SearchIndex]) -> None:
    """Deletes all vectors of these indexes, which are chosen by their owners, and what they say of them.

    Their rows are changed first: a writer that is just storing vectors is waited for, and what it stored goes too.
    """
    keys = list(indexes.values_list("pk", flat=True))
    SearchIndex.objects.filter(pk__in=keys).update(vectors=0, embedder=None, embedding_model="", dimension=0)
    VectorBlock.objects.filter(index__in=keys).delete()


def made_numbers(index: SearchIndex) -> list[int]:
    """The records that are done. One query of small columns."""
    rows = VectorBlock.objects.filter(index=index).values_list("block", "made")
    return [int(place) + block * SIZE for block, made in rows for place in np.flatnonzero(_bits(made))]


def _bits(packed: bytes) -> Bits:
    return np.unpackbits(np.frombuffer(bytes(packed), np.uint8, BITS_BYTES)).astype(np.bool_)


def _made(bits: Bits) -> bytes:
    return np.packbits(bits).tobytes() + os.urandom(STAMP_BYTES)


def _stamp(made: bytes) -> bytes:
    return bytes(made)[BITS_BYTES:]


def _by_block(numbers: Collection[int]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for number in sorted(numbers):
        found.setdefault(number // SIZE, []).append(number % SIZE)
    return found
