"""The question's vector: planned in the hop that starts a run, fetched on the loop, used in a second hop (RUNTIME 11).

Only where a school has an embedder and the teacher has vectors to compare with. A service that is slow or away costs at
most the limit, and after some failures nothing: words alone find it then.
"""

import logging
import time
from dataclasses import dataclass
from typing import Final

from django.db.models import Q

from chat.memory.base import Turn
from chat.memory.consent import may_send
from chat.memory.meaning.account import Asked, Usage, usage_of
from chat.memory.meaning.breaker import breaker_of
from chat.memory.meaning.embedder import embed_within, embedder_of
from chat.memory.meaning.texts import ASKED_CHARS, outgoing
from chat.memory.recall.find import question_of
from chat.models import Consent, Provider, SearchIndex, Tenant
from chat.providers.base import UNPAID, ProviderError
from chat.providers.embeddings import EmbeddingDimension
from chat.search.vectors import Vector

log = logging.getLogger(__name__)
LOCAL_SECONDS: Final = 0.5
REMOTE_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be asked of whom, before a run can be started. `dimensions` are those of the vectors to compare with."""

    tenant: Tenant
    service: Provider
    text: str
    dimensions: frozenset[int]


@dataclass(frozen=True, slots=True)
class Meaning:
    """What came of a plan: a vector, or None; and the call for the account."""

    vector: Vector | None
    asked: Asked

    @property
    def told(self) -> Provider | None:
        """The service outside the school that the question was sent to, whatever came of it."""
        return None if self.asked.service.is_local else self.asked.service


def plan(turn: Turn) -> Plan | None:
    """What to ask for this turn; None for nothing, which costs no query without an embedder."""
    tenant = turn.agent.tenant
    if tenant.embedder_id is None or not turn.has_memory or not turn.question.strip():
        return None
    service = embedder_of(tenant)
    if service is None or breaker_of(service.base_url, tenant.embedding_model).is_open:
        return None
    owned = Q(user_id=turn.owner.user_id) | Q(user=None)
    indexes = SearchIndex.objects.filter(owned, tenant=tenant, embedder=service, embedding_model=tenant.embedding_model)
    if turn.backend:  # recall stands back: its vectors are compared with nothing
        indexes = indexes.filter(kind=SearchIndex.Kind.KNOWLEDGE)
    dimensions = frozenset(indexes.filter(vectors__gt=0, dimension__gt=0).values_list("dimension", flat=True))
    if not dimensions or not may_send(turn.owner, service, Consent.Purpose.EMBED):
        return None
    return Plan(tenant, service, outgoing(question_of(turn).text, service)[:ASKED_CHARS], dimensions)


async def fetch(what: Plan) -> Meaning:
    """Asks once, within the limit; fails open."""
    service, model = what.service, what.tenant.embedding_model
    breaker = breaker_of(service.base_url, model)
    breaker.note_trial()
    seconds = LOCAL_SECONDS if service.is_local else REMOTE_SECONDS
    started = time.monotonic()
    vector, code, usage = None, "", Usage()
    try:
        found = await embed_within(seconds, what.tenant, service, [what.text], "query", attempts=1)
        usage = usage_of([what.text], found.input_tokens)
        if found.vectors.shape[1] not in what.dimensions:
            raise EmbeddingDimension
        vector = Vector(service.pk, model, found.vectors[0])
        breaker.note_success()
    except ProviderError as error:
        breaker.note_failure()
        code = error.code
        if not isinstance(error, UNPAID) and not usage.tokens:
            usage = usage_of([what.text], None)
        log.warning("Service %s made no vector of a question: %s", service.pk, error)
    return Meaning(vector, Asked(service, model, code, usage, round((time.monotonic() - started) * 1000)))
