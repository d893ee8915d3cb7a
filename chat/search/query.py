"""Asks an owner's index: the records that a question is about, with scores that mean the same for all owners and questions."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from operator import mul
from typing import Final, NamedTuple

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from chat.models import SearchIndex
from chat.models.reading import Rows, read
from chat.search.index import BLOCK, COLUMNS, day_key, group_key, unpack_all
from chat.search.score import TALK, TEXT, Asked, Corpus, Cosines, Part, Scored, Weighing, score
from chat.text.dates import named_days
from chat.text.features import meaning, spoken, terms
from chat.text.questions import several

RELATED: Final = 0.2  # seed 000 §3; the gate is fitted so that it means "related"
QUESTION_CHARS: Final = 2_000  # what a longer text is about shows in its head and tail
LOOKED_UP: Final = 256  # so many of the terms of a long text are looked up, of which the rarest are asked for
TERMS_MOST: Final = 96
CONTEXT_LOOKED_UP: Final = 128  # measured on DEV: with 256, recall@3 of the chat families is 0.4 higher, for a quarter more time
CONTEXT_TERMS_MOST: Final = 64
# A large owner's commonest terms stand in so many records that they cost much and say little.
LARGE: Final = 20_000
POSTINGS_MOST: Final = 150_000
ALWAYS: Final = 8  # terms, however many records they stand in
MATCHED_MOST: Final = 6
# As plain SQL: built by the ORM, these queries would take as long as all the rest.
INDEX_COLUMNS: Final = [field.attname for field in SearchIndex._meta.concrete_fields]
INDEX: Final = f"SELECT {', '.join(INDEX_COLUMNS)} FROM chat_searchindex WHERE tenant_id = %s AND kind = %s AND user_id "  # noqa: S608
COUNTS: Final = "SELECT term, SUM(count) FROM chat_searchterm WHERE index_id = %s AND term {} GROUP BY term"
POSTINGS: Final = "SELECT term, count, block, packed FROM chat_searchterm WHERE index_id = %s AND term {}"
BLOCKS: Final = "SELECT block, packed FROM chat_searchblock WHERE index_id = %s ORDER BY block"
WEIGHINGS: Final[Mapping[str, Weighing]] = {SearchIndex.Kind.RECALL: TALK, SearchIndex.Kind.KNOWLEDGE: TEXT}


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


class Hit(NamedTuple):  # made sixty times a question, and twice as quickly as a dataclass
    """A record by its number. `score` in [0, 1] says how surely it is related; the order is that of `rank`.

    `matched` are the words of the question that a related one was found by.
    """

    number: int
    score: float
    rank: float
    matched: tuple[str, ...]


def search(tenant_id: str, user_id: int | None, kind: SearchIndex.Kind, question: Question, *, cosines: Cosines | None = None) -> list[Hit]:
    """The best records of the owner (no user: of the school), best first. Three queries, four for a question of many words.

    With `cosines`, order and scores go by words and by meaning. A text of several questions finds also what each of them finds by
    itself, by its words.
    """
    index = _index(tenant_id, user_id, kind)
    if index is None or not index.records:
        return []
    known = _known(index, question)
    hits = _hits(known, question, cosines)
    more = [_hits(_narrowed(known, one), replace(question, text=one, context=()), None) for one in several(_ends(question.text))]
    return _joined(hits, more) if more else hits


def _hits(known: "_Known", question: Question, cosines: Cosines | None) -> list[Hit]:
    scored = _scored(known, question, cosines)
    if not len(scored.numbers):
        return []
    said, is_there = _ends(question.text), scored.counts > 0
    return [
        Hit(number, round(sure, 6), rank, _matched(said, known.own, is_there[:, i]) if sure > RELATED else ())
        for i, (number, sure, rank) in enumerate(zip(scored.numbers.tolist(), scored.score.tolist(), scored.rank.tolist(), strict=True))
    ]


def _joined(hits: list[Hit], more: Sequence[list[Hit]]) -> list[Hit]:
    """What a text of several questions is about as a whole, and what each of them is about: the surest of each before the others."""
    related = [[hit for hit in some if hit.score > RELATED] for some in more]
    surest = {hit.number: hit for hit in sorted((hit for some in [hits, *related] for hit in some), key=lambda hit: hit.score)}
    first = [hit.number for hit in hits[:1]] + [max(some, key=lambda hit: hit.score).number for some in related if some]
    order = dict.fromkeys([*first, *(hit.number for some in [hits, *related] for hit in some)])
    return sorted((surest[number] for number in order), key=lambda hit: (hit.number not in first, hit.score <= RELATED))


def _index(tenant_id: str, user_id: int | None, kind: SearchIndex.Kind) -> SearchIndex | None:
    whose, keys = ("IS NULL", []) if user_id is None else ("= %s", [user_id])
    rows = read(f"{INDEX}{whose}", [tenant_id, kind, *keys])
    return SearchIndex.from_db(connection.alias, INDEX_COLUMNS, rows[0]) if rows else None


def _matched(text: str, own: Sequence[str], is_there: NDArray[np.bool_]) -> tuple[str, ...]:
    """The words of the question that a record was found by."""
    return tuple(spoken(text, {term for term, has in zip(own, is_there, strict=True) if has})[:MATCHED_MOST])


@dataclass(frozen=True, slots=True)
class _Known:
    """What is read of an index for a question: its terms, those of the conversation, their postings, and what the records are."""

    index: SearchIndex
    own: list[str]
    context: list[str]
    rows: Rows
    parts: list[Part]
    found: list[int]
    corpus: Corpus


def _known(index: SearchIndex, question: Question) -> _Known:
    own = _telling([question.text], ())
    context = _telling(question.context, terms(_ends(question.text)), CONTEXT_LOOKED_UP)
    own, context, rows = _chosen(index, own, context)
    parts, found = _parts(rows, [*own, *context])
    return _Known(index, own, context, rows, parts, found, _corpus(index, parts))


def _narrowed(known: _Known, text: str) -> _Known:
    """The same for a part of the question alone, without reading anything."""
    said = set(terms(text))
    own = [term for term in known.own if term in said]
    parts, found = _parts(known.rows, own)
    return replace(known, own=own, context=[], parts=parts, found=found)


def scores(index: SearchIndex, question: Question, cosines: Cosines | None = None) -> tuple[Scored, Sequence[str]]:
    """The best records, and the question's terms that were asked for."""
    known = _known(index, question)
    return _scored(known, question, cosines), known.own


