"""The worker's step: vectors for the records of an index that have none, some at a time (DESIGN §8).

What is behind is seen from the rows alone, so a kill at any line loses nothing: the sweep marks the index again. Searching
by words never waits for any of this. After each step the row of work is due again behind all others.
"""

import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from chat.memory.base import Lease
from chat.memory.calls import Interrupted, call
from chat.memory.catch_up import Later, wait_seconds
from chat.memory.consent import answers_for
from chat.memory.meaning.account import Account, Usage, usage_of
from chat.memory.meaning.embedder import embed_within, embedder_of
from chat.memory.meaning.texts import outgoing, texts_of
from chat.memory.meaning.trial import PROBE
from chat.models import Consent, Preference, Provider, SearchIndex, Tenant, Work
from chat.providers.base import (
    UNPAID,
    ModelNotFound,
    ProviderError,
    ProviderRejected,
)
from chat.providers.embeddings import Embedded, EmbeddingDimension, EmbeddingUnusable
from chat.search import vectors
from chat.search.index import present
from chat.search.vectors import Floats32

log = logging.getLogger(__name__)
RECORDS_AT_ONCE: Final = 8  # a model on the school's own machine takes about a second for each
CALL_SECONDS: Final = 45.0  # the worker has other things to do
MARKS_AT_ONCE: Final = 200


def fillable(tenant: Tenant) -> QuerySet[SearchIndex]:
    """The indexes whose texts may go to the school's embedder now: memory is on, and their teacher has agreed.

    Those without a teacher hold the school's documents, for which the administrators have chosen the embedder.
    """
    service = embedder_of(tenant)
    if service is None or not tenant.has_memory:
        return SearchIndex.objects.none()
    off = Preference.objects.filter(user_id=OuterRef("user_id"), has_memory=False)
    indexes = SearchIndex.objects.filter(~Exists(off), tenant=tenant)
    if service.is_local:
        return indexes
    agreed = answers_for(service, Consent.Purpose.EMBED).filter(user_id=OuterRef("user_id"), is_agreed=True)
    return indexes.filter(Q(user=None) | Exists(agreed))


def mark_behind() -> int:
    """Marks the indexes that have records without a vector, and none waiting already. Returns how many; one query without embedders."""
    marked = 0
    for tenant in Tenant.objects.filter(embedder__isnull=False).exclude(embedding_model="").select_related("embedder"):
        other = Q(embedder=None) | ~Q(embedder=tenant.embedder_id) | ~Q(embedding_model=tenant.embedding_model)
        behind = fillable(tenant).filter(other | ~Q(vectors=F("records")), records__gt=0)
        keys = {str(key) for key in behind.order_by("pk").values_list("pk", flat=True)[:MARKS_AT_ONCE]}
        keys -= (
            set(Work.objects.filter(kind=Work.Kind.VECTORS, subject_id__in=keys).values_list("subject_id", flat=True)) if keys else set()
        )
        for key in sorted(keys):
            Work.objects.mark(Work.Kind.VECTORS, key)
        marked += len(keys)
    return marked


def fill(index_id: str, lease: Lease) -> Later | None:
    """Makes the vectors of some records of the index; marks it again while there are more. Raises LeaseLost and Interrupted."""
    index = SearchIndex.objects.select_related("tenant__embedder").filter(pk=int(index_id)).first()
    service = embedder_of(index.tenant) if index is not None else None
    if index is None or service is None or not fillable(index.tenant).filter(pk=index.pk).exists():
        return None
    attempts = Work.objects.filter(kind=Work.Kind.VECTORS, subject_id=index_id).values_list("attempts", flat=True).first() or 0
    numbers = _due(index, lease)
    if not numbers:
        return None
    some = numbers[: max(1, RECORDS_AT_ONCE >> attempts)]
    try:
        _make(index, service, some, lease)
    except ProviderError as error:
        log.warning("Vectors of index %s could not be made: %s", index.pk, error)
        seconds = max(wait_seconds(attempts + 1), error.retry_after_seconds or 0)
        return Later(timezone.now() + timedelta(seconds=seconds), error.code)
    return None


