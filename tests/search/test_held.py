"""What is held of vectors in memory: never old, never another's, never more than its share."""

import random
from unittest.mock import patch

import numpy as np
import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from chat.models import SearchIndex, VectorBlock
from chat.search import held, vectors
from chat.search.held import Block, Shelf
from chat.search.index import indexes_of, record_of, writing
from chat.search.vectors import SIZE, Vector, cosines
from tests import builders

KIND = SearchIndex.Kind.RECALL
DIMENSION = 24
chance = random.Random(3)


def some_vector():
    made = np.array([chance.gauss(0, 1) for _ in range(DIMENSION)], np.float32)
    return made / np.linalg.norm(made)


@pytest.fixture(autouse=True)
def shelf(monkeypatch):
    monkeypatch.setattr(vectors, "SHELF", Shelf())
    return vectors.SHELF


class Known:
    """A teacher with records, of which the given ones have vectors."""

    def __init__(self, records: int = 3 * SIZE) -> None:
        self.user = builders.teacher()
        self.school = builders.school_of(self.user)
        self.service = builders.provider(self.school)
        self.key = (self.school.pk, self.user.pk, KIND)
        with transaction.atomic(), writing(*self.key) as writer:
            for number in range(records):
                writer.add(record_of(f"第{number}次班会"))
        indexes_of(*self.key).update(embedder=self.service, embedding_model="m")
        self.put(range(1, records + 1))

    def put(self, numbers) -> None:
        with transaction.atomic():
            vectors.put(indexes_of(*self.key).get(), {number: [some_vector()] for number in numbers}, DIMENSION)

    def clear(self, numbers) -> None:
        with transaction.atomic():
            vectors.clear(indexes_of(*self.key).get(), numbers)

    def asked(self, values):
        found = cosines(*self.key, Vector(self.service.pk, "m", values))
        return {} if found is None else dict(zip(found.numbers.tolist(), found.values.tolist(), strict=True))


@pytest.fixture
def known(db):
    return Known()


def blocks_read(known) -> tuple[int, str]:
    """How many queries a question takes, and what they say."""
    with CaptureQueriesContext(connection) as captured:
        known.asked(some_vector())
    return len(captured), " ".join(query["sql"] for query in captured)


def test_a_second_question_reads_the_stamps_alone(known):
    first, second = blocks_read(known), blocks_read(known)
    assert (first[0], '"packed"' in first[1]) == (1, True)
    assert (second[0], '"packed"' in second[1]) == (1, False)


def test_after_a_change_its_block_alone_is_read(known):
    known.asked(some_vector())
    known.clear([SIZE + 5])
    with patch.object(vectors, "Block", wraps=Block) as read:
        assert SIZE + 5 not in known.asked(some_vector())
    assert read.call_count == 1


def test_what_is_near_is_the_same_with_blocks_held_and_without_after_any_changes(known):
    everything = list(range(1, 3 * SIZE + 1))
    for _ in range(12):
        some = chance.sample(everything, chance.choice([1, 2, 40]))
        known.clear(some)
        if chance.random() < 0.6:
            known.put(chance.sample(some, max(1, len(some) // 2)))
        values = some_vector()
        with_held = known.asked(values)
        with patch.object(vectors, "SHELF", Shelf()):
            assert with_held == known.asked(values)


def test_what_was_rolled_back_is_not_used(known):
    values = some_vector()
    before = known.asked(values)
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        known.clear([1, 2])
        assert 1 not in known.asked(values)
        raise ZeroDivisionError
    assert known.asked(values) == before


def test_nothing_is_held_of_an_owner_who_has_no_vectors_any_more(known, shelf):
    known.asked(some_vector())
    assert shelf.size > 0
    vectors.forget(indexes_of(*known.key))
    assert known.asked(some_vector()) == {}
    assert shelf.size == 0


def test_blocks_of_before_without_a_stamp_are_read_each_time(known, shelf):
    values = some_vector()
    before = known.asked(values)
    for block in VectorBlock.objects.all():
        VectorBlock.objects.filter(pk=block.pk).update(made=bytes(block.made)[: SIZE // 8])
    assert known.asked(values) == before
    assert shelf.size == 0
    assert vectors.made_numbers(indexes_of(*known.key).get()) == list(before)
    known.clear([1])
    assert sorted(known.asked(values)) == sorted(before)[1:]
    assert shelf.size > 0


def test_what_one_owner_has_is_of_no_use_to_another(known):
    other = Known(records=2)
    known.asked(some_vector())
    assert sorted(other.asked(some_vector())) == [1, 2]
    assert len(known.asked(some_vector())) == 3 * SIZE


def block_of(size: int) -> Block:
    """Of so many bytes."""
    return Block(b"s", np.zeros(1, vectors.item_type(size - 5)))


def test_the_owner_who_asked_longest_ago_gives_way():
    shelf = Shelf(most_bytes=250)
    for owner in ("a", "b"):
        shelf.put(owner, {0: block_of(100)})
    shelf.of("a")
    shelf.put("c", {0: block_of(100)})
    assert [bool(shelf.of(owner)) for owner in ("a", "b", "c")] == [True, False, True]
    assert shelf.size == 200


def test_of_an_owner_who_has_too_much_there_is_held_what_fits():
    shelf = Shelf(most_bytes=250)
    shelf.put("a", {number: block_of(100) for number in range(5)})
    assert (sorted(shelf.of("a")), shelf.size) == ([0, 1], 200)
    shelf.put("a", {4: block_of(120)})
    assert (sorted(shelf.of("a")), shelf.size) == ([4], 120)


def test_what_nobody_asks_for_goes_in_time():
    shelf = Shelf(seconds=600)
    with patch.object(held.time, "monotonic") as now:
        now.return_value = 1_000.0
        shelf.put("a", {0: block_of(100)})
        shelf.put("b", {0: block_of(100)})
        now.return_value = 1_500.0
        assert shelf.of("b")
        now.return_value = 1_601.0
        shelf.of("c")
        assert (bool(shelf.of("a")), bool(shelf.of("b")), shelf.size) == (False, True, 100)
