"""Where reviews of notes go: the assistant's own model service, or the one that is set for them (DESIGN §8).

From a local service never to one outside, and to another vendor than the assistant's only when the teacher has agreed.
"""

from chat.memory.consent import is_unanswered, may_send
from chat.memory.switches import is_memory_on
from chat.models import Agent, Consent, Owner, Provider

REVIEW = Consent.Purpose.REVIEW


class NotAllowed(Exception):
    """The review may not go where it is to go. `code` says why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def destination(owner: Owner, agent: Agent) -> tuple[Provider | None, str]:
    """The model service and model of reviews; None for the assistant's own service, "" for its own model. Raises NotAllowed."""
    service = agent.review_provider
    if service is None or service.pk == agent.provider_id:
        return None, agent.review_model
    if service.tenant_id != agent.tenant_id or (agent.provider.is_local and not service.is_local):
        raise NotAllowed("provider_not_allowed")
    if not agent.review_model:
        raise NotAllowed("no_model")
    if _is_other_vendor(agent, service) and not may_send(owner, service, REVIEW):
        raise NotAllowed("no_consent")
    return service, agent.review_model


def other_vendor(agent: Agent) -> Provider | None:
    """The service of another vendor to which this assistant's reviews would go, when the teacher lets them."""
    service = agent.review_provider
    if service is None or not agent.review_every or agent.provider.is_local or service.tenant_id != agent.tenant_id:
        return None
    return service if _is_other_vendor(agent, service) else None


def waits_for_consent(owner: Owner, agent: Agent) -> Provider | None:
    """The service about which the teacher is still to be asked; None for none. No query where none is set for reviews."""
    service = other_vendor(agent)
    return service if service is not None and is_unanswered(owner, service, REVIEW) and is_memory_on(owner) else None


def _is_other_vendor(agent: Agent, service: Provider) -> bool:
    return not service.is_local and service.host != agent.provider.host
