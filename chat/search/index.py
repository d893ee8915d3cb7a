"""Writes the search index: packed postings, changed incrementally inside the caller's transaction (DESIGN §10).

A term's row holds the records of one block, so that what one change rewrites stays small however much an owner has.
"""

import struct
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from typing import Final

import numpy as np
from django.db import connection, models
from django.db.models import F
from numpy.typing import NDArray

from chat.models import SearchBlock, SearchIndex, SearchTerm
from chat.search.vectors import clear
from chat.text.features import terms

BLOCK: Final = 8_192
ROWS_AT_ONCE: Final = 500
FEW: Final = 64
LOOK_COST: Final = 5  # looking through that many rows costs as much as changing one
FREQUENCY_MOST: Final = 255
LENGTH_MOST: Final = 65_535
FIRST_DAY: Final = date(1990, 1, 1).toordinal() - 1  # 0 is no day
Packed = tuple[NDArray[np.uint16], NDArray[np.uint8]]

# Not by bulk_create, which takes thirty times as long for the 30,000 rows of a hundred passages, with the database locked.
PUT_TERM: Final = (
    "INSERT INTO chat_searchterm (index_id, term, block, count, packed) VALUES (%s, %s, %s, %s, %s) "
    "ON CONFLICT (index_id, term, block) DO UPDATE SET count = EXCLUDED.count, packed = EXCLUDED.packed"
)

COLUMNS: Final = np.dtype([("length", "<u2"), ("day", "<u2"), ("group", "<u4")])


@dataclass(frozen=True, slots=True)
class Record:
    """What is known of a record: how often each term stands in it, the group it belongs to ("" for none) and its day."""

    counts: Counter[str]
    group: str = ""
    day: date | None = None

    @property
    def length(self) -> int:
        return min(self.counts.total(), LENGTH_MOST)


def record_of(text: str, group: str = "", day: date | None = None) -> Record:
    return Record(Counter(terms(text)), group, day)


def group_key(group: str) -> int:
    """A group as four bytes; two groups of an owner that come to the same lend each other a little, no more."""
    return max(1, zlib.crc32(group.encode())) if group else 0


def day_key(day: date | None) -> int:
    return min(max(day.toordinal() - FIRST_DAY, 1), LENGTH_MOST) if day else 0


def pack(numbers: NDArray[np.uint16], counts: NDArray[np.uint8]) -> bytes:
    return numbers.astype("<u2").tobytes() + counts.astype("u1").tobytes()


def unpack(packed: bytes, count: int) -> Packed:
    """The places in the block, ascending, and the frequencies there."""
    data = bytes(packed)
    return np.frombuffer(data, "<u2", count), np.frombuffer(data, "u1", count, 2 * count)


def unpack_all(rows: Sequence[tuple[int, bytes]]) -> Packed:
    """The places and frequencies of many terms (count, packed), one after another."""
    numbers = b"".join([packed[: 2 * count] for count, packed in rows])
    counts = b"".join([packed[2 * count : 3 * count] for count, packed in rows])
    return np.frombuffer(numbers, "<u2"), np.frombuffer(counts, "u1")


