"""Text of one vendor does not go to another one unasked (DESIGN §8): which entries the service of a turn may have.

An entry is of the service that its run went to, where that was then. One without a service (imported, or of a service
that is gone) is of another vendor than any.
"""

from dataclasses import dataclass
from functools import cached_property

from django.db.models import Q

from chat.memory.consent import is_unanswered, may_send
from chat.memory.switches import is_memory_on
from chat.models import Agent, Consent, Owner, Provider, RecallEntry


@dataclass
class Receiver:
    """The service that a turn goes to. The owner's consent is looked up once, and only when it matters."""

    owner: Owner
    provider: Provider

    def may_have(self, entry: RecallEntry) -> bool:
        is_its_own = entry.provider_id == self.provider.pk and entry.host == self.provider.host
        return self.provider.is_local or is_its_own or self._has_consent

    @cached_property
    def _has_consent(self) -> bool:
        return may_send(self.owner, self.provider, Consent.Purpose.RECALL)


def waits_for_consent(owner: Owner, agent: Agent) -> bool:
    """Whether the owner is to be asked before what other services have heard is recalled for this assistant.

    Not before there is something to recall. No query for a local service, else one to three.
    """
    provider = agent.provider
    if provider.is_local:
        return False
    entries = RecallEntry.objects.filter(tenant_id=owner.tenant_id, user_id=owner.user_id)
    # Ranges, for which the index is enough: an owner whose entries are all of one service may have very many.
    others = Q(provider=None) | Q(provider_id__lt=provider.pk) | Q(provider_id__gt=provider.pk)
    elsewhere = Q(provider=provider) & (Q(host__lt=provider.host) | Q(host__gt=provider.host))
    is_unasked = is_unanswered(owner, provider, Consent.Purpose.RECALL)
    return is_unasked and entries.filter(others | elsewhere).exists() and is_memory_on(owner)
