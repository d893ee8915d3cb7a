"""Scores: BM25 with what neighbours in the thread, dates and the conversation lend, and the gate that says "related".

Pure arithmetic in a fixed order on whole numbers out of the index, so both databases give the same scores.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from chat.text.features import meaning

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# All measured on the DEV half of the retrieval data, recall@3 of the chat families.
K1: Final = 1.2
B: Final = 0.5
CONTEXT: Final = 0.3  # weight of terms of the current conversation: +2
NEAR: Final = 0.3  # share of each neighbour in the thread, and
GROUP: Final = 0.3  # of the mean of the thread's three best: +2.5 together
DATE: Final = 0.6  # of the best score, for the days that the question names, fading
FADE_DAYS: Final = 7  # afterwards: +1.5
CANDIDATES: Final = 60


@dataclass(frozen=True, slots=True)
class Corpus:
    """An owner's records by number: their columns, how many there are, and their mean length."""

    length: Ints
    day: Ints
    group: Ints
    records: int
    mean_length: float


@dataclass(frozen=True, slots=True)
class Posting:
    numbers: Ints
    counts: Floats


@dataclass(frozen=True, slots=True)
class Asked:
    """Terms of the question and of the conversation, the days that it names (first, last), all as the index keeps them.

    A group to leave out, and those of which alone anything is found (None: all).
    """

    own: Sequence[str]
    context: Sequence[str] = ()
    days: Sequence[tuple[int, int]] = ()
    without_group: int = 0
    groups: Sequence[int] | None = None


@dataclass(frozen=True, slots=True)
class Cosines:
    """How near records are to the question in meaning: their numbers, ascending, and a cosine for each. The others have none."""

    numbers: Ints
    values: Floats


@dataclass(slots=True)
class Scored:
    """The best records, best first: numbers, what they are ordered by, and the gate's score in [0, 1]."""

    numbers: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    rank: Floats = field(default_factory=lambda: np.zeros(0))
    score: Floats = field(default_factory=lambda: np.zeros(0))
    features: Floats = field(default_factory=lambda: np.zeros((0, 0)))


def idf(records: int, found: int) -> float:
    return math.log(1 + (records - found + 0.5) / (found + 0.5))


def score(corpus: Corpus, postings: Mapping[str, Posting], asked: Asked, cosines: Cosines | None = None) -> Scored:
    plain = _bm25(corpus, postings, asked.own)
    alive = corpus.length > 0
    if asked.without_group:
        alive &= corpus.group != asked.without_group
    if asked.groups is not None:
        alive &= np.isin(corpus.group, np.array(asked.groups, np.int64))
    total = plain if not asked.context else plain + CONTEXT * _bm25(corpus, postings, asked.context)
    total = np.where(alive, total, 0.0)
    total = _smoothed(total, corpus.group)
    if cosines is not None:
        total = _fused(total, alive, cosines)
    when = _when(corpus.day, asked.days)
    if when is not None:
        total = total + DATE * (float(total.max(initial=0.0)) or 1.0) * when
    total = np.where(alive, total, 0.0)
    best = _best(total)
    if not len(best):
        return Scored()
    found = _features(corpus, postings, asked.own, best)
    on_day = (when[best] >= 1).astype(np.float64) if when is not None else np.zeros(len(best))
    found = np.column_stack([found, on_day])
    return Scored(best, total[best], gate(found), found)


def _bm25(corpus: Corpus, postings: Mapping[str, Posting], terms: Sequence[str]) -> Floats:
    scores = np.zeros(len(corpus.length))
    damping = _damping(corpus, corpus.length)
    for term in terms:
        posting = postings.get(term)
        if posting is not None:
            weight = idf(corpus.records, len(posting.numbers)) * (K1 + 1)
            scores[posting.numbers] += weight * posting.counts / (posting.counts + damping[posting.numbers])
    return scores


def _damping(corpus: Corpus, length: Ints) -> Floats:
    """What a term's count is weighed against; more in a record that is longer than others."""
    return np.asarray(K1 * (1 - B + B * length / max(corpus.mean_length, 1e-9)))