@dataclass(slots=True)
class Writer:
    """Collects changes of one index; `writing` stores them when its block ends."""

    index: SearchIndex
    keeps_vectors: bool = False  # the texts are as they were
    _counts: dict[tuple[int, str], dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    _columns: dict[int, Record | None] = field(default_factory=dict)

    def add(self, record: Record) -> int:
        """Puts a record behind all others and returns its number."""
        self.index.last_number += 1
        number = self.index.last_number
        self.put(number, record)
        return number

    def put(self, number: int, record: Record, before: Record | None = None) -> None:
        """Stores the record under its number, in place of `before` when it stood there."""
        for term, count in record.counts.items():
            if before is None or before.counts[term] != count:
                self._set(number, term, count)
        for term in before.counts if before else ():
            if term not in record.counts:
                self._set(number, term, 0)
        self._columns[number] = record

    def remove(self, number: int, before: Record) -> None:
        for term in before.counts:
            self._set(number, term, 0)
        self._columns[number] = None

    def remove_all(self, records: Mapping[int, Record]) -> None:
        """Takes records out by their numbers. Many at once by one look through the index: a third of the time, and never twice at a row."""
        blocks = {number // BLOCK for number in records}
        terms_there = SearchTerm.objects.filter(index=self.index, block__in=blocks).count()
        if len({term for record in records.values() for term in record.counts}) * LOOK_COST < terms_there:
            for number, record in records.items():
                self.remove(number, record)
            return
        for block in blocks:
            self._forget(block, [number % BLOCK for number in records if number // BLOCK == block])
        self._columns.update(dict.fromkeys(records))

    def _forget(self, block: int, places: list[int]) -> None:
        is_gone = np.zeros(BLOCK, np.bool_)
        is_gone[places] = True
        gone = set(places)
        rows: list[tuple[int, bytes, int]] = []
        empty: list[int] = []
        known = SearchTerm.objects.filter(index=self.index, block=block).values_list("pk", "count", "packed")
        for key, count, packed in known.iterator(chunk_size=10_000):
            if count == 1:  # every other term, and four times as fast
                if int.from_bytes(packed[:2], "little") in gone:
                    empty.append(key)
                continue
            numbers, counts = unpack(packed, count)
            is_hit = is_gone[numbers]
            if is_hit.all():
                empty.append(key)
            elif is_hit.any():
                rows.append((int(count - is_hit.sum()), pack(numbers[~is_hit], counts[~is_hit]), key))
        with connection.cursor() as cursor:
            cursor.executemany("UPDATE chat_searchterm SET count = %s, packed = %s WHERE id = %s", rows)
            cursor.executemany("DELETE FROM chat_searchterm WHERE id = %s", [(key,) for key in empty])

    def _set(self, number: int, term: str, count: int) -> None:
        self._counts[number // BLOCK, term][number % BLOCK] = min(count, FREQUENCY_MOST)

    def store(self) -> None:
        self._store_columns()
        if self.index.embedding_model and not self.keeps_vectors:
            clear(self.index, self._columns)
        by_block: dict[int, dict[str, dict[int, int]]] = defaultdict(dict)
        for (block, term), changes in self._counts.items():
            by_block[block][term] = changes
        for block, changed in by_block.items():
            names = sorted(changed)
            for start in range(0, len(names), ROWS_AT_ONCE):
                some = names[start : start + ROWS_AT_ONCE]
                self._store_terms(block, {term: changed[term] for term in some})

    def _store_terms(self, block: int, changed: dict[str, dict[int, int]]) -> None:
        known = SearchTerm.objects.filter(index=self.index, block=block, term__in=list(changed))
        there = {term: (count, bytes(packed)) for term, count, packed in known.values_list("term", "count", "packed")}
        rows: list[tuple[int, str, int, int, bytes]] = []
        gone: list[str] = []
        for term, changes in changed.items():
            count, packed = there.get(term, (0, b""))
            if joined := _appended(count, packed, changes):
                rows.append((self.index.pk, term, block, count + len(changes), joined))
                continue
            numbers, counts = _merged(unpack(packed, count) if count else None, changes)
            if len(numbers):
                rows.append((self.index.pk, term, block, len(numbers), pack(numbers, counts)))
            elif count:
                gone.append(term)
        if rows:
            with connection.cursor() as cursor:
                cursor.executemany(PUT_TERM, rows)
        if gone:
            SearchTerm.objects.filter(index=self.index, block=block, term__in=gone).delete()

    def _store_columns(self) -> None:
        records, total = 0, 0
        by_block: dict[int, list[int]] = defaultdict(list)
        for number in self._columns:
            by_block[number // BLOCK].append(number)
        for block, numbers in by_block.items():
            row = SearchBlock.objects.filter(index=self.index, block=block).first()
            old = np.frombuffer(bytes(row.packed) if row else b"", COLUMNS)
            columns = np.zeros(max(len(old), max(numbers) % BLOCK + 1), COLUMNS)
            columns[: len(old)] = old
            for number in numbers:
                place, record = number % BLOCK, self._columns[number]
                records -= int(columns["length"][place] > 0)
                total -= int(columns["length"][place])
                columns[place] = (record.length, day_key(record.day), group_key(record.group)) if record else (0, 0, 0)
                records += int(columns["length"][place] > 0)
                total += int(columns["length"][place])
            SearchBlock.objects.update_or_create(index=self.index, block=block, defaults={"packed": columns.tobytes()})
        SearchIndex.objects.filter(pk=self.index.pk).update(
            last_number=self.index.last_number, records=F("records") + records, total_terms=F("total_terms") + total
        )


def _appended(count: int, packed: bytes, changes: dict[int, int]) -> bytes:
    """What is packed with new records behind all others, as most changes are; b"" for any other change."""
    places = sorted(changes)
    counts = bytes(changes[place] for place in places)
    if 0 in counts or (count and int.from_bytes(packed[2 * count - 2 : 2 * count], "little") >= places[0]):
        return b""
    return packed[: 2 * count] + struct.pack(f"<{len(places)}H", *places) + packed[2 * count :] + counts


def _merged(old: Packed | None, changes: dict[int, int]) -> Packed:
    """Most terms stand in few records, and there plain Python is several times as fast as arrays."""
    if old is None or len(old[0]) <= FEW:
        found = changes if old is None else dict(zip(old[0].tolist(), old[1].tolist(), strict=True)) | changes
        places = sorted(place for place, count in found.items() if count)
        return np.array(places, "<u2"), np.array([found[place] for place in places], "u1")
    places = sorted(place for place, count in changes.items() if count)
    numbers = np.array(places, "<u2")
    counts = np.array([changes[place] for place in places], "u1")
    kept = old
    if min(changes) <= int(old[0][-1]):  # not only appended
        is_kept = ~np.isin(old[0], np.array(list(changes), "<u2"))
        kept = old[0][is_kept], old[1][is_kept]
    numbers, counts = np.concatenate([kept[0], numbers]), np.concatenate([kept[1], counts])
    order = np.argsort(numbers, kind="stable")
    return numbers[order], counts[order]


def indexes_of(tenant_id: str, user_id: int | None, kind: SearchIndex.Kind) -> models.QuerySet[SearchIndex]:
    """The one index of the owner, or none yet. No user: the school's own."""
    owned = SearchIndex.objects.filter(tenant_id=tenant_id, kind=kind)
    return owned.filter(user=None) if user_id is None else owned.filter(user_id=user_id)


@contextmanager
def writing(tenant_id: str, user_id: int | None, kind: SearchIndex.Kind) -> Iterator[Writer]:
    """Takes the owner's index for changes, which are stored at the end; to be used inside a transaction. No user: the school's own.

    Its row is taken first, so that two writers of an owner follow each other.
    """
    SearchIndex.objects.bulk_create([SearchIndex(tenant_id=tenant_id, user_id=user_id, kind=kind)], ignore_conflicts=True)
    owned = indexes_of(tenant_id, user_id, kind)
    owned.update(records=F("records"))
    writer = Writer(owned.get())
    yield writer
    writer.store()


def present(index: SearchIndex) -> list[int]:
    """The numbers of all records."""
    rows = SearchBlock.objects.filter(index=index).values_list("block", "packed")
    return [
        int(place) + block * BLOCK for block, packed in rows for place in np.flatnonzero(np.frombuffer(bytes(packed), COLUMNS)["length"])
    ]


def build(tenant_id: str, user_id: int | None, kind: SearchIndex.Kind, records: Sequence[tuple[int, Record]]) -> bool:
    """Builds the owner's index anew from numbered records; returns whether it was as it should be. Inside a transaction."""
    with writing(tenant_id, user_id, kind) as writer:
        index = writer.index
        writer.keeps_vectors = True
        before = contents(index)
        SearchTerm.objects.filter(index=index).delete()
        SearchBlock.objects.filter(index=index).delete()
        SearchIndex.objects.filter(pk=index.pk).update(records=0, total_terms=0)
        index.last_number = max([index.last_number, *(number for number, _ in records)])
        for number, record in records:
            writer.put(number, record)
    return contents(index) == before


def contents(index: SearchIndex) -> tuple[object, ...]:
    """All that the index says, to be compared."""
    found = SearchTerm.objects.filter(index=index).order_by("term", "block").values_list("term", "block", "count", "packed")
    postings = {(term, block): (count, bytes(packed)) for term, block, count, packed in found}
    columns = dict(SearchBlock.objects.filter(index=index).values_list("block", "packed"))
    return (
        postings,
        {block: bytes(packed).rstrip(b"\0") for block, packed in columns.items() if bytes(packed).rstrip(b"\0")},
        SearchIndex.objects.filter(pk=index.pk).values_list("records", "total_terms").first(),
    )
