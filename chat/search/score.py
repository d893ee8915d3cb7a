"""Scores: BM25 with what neighbours in the thread, dates and the conversation lend, and the gate that says "related".

Pure arithmetic in a fixed order on whole numbers out of the index, so both databases give the same scores.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from chat.text.features import meaning

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Weighing:
    """How much counts. `saturation` and `by_length` are BM25's k1 and b; `common` is the power to which `meaning` weighs a term.

    `near` is the share that each neighbour in the thread lends, `group` that of the mean of the thread's three best.
    """

    saturation: float
    by_length: float
    common: float
    near: float
    group: float


# All measured on the DEV half of the retrieval data: recall@3 of the chat families, and of the two families of paragraphs.
# Neighbours give +2.5, the weight of common words +0.8 and +1.2 in hit@3; in paragraphs of one title neighbours cost 1.6.
TALK: Final = Weighing(1.5, 0.5, 0.5, 0.3, 0.3)
TEXT: Final = Weighing(1.2, 0.5, 0.0, 0.0, 0.0)
CONTEXT: Final = 0.3  # weight of terms of the current conversation: +2
DATE: Final = 0.6  # of the best score, for the days that the question names, fading
FADE_DAYS: Final = 7  # afterwards: +1.5
CANDIDATES: Final = 60
LENDERS: Final = 512  # so many of the best lend; a small owner's records all do


@dataclass(frozen=True, slots=True)
class Corpus:
    """An owner's records by number: their columns, how many there are, and their mean length."""

    length: NDArray[np.uint16]
    day: NDArray[np.uint16]
    group: NDArray[np.uint32]
    records: int
    mean_length: float


@dataclass(frozen=True, slots=True)
class Part:
    """The postings of one block, which begins with the record `start`: a row for each term that stands in it.

    `terms` are places in what was asked, ascending; the entries of the rows, `sizes` of them, follow each other in `places` (from
    the start of the block) and `counts`.
    """

    start: int
    terms: Ints
    sizes: Ints
    places: Ints
    counts: Floats


@dataclass(frozen=True, slots=True)
class Asked:
    """Terms of the question and of the conversation, and in how many records each stands.

    The days that the question names (first, last) and groups are as the index keeps them: one to leave out, and those of which
    alone anything is found (None: all).
    """

    own: Sequence[str]
    context: Sequence[str]
    found: Sequence[int]  # of the own terms, then of those of the conversation
    days: Sequence[tuple[int, int]] = ()
    without_group: int = 0
    groups: Sequence[int] | None = None


@dataclass(frozen=True, slots=True)
class Cosines:
    """How near records are to the question in meaning: their numbers, each once, and a cosine for each. The others have none."""

    numbers: Ints
    values: Floats


@dataclass(slots=True)
class Scored:
    """The best records, best first: numbers, what they are ordered by, and the gate's score in [0, 1].

    `counts` says how often each own term (row) stands in each of them; `features` are what the gate looked at.
    """

    numbers: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    rank: Floats = field(default_factory=lambda: np.zeros(0))
    score: Floats = field(default_factory=lambda: np.zeros(0))
    counts: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    features: Floats = field(default_factory=lambda: np.zeros((0, 0)))


def idf(records: int, found: int) -> float:
    return math.log(1 + (max(records - found, 0) + 0.5) / (found + 0.5))


def score(corpus: Corpus, parts: Sequence[Part], asked: Asked, weighing: Weighing, cosines: Cosines | None = None) -> Scored:
    alive = _alive(corpus, asked)
    weights = _weights(corpus, asked, weighing)
    total = np.where(alive, _bm25(corpus, parts, weights, weighing), 0.0)
    total = _smoothed(total, corpus.group, weighing)
    near = None
    if cosines is not None:
        near = _nearest(cosines, alive)
        total = _fused(total, near, alive, MEANING * _share(weights, len(asked.own)))
    when = _when(corpus.day, asked.days)
    if when is not None:
        total = total + DATE * (float(total.max(initial=0.0)) or 1.0) * when
    total = np.where(alive, total, 0.0)
    best = _best(total)
    if not len(best):
        return Scored()
    counts = _counts(parts, len(asked.own), best, len(total))
    on_day = (when[best] >= 1).astype(np.float64) if when is not None else np.zeros(len(best))
    features = np.column_stack([_features(corpus, asked, counts, best), on_day])
    scores = gate(features)
    if near is not None:
        scores = _gate_with_meaning(features, scores, near, best)
    return Scored(best, total[best], scores, counts, features)


def _alive(corpus: Corpus, asked: Asked) -> NDArray[np.bool_]:
    alive = corpus.length > 0
    if asked.without_group:
        alive &= corpus.group != asked.without_group
    if asked.groups is not None:
        alive &= np.isin(corpus.group, np.array(asked.groups, np.uint32))
    return alive


