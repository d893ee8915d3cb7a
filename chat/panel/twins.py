"""Look-alikes of what waits: other candidates and confirmed facts that are about the same."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import AbstractBaseUser

from chat.memory.core.wording import SIMILAR_LEAST, overlap, topics
from chat.models import Candidate, Fact

TWINS_SHOWN = 3
LOOKED_AT = 1_000  # of what waits, the newest


@dataclass(frozen=True, slots=True)
class Twin:
    id: str
    text: str
    is_fact: bool


def twins_of(user: AbstractBaseUser, tenant_id: str, shown: Sequence[Candidate]) -> dict[str, list[Twin]]:
    """What looks like each of the candidates, most alike first, by their ids; two queries, none for no candidates."""
    if not shown:
        return {}
    facts = Fact.objects.for_user(user).filter(tenant_id=tenant_id, status=Fact.Status.CONFIRMED)
    waiting = Candidate.objects.for_user(user).filter(tenant_id=tenant_id, status=Candidate.Status.PENDING).order_by("-created_at")
    known = [Twin(pk, text, is_fact=True) for pk, text in facts.values_list("pk", "text")]
    known += [Twin(pk, text, is_fact=False) for pk, text in waiting.values_list("pk", "text")[:LOOKED_AT]]
    index = _Index(known)
    found = {}
    for row in shown:
        alike = [one for one in index.like(row.text) if one.id not in (row.pk, row.contradicts_id)]
        if alike:
            found[row.pk] = alike[:TWINS_SHOWN]
    return found


class _Index:
    """Which texts hold which topics, so that only few pairs are compared in full."""

    def __init__(self, known: list[Twin]) -> None:
        self.known = known
        self.topics: list[set[str]] = []
        self.holders: dict[str, list[int]] = defaultdict(list)
        for number, twin in enumerate(known):
            about = topics(twin.text)
            self.topics.append(about)
            for topic in about:
                self.holders[topic].append(number)

    def like(self, text: str) -> list[Twin]:
        about = topics(text)
        shared = Counter(number for topic in about for number in self.holders.get(topic, ()))
        # Likeness is never above the shared part of the smaller one.
        near = [number for number, count in shared.items() if count >= SIMILAR_LEAST * min(len(self.topics[number]), len(about))]
        scores = {number: overlap(about, self.topics[number]) for number in near}
        best = sorted((number for number in near if scores[number] >= SIMILAR_LEAST), key=lambda number: (-scores[number], number))
        return [self.known[number] for number in best]