def _scored(known: _Known, question: Question, cosines: Cosines | None) -> Scored:
    days = [(day_key(span.first), day_key(span.last)) for span in named_days(_ends(question.text), question.day)] if question.day else []
    groups = None if question.groups is None else sorted({group_key(group) for group in question.groups})
    asked = Asked(known.own, known.context, known.found, days, group_key(question.without_group), groups)
    return score(known.corpus, known.parts, asked, WEIGHINGS[known.index.kind], cosines)


def _ends(text: str) -> str:
    return text if len(text) <= 2 * QUESTION_CHARS else f"{text[:QUESTION_CHARS]}\n{text[-QUESTION_CHARS:]}"


def _telling(texts: Sequence[str], without: Iterable[str], most: int = LOOKED_UP) -> list[str]:
    """The different terms of texts in order, at most so many of them: those that say most and are said most often."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(terms(_ends(text)))
    for term in without:
        counts.pop(term, None)
    if len(counts) <= most:
        return list(counts)
    weights = dict(zip(counts, map(mul, counts.values(), map(meaning, counts)), strict=True))
    best = set(sorted(weights, key=weights.__getitem__, reverse=True)[:most])
    return [term for term in counts if term in best]


def _chosen(index: SearchIndex, own: list[str], context: list[str]) -> tuple[list[str], list[str], Rows]:
    """The terms to ask for, in their order, and their postings: the rarest, of a large owner as many as are not too common."""
    are_many, is_large = len(own) > TERMS_MOST or len(context) > CONTEXT_TERMS_MOST, index.records > LARGE
    # PostgreSQL unpacks and writes out what it sends: 2.5 ms for the counts first, 4.9 for everything, at 10,000 records.
    is_counted = is_large or (are_many and connection.vendor == "postgresql")
    rows = _postings(COUNTS if is_counted else POSTINGS, index, [*own, *context])
    if are_many or is_large:
        found: dict[str, int] = {}
        for row in rows:  # (term, count, …)
            found[row[0]] = found.get(row[0], 0) + row[1]
        own, context = _rarest(own, found, TERMS_MOST), _rarest(context, found, CONTEXT_TERMS_MOST)
    return own, context, _postings(POSTINGS, index, [*own, *context]) if is_counted else rows


def _rarest(names: list[str], found: Mapping[str, int], most: int) -> list[str]:
    """Terms that stand nowhere count as rare but cost nothing."""
    kept: set[str] = set()
    cost = 0
    for term in sorted((term for term in names if term in found), key=lambda term: (found[term], term))[:most]:
        cost += found[term]
        if len(kept) >= ALWAYS and cost > POSTINGS_MOST:
            break
        kept.add(term)
    return [term for term in names if term in kept or term not in found]


def _postings(query: str, index: SearchIndex, names: Sequence[str]) -> Rows:
    return read(query, [index.pk], names, is_packed=True) if names else []


def _parts(rows: Rows, names: list[str]) -> tuple[list[Part], list[int]]:
    """The postings of the terms block by block, and in how many records each stands."""
    place = {term: i for i, term in enumerate(names)}
    found = [0] * len(names)
    blocks: dict[int, list[tuple[int, int, bytes]]] = defaultdict(list)
    for term, count, block, packed in rows:
        if (at := place.get(term)) is not None:
            found[at] += count
            blocks[block].append((at, count, packed))
    return [_part(block * BLOCK, sorted(blocks[block])) for block in sorted(blocks)], found


def _part(start: int, rows: list[tuple[int, int, bytes]]) -> Part:
    places, counts = unpack_all([(count, packed) for _, count, packed in rows])
    names, sizes = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    return Part(start, names, sizes, places.astype(np.int64), counts.astype(np.float64))


def _corpus(index: SearchIndex, parts: Sequence[Part]) -> Corpus:
    """What is known of the records; those that were written since the index was looked at are as if they were not there."""
    columns = {block * BLOCK: np.frombuffer(packed, COLUMNS) for block, packed in read(BLOCKS, [index.pk], is_packed=True)}
    ends = [start + len(part) for start, part in columns.items()] + [part.start + int(part.places.max()) + 1 for part in parts]
    length, day, group = (np.zeros(max([index.last_number + 1, *ends]), COLUMNS[name]) for name in ("length", "day", "group"))
    for start, column in columns.items():
        for name, whole in (("length", length), ("day", day), ("group", group)):
            whole[start : start + len(column)] = column[name]
    length[index.last_number + 1 :] = 0
    return Corpus(length, day, group, index.records, index.total_terms / index.records)
