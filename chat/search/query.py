"""Asks an owner's index: the records that a question is about, with scores that mean the same for all owners and questions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

import numpy as np
from numpy.typing import NDArray

from chat.models import SearchBlock, SearchIndex, SearchTerm
from chat.search.index import BLOCK, COLUMNS, day_key, group_key, indexes_of, unpack
from chat.search.score import Asked, Corpus, Cosines, Posting, Scored, counts_in, score
from chat.text.dates import named_days
from chat.text.features import spoken, terms

RELATED: Final = 0.2  # seed 000 §3; the gate is fitted so that it means "related"
QUESTION_CHARS: Final = 2_000  # what a longer text is about shows in its head and tail
TERMS_MOST: Final = 96
CONTEXT_TERMS_MOST: Final = 96
MATCHED_MOST: Final = 6


@dataclass(frozen=True, slots=True)
class Question:
    """What is looked for. `day` is the day of asking; `context` are texts of the current conversation.

    `without_group` is left out; of `groups`, when they are given, alone is anything found. The index knows groups by four bytes
    of theirs, so who may see a record is for the caller to check with its row.
    """

    text: str
    day: date | None = None
    context: Sequence[str] = ()
    without_group: str = ""
    groups: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A record by its number. `score` in [0, 1] says how surely it is related; the order is that of `rank`."""

    number: int
    score: float
    rank: float
    matched: tuple[str, ...]


def search(tenant_id: str, user_id: int | None, kind: SearchIndex.Kind, question: Question, *, cosines: Cosines | None = None) -> list[Hit]:
    """The best records of the owner (no user: of the school), best first. Three queries, five for a question of many words.

    With `cosines`, order and scores go by words and by meaning.
    """
    index = indexes_of(tenant_id, user_id, kind).first()
    if index is None or not index.records:
        return []
    scored, postings = scores(index, question, cosines)
    own = _terms_of(question.text)
    numbers = scored.numbers
    is_there = {term: counts_in(postings[term], numbers) > 0 for term in own if term in postings}
    return [
        Hit(int(number), round(float(scored.score[i]), 6), float(scored.rank[i]), _matched(question.text, is_there, i))
        for i, number in enumerate(numbers)
    ]


def _matched(text: str, is_there: Mapping[str, NDArray[np.bool_]], place: int) -> tuple[str, ...]:
    """The words of the question that a record was found by."""
    return tuple(spoken(_ends(text), {term for term, places in is_there.items() if places[place]})[:MATCHED_MOST])


def scores(index: SearchIndex, question: Question, cosines: Cosines | None = None) -> tuple[Scored, Mapping[str, Posting]]:
    own = _rarest(index, _terms_of(question.text), TERMS_MOST)
    said = dict.fromkeys(term for text in question.context for term in _terms_of(text))
    context = _rarest(index, [term for term in said if term not in set(own)], CONTEXT_TERMS_MOST)
    postings = _postings(index, [*own, *context])
    days = [(day_key(span.first), day_key(span.last)) for span in named_days(_ends(question.text), question.day)] if question.day else []
    groups = None if question.groups is None else sorted({group_key(group) for group in question.groups})
    asked = Asked(own, context, days, group_key(question.without_group), groups)
    return score(_corpus(index), postings, asked, cosines), postings


def _ends(text: str) -> str:
    return text if len(text) <= 2 * QUESTION_CHARS else f"{text[:QUESTION_CHARS]}\n{text[-QUESTION_CHARS:]}"


def _terms_of(text: str) -> list[str]:
    return list(dict.fromkeys(terms(_ends(text))))


def _rarest(index: SearchIndex, names: list[str], most: int) -> list[str]:
    """The rarest of the terms in their order, at most so many; those that stand nowhere count as rare but cost nothing."""
    if len(names) <= most:
        return names
    found: dict[str, int] = {}
    for term, count in SearchTerm.objects.filter(index=index, term__in=names).values_list("term", "count"):
        found[term] = found.get(term, 0) + count
    kept = set(sorted(found, key=lambda term: (found[term], term))[:most])
    return [term for term in names if term in kept or term not in found]


def _postings(index: SearchIndex, names: Iterable[str]) -> dict[str, Posting]:
    rows = SearchTerm.objects.filter(index=index, term__in=list(names)).values_list("term", "block", "count", "packed")
    parts: dict[str, list[tuple[int, Posting]]] = {}
    for term, block, count, packed in rows.iterator():
        numbers, counts = unpack(packed, count)
        if block * BLOCK + int(numbers[-1]) > index.last_number:  # written since the index was looked at
            known = int(np.searchsorted(numbers, index.last_number - block * BLOCK, side="right"))
            if not known:
                continue
            numbers, counts = numbers[:known], counts[:known]
        posting = Posting(numbers.astype(np.int64) + block * BLOCK, counts.astype(np.float64))
        parts.setdefault(term, []).append((block, posting))
    return {term: _joined(blocks) for term, blocks in parts.items()}


def _joined(blocks: list[tuple[int, Posting]]) -> Posting:
    if len(blocks) == 1:
        return blocks[0][1]
    ordered = [posting for _, posting in sorted(blocks, key=lambda one: one[0])]
    return Posting(np.concatenate([one.numbers for one in ordered]), np.concatenate([one.counts for one in ordered]))


def _corpus(index: SearchIndex) -> Corpus:
    columns = np.zeros(index.last_number + 1, COLUMNS)
    for block, packed in SearchBlock.objects.filter(index=index).values_list("block", "packed"):
        part = np.frombuffer(bytes(packed), COLUMNS)[: max(0, len(columns) - block * BLOCK)]
        columns[block * BLOCK : block * BLOCK + len(part)] = part
    length, day, group = (columns[name].astype(np.int64) for name in ("length", "day", "group"))
    return Corpus(length, day, group, index.records, index.total_terms / index.records)
