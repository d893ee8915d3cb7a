"""Whether a teacher's text may go to a model service for a purpose, and what they said (DESIGN §8).

A local service needs no consent. For any other nothing goes there before the teacher has agreed; the answer is recorded
and can be withdrawn, which holds from the next message on.
"""

from django.utils import timezone

from chat.models import Consent, Owner, Provider


def may_send(owner: Owner, provider: Provider, purpose: Consent.Purpose) -> bool:
    if provider.is_local:
        return True
    return Consent.objects.filter(
        tenant_id=owner.tenant_id, user_id=owner.user_id, provider=provider, purpose=purpose, is_agreed=True
    ).exists()


def answer(owner: Owner, provider: Provider, purpose: Consent.Purpose, *, is_agreed: bool) -> None:
    """Records what the teacher said, or says now."""
    moment = {"agreed_at" if is_agreed else "declined_at": timezone.now()}
    Consent.objects.update_or_create(
        tenant_id=owner.tenant_id,
        user_id=owner.user_id,
        provider=provider,
        purpose=purpose,
        defaults={"is_agreed": is_agreed, **moment},
    )
