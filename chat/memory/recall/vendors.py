"""Text of one vendor does not go to another one unasked (DESIGN §8): which entries the service of a turn may have.

An entry is of the service that its run went to, where that was then. One without a service (imported, or of a service
that is gone) is of another vendor than any.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from django.db import connection

from chat.memory.consent import is_unanswered, may_send
from chat.memory.switches import is_memory_on
from chat.models import Agent, Consent, Owner, Provider, RecallEntry

# Of an owner, whether any is of another service. Ranges, for which the index is enough: there may be very many of this one.
# As plain SQL: each page asks at each change, and building it by the ORM takes ten times as long as the query.
OTHERS: Final = """
SELECT EXISTS (SELECT 1 FROM chat_recallentry WHERE tenant_id = %s AND user_id = %s AND (
provider_id IS NULL OR provider_id < %s OR provider_id > %s OR (provider_id = %s AND (host < %s OR host > %s))))"""


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
    with connection.cursor() as cursor:
        cursor.execute(OTHERS, [owner.tenant_id, owner.user_id, *[provider.pk] * 3, *[provider.host] * 2])
        has_others = bool(cursor.fetchone()[0])
    return has_others and is_unanswered(owner, provider, Consent.Purpose.RECALL) and is_memory_on(owner)