def _weights(corpus: Corpus, asked: Asked, weighing: Weighing) -> Floats:
    rare = [(weighing.saturation + 1) * idf(corpus.records, found) for found in asked.found]
    own = len(asked.own)
    telling = [weight * meaning(term) ** weighing.common for weight, term in zip(rare[:own], asked.own, strict=True)]
    return np.array([*telling, *(CONTEXT * weight for weight in rare[own:])])


def _bm25(corpus: Corpus, parts: Sequence[Part], weights: Floats, weighing: Weighing) -> Floats:
    scores = np.zeros(len(corpus.length))
    damping = _damping(corpus, corpus.length, weighing)
    for part in parts:
        value = np.repeat(weights[part.terms], part.sizes)
        value *= part.counts
        value /= part.counts + damping[part.start :].take(part.places)
        found = np.bincount(part.places, value)
        scores[part.start : part.start + len(found)] = found
    return scores


def _damping(corpus: Corpus, length: NDArray[np.uint16], weighing: Weighing) -> Floats:
    """What a term's count is weighed against; more in a record that is longer than others."""
    k1, b = weighing.saturation, weighing.by_length
    return np.asarray(length * (k1 * b / max(corpus.mean_length, 1e-9)) + k1 * (1 - b))


def _smoothed(scores: Floats, group: NDArray[np.uint32], weighing: Weighing) -> Floats:
    """Lends each record part of the scores of its neighbours in its thread, and of the thread's best."""
    hit = np.flatnonzero((scores > 0) & (group > 0))
    if not len(hit) or not (weighing.near or weighing.group):
        return scores
    if len(hit) > LENDERS:
        found = scores[hit]
        hit = hit[found >= np.partition(found, -LENDERS)[-LENDERS]]
    places = _members(group, np.unique(group[hit]))
    order = places[np.argsort(group[places], kind="stable")]
    ordered, value = group[order], scores[order]
    is_same = ordered[1:] == ordered[:-1]
    lent = value.copy()
    lent[1:] += weighing.near * value[:-1] * is_same
    lent[:-1] += weighing.near * value[1:] * is_same
    starts = np.flatnonzero(np.concatenate([[True], ~is_same]))
    owner = np.concatenate([[0], np.cumsum(~is_same)])  # which of the groups each belongs to
    rest, best = lent.copy(), np.zeros(len(starts))
    for _ in range(3):
        top = np.maximum.reduceat(rest, starts)
        best += np.maximum(top, 0.0)
        places = np.flatnonzero(rest == top[owner])
        is_first = np.diff(owner[places], prepend=-1) > 0
        rest[places[is_first]] = -1.0
    result = scores.copy()
    result[order] = lent + weighing.group * (best / 3)[owner]
    return result


def _members(group: NDArray[np.uint32], groups: NDArray[np.uint32]) -> Ints:
    """The records of the groups, ascending; `groups` are sorted."""
    is_like_one = np.zeros(1 << 16, np.bool_)  # by their lower half, which leaves few others
    is_like_one[groups & 0xFFFF] = True
    places = np.flatnonzero(is_like_one[group & 0xFFFF])
    nearest = np.minimum(np.searchsorted(groups, group[places]), len(groups) - 1)
    return np.asarray(places[groups[nearest] == group[places]])


def _when(day: NDArray[np.uint16], days: Sequence[tuple[int, int]]) -> Floats | None:
    """1 for records of the days that were named, fading afterwards; None when none were."""
    if not days:
        return None
    found, on = np.zeros(len(day)), day.astype(np.int64)
    for first, last in days:
        gap = on - last
        inside = (on >= first) & (gap <= 0) & (on > 0)
        after = np.where((gap > 0) & (gap <= FADE_DAYS), 0.5 * (1 - (gap - 1) / FADE_DAYS), 0.0)
        found = np.maximum(found, np.where(inside, 1.0, after))
    return found


def _best(scores: Floats) -> Ints:
    """The numbers of the best records, best first, of equal ones the newest first; those without a score are left out."""
    found = np.flatnonzero(scores > 0)
    if len(found) > CANDIDATES:
        value = scores[found]
        found = found[value >= np.partition(value, -CANDIDATES)[-CANDIDATES]]
    return found[np.lexsort((-found, -scores[found]))][:CANDIDATES]


def _counts(parts: Sequence[Part], own: int, best: Ints, records: int) -> Floats:
    """How often each of the own terms (row) stands in each of the best records (column)."""
    counts = np.zeros((own, len(best)))
    column = np.full(records, -1)
    column[best] = np.arange(len(best))
    for part in parts:
        rows = int(np.searchsorted(part.terms, own))
        size = int(part.sizes[:rows].sum())
        found = column[part.start :].take(part.places[:size])
        kept = np.flatnonzero(found >= 0)
        counts[np.repeat(part.terms[:rows], part.sizes[:rows])[kept], found[kept]] = part.counts[kept]
    return counts


# --- Words and meaning together, when there is an embedder. ---

