"""What is found is a matter of the records alone: the same, in the same order, on every database (issue 4, must be shown 2)."""

import random
from collections import defaultdict
from datetime import date, timedelta

import numpy as np
import pytest
from django.db import transaction

from chat.models import SearchIndex
from chat.search.index import COLUMNS, day_key, group_key, record_of, writing
from chat.search.query import Question, _telling, search
from chat.search.score import TALK, Asked, Corpus, Part, score
from chat.text.features import terms
from tests import builders

KIND = SearchIndex.Kind.RECALL
RECORDS, QUESTIONS = 5_000, 200
chance = random.Random(11)


def text(length: int) -> str:
    """Common characters far more often than rare ones, and a word of English here and there."""
    made = (int(1_500 ** chance.random()) - 1 for _ in range(length))
    return "".join(chr(0x4E00 + rank) if chance.random() < 0.95 else f" word{rank} " for rank in made)


class InMemory:
    """The same records without a database."""

    def __init__(self, records):
        self.postings = defaultdict(list)
        self.columns = np.zeros(len(records) + 1, COLUMNS)
        for number, record in enumerate(records, start=1):
            self.columns[number] = (record.length, day_key(record.day), group_key(record.group))
            for term, count in record.counts.items():
                self.postings[term].append((number, count))

    def numbers(self, question: Question) -> list[tuple[int, float]]:
        own = _telling([question.text], ())
        context = _telling(question.context, terms(question.text))
        names = [*own, *context]
        found = [len(self.postings.get(term, ())) for term in names]
        rows = [place for place, count in enumerate(found) if count]
        entries = np.array([entry for place in rows for entry in self.postings[names[place]]])
        sizes = np.array([found[place] for place in rows])
        parts = [Part(0, np.array(rows), sizes, entries[:, 0], entries[:, 1].astype(np.float64))]
        length, day, group = (np.ascontiguousarray(self.columns[name]) for name in ("length", "day", "group"))
        corpus = Corpus(length, day, group, len(length) - 1, int(length.sum()) / (len(length) - 1))
        scored = score(corpus, parts, Asked(own, context, found), TALK)
        return [(int(number), round(float(one), 6)) for number, one in zip(scored.numbers, scored.score, strict=True)]


@pytest.mark.slow
@pytest.mark.django_db
def test_two_hundred_questions_find_the_same_in_the_same_order_as_without_a_database():
    user = builders.teacher()
    owner = (builders.school_of(user).pk, user.pk, KIND)
    first = date(2025, 1, 1)
    records = [record_of(text(30), f"th_{n // 4}" if n % 3 else "", first + timedelta(n // 20)) for n in range(RECORDS)]
    with transaction.atomic(), writing(*owner) as writer:
        for record in records:
            writer.add(record)
    memory = InMemory(records)
    for _ in range(QUESTIONS):
        question = Question(text(chance.randrange(2, 20)), context=[text(20)] if chance.random() < 0.5 else [])
        assert [(hit.number, hit.score) for hit in search(*owner, question)] == memory.numbers(question)