def _smoothed(scores: Floats, group: Ints) -> Floats:
    """Lends each record part of the scores of its neighbours in its thread, and of the thread's best."""
    hit = np.flatnonzero((scores > 0) & (group > 0))
    if not len(hit):
        return scores
    # Only threads in which something was found have anything to lend.
    places = np.flatnonzero(np.isin(group, np.unique(group[hit])))
    order = places[np.argsort(group[places], kind="stable")]
    ordered, value = group[order], scores[order]
    is_same = ordered[1:] == ordered[:-1]
    lent = value.copy()
    lent[1:] += NEAR * value[:-1] * is_same
    lent[:-1] += NEAR * value[1:] * is_same
    starts = np.flatnonzero(np.concatenate([[True], ~is_same]))
    sizes = np.diff(np.concatenate([starts, [len(order)]]))
    rest, best = lent.copy(), np.zeros(len(starts))
    for _ in range(3):
        top = np.maximum.reduceat(rest, starts)
        best += np.maximum(top, 0.0)
        first = np.flatnonzero(rest == np.repeat(top, sizes))
        owner = np.searchsorted(starts, first, side="right") - 1
        rest[first[np.unique(owner, return_index=True)[1]]] = -1.0
    result = scores.copy()
    result[order] = lent + GROUP * np.repeat(best / 3, sizes)
    return result


def _when(day: Ints, days: Sequence[tuple[int, int]]) -> Floats | None:
    """1 for records of the days that were named, fading afterwards; None when none were."""
    if not days:
        return None
    found = np.zeros(len(day))
    for first, last in days:
        gap = day - last
        inside = (day >= first) & (gap <= 0) & (day > 0)
        after = np.where((gap > 0) & (gap <= FADE_DAYS), 0.5 * (1 - (gap - 1) / FADE_DAYS), 0.0)
        found = np.maximum(found, np.where(inside, 1.0, after))
    return found


MEANING: Final = 0.7  # weight of the standardised cosine beside the standardised score of words


def _fused(scores: Floats, alive: NDArray[np.bool_], cosines: Cosines) -> Floats:
    """Scores by words and by meaning, none below 0; a record without a cosine counts as an average one."""
    if not alive.any():
        return scores
    fused = np.zeros(len(scores))
    fused[alive] = _standard(scores[alive])
    known = cosines.numbers < len(scores)
    numbers, values = cosines.numbers[known], cosines.values[known]
    is_alive = alive[numbers]
    if is_alive.any():
        fused[numbers[is_alive]] += MEANING * _standard(values[is_alive])
    return np.where(alive, fused - fused[alive].min(), 0.0)


def _standard(values: Floats) -> Floats:
    """How many standard deviations each lies from the mean."""
    return np.asarray((values - values.mean()) / (values.std() + 1e-9))


def _best(scores: Floats) -> Ints:
    """The numbers of the best records, best first, of equal ones the newest first; those without a score are left out."""
    found = np.flatnonzero(scores > 0)
    if len(found) > CANDIDATES:
        limit = np.partition(scores[found], -CANDIDATES)[-CANDIDATES]
        found = found[scores[found] >= limit]
    return found[np.lexsort((-found, -scores[found]))][:CANDIDATES]


def counts_in(posting: Posting, numbers: Ints) -> Floats:
    """How often the term stands in each of the records `numbers`."""
    places = np.searchsorted(posting.numbers, numbers)
    places[places == len(posting.numbers)] = 0
    return np.where(posting.numbers[places] == numbers, posting.counts[places], 0.0)


# --- The gate: a logistic of how much of the question a record covers. ---

# An owner of few records knows little of how rare a term is; so many records without it are thought of beside theirs.
IMAGINED: Final = 100

# Weights of: BM25 over its ideal, log of the number of terms, share of the question's rarity that the record covers, log of
# the record's length (a long one covers more by chance), a day that was named. Fitted on DEV, with the base moved so that
# RELATED turns 95.6 % of its unrelated questions away; of the related records it keeps 44 % (chat families, first three).
GATE: Final = (2.2647, 0.4576, 4.0708, -0.3146, 1.8247)
GATE_BASE: Final = -3.39


def rarity(records: int, found: int, term: str) -> float:
    return meaning(term) * idf(records + IMAGINED, found)


def _features(corpus: Corpus, postings: Mapping[str, Posting], own: Sequence[str], best: Ints) -> Floats:
    mass = 0.0
    covered, reached = np.zeros(len(best)), np.zeros(len(best))
    damping = _damping(corpus, corpus.length[best])
    for term in own:
        posting = postings.get(term)
        weight = rarity(corpus.records, len(posting.numbers) if posting else 0, term)
        mass += weight
        if posting is not None:
            counts = counts_in(posting, best)
            covered += weight * (counts > 0)
            reached += weight * counts / (counts + damping)
    size = np.full(len(best), math.log(1 + len(own)))
    return np.column_stack([reached / (mass + 1e-9), size, covered / (mass + 1e-9), np.log1p(corpus.length[best])])


def gate(features: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-(features @ np.array(GATE) + GATE_BASE))))
