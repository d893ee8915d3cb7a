"""Whether a teacher's text may go to a model service for a purpose, and what they said (DESIGN §8).

A local service needs no consent. For any other nothing goes there before the teacher has agreed; the answer is recorded
and can be withdrawn, which holds from the next message on. What was made of their texts there is deleted with it.
"""

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from chat.models import Consent, Owner, Provider, SearchIndex
from chat.search import vectors


def answers_for(provider: Provider, purpose: Consent.Purpose) -> QuerySet[Consent]:
    """What was said of the service where it is now; an answer that was given for another host counts no more."""
    return Consent.objects.filter(tenant_id=provider.tenant_id, provider=provider, purpose=purpose, host=provider.host)


def may_send(owner: Owner, provider: Provider, purpose: Consent.Purpose) -> bool:
    if provider.is_local:
        return True
    said = answers_for(provider, purpose).filter(tenant_id=owner.tenant_id, user_id=owner.user_id)
    return said.filter(is_agreed=True).exists()


def is_unanswered(owner: Owner, provider: Provider, purpose: Consent.Purpose) -> bool:
    """Whether the teacher is still to be asked."""
    if provider.is_local:
        return False
    return not answers_for(provider, purpose).filter(tenant_id=owner.tenant_id, user_id=owner.user_id).exists()


def answer(owner: Owner, provider: Provider, purpose: Consent.Purpose, *, is_agreed: bool) -> None:
    """Records what the teacher said, or says now. Without their consent the vectors that were made there are deleted."""
    moment = {"agreed_at" if is_agreed else "declined_at": timezone.now()}
    with transaction.atomic():
        Consent.objects.update_or_create(
            tenant_id=owner.tenant_id,
            user_id=owner.user_id,
            provider=provider,
            purpose=purpose,
            defaults={"is_agreed": is_agreed, "host": provider.host, **moment},
        )
        if purpose == Consent.Purpose.EMBED and not is_agreed:
            vectors.forget(SearchIndex.objects.filter(tenant_id=owner.tenant_id, user_id=owner.user_id, embedder=provider))
