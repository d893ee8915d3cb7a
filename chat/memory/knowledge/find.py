"""The passages that a question is about: of the teacher's own documents and the school's, as far as an assistant uses them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from django.db.models import Q

from chat.memory.knowledge.passages import KIND
from chat.memory.knowledge.shelf import Documents
from chat.models import Owner, Passage
from chat.search.query import RELATED, Hit, Question, search
from chat.search.vectors import Vector, cosines

LOOKED_AT: Final = 20  # of each index


@dataclass(frozen=True, slots=True)
class Found:
    """A passage, its document with it, with its score and the words that it was found by."""

    passage: Passage
    score: float
    matched: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Findings:
    """The best passages, best first, and those that say word for word the same as one of them."""

    kept: list[Found] = field(default_factory=list)
    doubles: list[Found] = field(default_factory=list)


def find(owner: Owner, documents: Documents, question: Question, most: int, vector: Vector | None = None) -> Findings:
    """The related passages of these documents, the surest first.

    Three to five queries for each of the two indexes in which there is anything, and one for the passages.
    """
    hits = {
        user_id: _hits(owner.tenant_id, user_id, question, keys, vector)
        for user_id, keys in ((owner.user_id, documents.own), (None, documents.school))
        if keys
    }
    findings = Findings()
    texts: set[str] = set()
    for one in _passages(owner.tenant_id, hits, documents.own | documents.school):
        text = "".join(one.passage.text.split())
        if text in texts:
            findings.doubles.append(one)
        elif len(findings.kept) < most:
            findings.kept.append(one)
            texts.add(text)
    return findings


def _hits(tenant_id: str, user_id: int | None, question: Question, keys: Collection[str], vector: Vector | None) -> list[Hit]:
    near = cosines(tenant_id, user_id, KIND, vector) if vector is not None else None
    asked = replace(question, groups=frozenset(keys))
    return [hit for hit in search(tenant_id, user_id, KIND, asked, cosines=near) if hit.score > RELATED][:LOOKED_AT]


def _passages(tenant_id: str, hits: dict[int | None, list[Hit]], keys: Collection[str]) -> Sequence[Found]:
    """The passages of the hits by their scores; of equal ones the teacher's own before the school's, the older before the newer."""
    wanted = Q()
    for user_id, found in hits.items():
        of = Q(index__user=None) if user_id is None else Q(index__user_id=user_id)
        if found:
            wanted |= of & Q(number__in=[hit.number for hit in found])
    if not wanted:
        return []
    rows = Passage.objects.filter(wanted, index__tenant_id=tenant_id, index__kind=KIND, document__in=keys).select_related("document")
    by_place = {(row.document.user_id, row.number): row for row in rows}
    known = [
        Found(by_place[user_id, hit.number], hit.score, hit.matched)
        for user_id, found in hits.items()
        for hit in found
        if (user_id, hit.number) in by_place
    ]
    return sorted(known, key=lambda one: (-one.score, one.passage.document.user_id is None, one.passage.number or 0))