# Weight of the standardised cosine beside the standardised score of words. Words look also for what the conversation is about,
# which the vector, made of the question alone, knows nothing of: so meaning counts by the question's share of what words look
# for. On DEV with e5-small, whose vectors cost 3.9 of hit@3 in the family that is all conversation (MADial) without that, and
# gain 2.7 with it; RealMem loses 0.3, the others keep theirs. With 0.5 to 0.9, hit@3 of the chat families stays within 0.4.
MEANING: Final = 0.7


def _nearest(cosines: Cosines, alive: NDArray[np.bool_]) -> Floats:
    """The cosine of each record, -inf for those without one."""
    near = np.full(len(alive), -np.inf)
    known = (cosines.numbers >= 0) & (cosines.numbers < len(alive))
    near[cosines.numbers[known]] = cosines.values[known]
    near[~alive] = -np.inf
    return near


def _share(weights: Floats, own: int) -> float:
    """How much of what words look for is the question's own, the rest being the conversation's."""
    return float(weights[:own].sum() / weights.sum()) if weights.any() else 1.0


def _fused(scores: Floats, near: Floats, alive: NDArray[np.bool_], meaning_weight: float) -> Floats:
    """Scores by words and by meaning, none below 0; a record without a cosine counts as an average one."""
    if not alive.any():
        return scores
    fused = np.zeros(len(scores))
    fused[alive] = _standard(scores[alive])
    has_one = np.isfinite(near)
    if has_one.any():
        fused[has_one] += meaning_weight * _standard(near[has_one])
    return np.where(alive, fused - fused[alive].min(), 0.0)


def _standard(values: Floats) -> Floats:
    """How many standard deviations each lies from the mean."""
    return np.asarray((values - values.mean()) / (values.std() + 1e-9))


# --- The gate: a logistic of how much of the question a record covers. ---

# An owner of few records knows little of how rare a term is; so many records without it are thought of beside theirs.
IMAGINED: Final = 100

# Weights of: BM25 over its ideal, log of the number of terms, share of the question's rarity that the record covers, log of
# the record's length (a long one covers more by chance), a day that was named. Fitted on DEV, three parts in ten so that each
# family counts alike, with the base moved so that RELATED turns 96.5 % of its unrelated questions away (90 % in the worst
# family); of the related records it keeps 45 % (chat families, first three). Fitted without a fifth of the people, on whom it is
# tried then: 45 % at 95.5 %.
GATE: Final = (3.1012, 0.9362, 4.593, -0.4715, 1.8107)
GATE_BASE: Final = -4.39


def rarity(records: int, found: int, term: str) -> float:
    return meaning(term) * idf(records + IMAGINED, found)


def _features(corpus: Corpus, asked: Asked, counts: Floats, best: Ints) -> Floats:
    weights = np.array([rarity(corpus.records, found, term) for term, found in zip(asked.own, asked.found, strict=False)])
    mass = float(weights.sum()) + 1e-9
    share = counts / (counts + _damping(corpus, corpus.length[best], TEXT))
    covered = (weights[:, None] * (counts > 0)).sum(axis=0)
    reached = (weights[:, None] * share).sum(axis=0)
    size = np.full(len(best), math.log(1 + len(asked.own)))
    return np.column_stack([reached / mass, size, covered / mass, np.log1p(corpus.length[best].astype(np.float64))])


def gate(features: Floats) -> Floats:
    return _logistic((features * np.array(GATE)).sum(axis=1) + GATE_BASE)


def _logistic(value: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-value)))


# Weights of: log of the number of terms, root of the covered share (a little in common says much, more of it little more), log of
# the record's length, a day that was named, and how much nearer the record is than the owner's near ones (the sixth to the
# fifteenth): cosines themselves mean something else with each model. Fitted with e5-small on DEV, whose cosines spread by 0.01 to
# 0.03; those of a model that spreads them wider are brought to that. The base is moved so that RELATED turns 95 % of the
# unrelated away as the mean of the chat families, in which it keeps 54 % of the related. Fitted without the family, or a fifth of
# the people, on whom it is tried then: 54 % at 95 % too; with the share itself and BM25 in place of its root, 52 %.
GATE_WITH_MEANING: Final = (0.522, 6.824, -0.235, 2.077, 41.453)
GATE_WITH_MEANING_BASE: Final = -6.375
SPREAD: Final = 0.03
NEAR_ONES: Final = slice(5, 15)


def _gate_with_meaning(features: Floats, scores: Floats, near: Floats, best: Ints) -> Floats:
    """The scores with meaning; as they were for records without a cosine."""
    known = np.sort(near[np.isfinite(near)])[::-1]
    if not len(known):
        return scores
    usual = float((known[NEAR_ONES] if len(known) > NEAR_ONES.stop else known).mean())
    nearer = (near[best] - usual) / max(float(known.std()) / SPREAD, 1.0)
    has_one = np.isfinite(nearer)
    _, size, covered, length, on_day = features[has_one].T
    looked_at = np.column_stack([size, np.sqrt(covered), length, on_day, nearer[has_one]])
    found = scores.copy()
    found[has_one] = _logistic((looked_at * np.array(GATE_WITH_MEANING)).sum(axis=1) + GATE_WITH_MEANING_BASE)
    return found