def _due(index: SearchIndex, lease: Lease) -> list[int]:
    """Lets the index belong to the present embedder and model, and gives the numbers of records without a vector, newest first."""
    tenant = index.tenant
    with transaction.atomic():
        lease.renew()
        found = vectors.take(index.pk)
        if found is None:
            return []
        if (found.embedder_id, found.embedding_model) != (tenant.embedder_id, tenant.embedding_model):
            vectors.forget(SearchIndex.objects.filter(pk=index.pk))
            SearchIndex.objects.filter(pk=index.pk).update(embedder=tenant.embedder, embedding_model=tenant.embedding_model)
        there, made = set(present(found)), set(vectors.made_numbers(found))
        vectors.clear(found, made - there)
        missing = sorted(there - made, reverse=True)
        SearchIndex.objects.filter(pk=index.pk).update(vectors=F("records") - len(missing) if missing else F("records"))
    index.refresh_from_db(fields=["embedder", "embedding_model", "dimension", "vectors"])
    return missing


def _make(index: SearchIndex, service: Provider, numbers: list[int], lease: Lease) -> None:
    """Asks for the vectors of these records and stores them. Raises a ProviderError."""
    known = texts_of(index, numbers)
    texts = {number: [outgoing(text, service) for text in known.get(number, [])] for number in numbers}
    try:
        found = _ask(index, service, [text for number in numbers for text in texts[number]])
    except (ProviderRejected, EmbeddingUnusable) as error:
        if isinstance(error, ModelNotFound) or not _answers(index, service):
            raise
        if len(numbers) > 1:  # one of them is to blame, and must not hold the others
            for number in numbers:
                _make(index, service, [number], lease)
            return
        log.warning("Record %d of index %s has no vector: %s", numbers[0], index.pk, error)
        found, texts = None, {numbers[0]: []}
    rows = iter(found.vectors if found is not None else ())
    _store(index, known, {number: [next(rows) for _ in texts[number]] for number in texts}, lease)


def _store(index: SearchIndex, known: dict[int, list[str]], found: dict[int, list[Floats32]], lease: Lease) -> None:
    """Stores what is still wanted: the consent, the embedder and the texts may have changed while it was made."""
    with transaction.atomic():
        lease.renew()
        now = vectors.take(index.pk)
        if now is None or (now.embedder_id, now.embedding_model) != (index.embedder_id, index.embedding_model):
            return
        tenant = Tenant.objects.select_related("embedder").get(pk=index.tenant_id)
        if not fillable(tenant).filter(pk=now.pk, embedder=tenant.embedder_id, embedding_model=tenant.embedding_model).exists():
            return
        same = texts_of(now, list(found))
        there, made = set(present(now)), set(vectors.made_numbers(now))
        wanted = {n: rows for n, rows in found.items() if n in there and n not in made and same.get(n) == known.get(n)}
        dimension = next((len(row) for rows in wanted.values() for row in rows), now.dimension)
        if now.dimension not in (0, dimension):
            raise EmbeddingDimension
        if wanted:
            vectors.put(now, wanted, dimension)
        Work.objects.mark(Work.Kind.VECTORS, str(now.pk))
        Work.objects.filter(kind=Work.Kind.VECTORS, subject_id=str(now.pk)).update(attempts=0, error_code="")


def _ask(index: SearchIndex, service: Provider, texts: Sequence[str]) -> Embedded | None:
    """The vectors of texts, of the length that the index has. None for no texts. Raises a ProviderError or Interrupted."""
    if not texts:
        return None
    account = Account.open(index.tenant_id, index.user_id, service, index.tenant.embedding_model)
    code, usage = "internal_error", Usage()
    try:
        found = call(embed_within(CALL_SECONDS, index.tenant, service, texts))
        usage = usage_of(texts, found.input_tokens)
        if index.dimension and found.vectors.shape[1] != index.dimension:
            raise EmbeddingDimension
        code = ""
        return found
    except Interrupted:
        code = "interrupted"
        raise
    except ProviderError as error:
        code = error.code
        if not isinstance(error, UNPAID) and not usage.tokens:
            usage = usage_of(texts, None)
        raise
    finally:
        account.close(code, usage)


def _answers(index: SearchIndex, service: Provider) -> bool:
    """Whether the service makes a vector of a plain sentence, so that a refusal is due to the record."""
    try:
        return _ask(index, service, [PROBE]) is not None
    except ProviderError:
        return False
