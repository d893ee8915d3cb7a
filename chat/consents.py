"""What a teacher is asked before their text goes to another vendor, and what they said; for pages, a form each (DESIGN §8)."""

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Q, QuerySet

from chat.memory.backends.base import Capabilities
from chat.memory.consent import answer, is_unanswered, may_send
from chat.memory.external import chosen, permission
from chat.memory.meaning.embedder import embedder_of
from chat.memory.notes import review_vendor
from chat.memory.recall.vendors import waits_for_consent
from chat.memory.switches import is_memory_on
from chat.models import Agent, Consent, Owner, Provider, Tenant, Thread
from chat.models.tenancy import ping

EMBED, RECALL, REVIEW, MEMORY = Consent.Purpose.EMBED, Consent.Purpose.RECALL, Consent.Purpose.REVIEW, Consent.Purpose.MEMORY


@dataclass(frozen=True, slots=True)
class Ask:
    """A question that waits for the teacher. `agent_name` is the assistant that it is about, "" for all.

    `provider_id` is the model service that is asked about; for the memory backend, which is none, the school.
    """

    provider_id: str
    purpose: str
    service: str
    host: str
    agent_name: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """An answer that was given, or (with neither time) one that may be given any time. `is_elsewhere`: the service has moved since."""

    ask: Ask
    school: str
    is_agreed: bool
    at: datetime | None
    is_elsewhere: bool = False


def next_ask(user: AbstractBaseUser, agent: Agent, thread: Thread | None = None) -> Ask | None:
    """What is asked on the page of this assistant now, one thing at a time; nothing in an incognito thread, or while memory is off.

    No query where all services are local.
    """
    if thread is not None and thread.is_incognito:
        return None
    owner = Owner(agent.tenant_id, user.pk, agent.pk)
    backend = chosen.external_of(agent)
    if permission.waits_for_answer(owner, agent):
        return _backend_ask(agent.tenant_id, permission.capabilities_of(backend))
    service = embedder_of(agent.tenant)
    if service is not None and is_unanswered(owner, service, EMBED) and is_memory_on(owner):
        return Ask(service.pk, EMBED, service.name, service.host)
    if not backend and waits_for_consent(owner, agent):  # recall stands back for another backend
        return Ask(agent.provider_id, RECALL, agent.provider.name, agent.provider.host, agent.name)
    if (reviewer := review_vendor.waits_for_consent(owner, agent)) is not None:
        return Ask(reviewer.pk, REVIEW, reviewer.name, reviewer.host, agent.name)
    return None


def asked_context(user: AbstractBaseUser, agent: Agent, thread: Thread | None = None) -> dict[str, object]:
    """What the page of a conversation says of other vendors: what is asked, and where the texts go for search by meaning."""
    return {
        "consent_ask": next_ask(user, agent, thread),
        "meaning_service": meaning_service(user, agent, thread),
        "review_service": review_service(user, agent, thread),
        "memory_place": memory_place(user, agent, thread),
    }


def meaning_service(user: AbstractBaseUser, agent: Agent, thread: Thread | None = None) -> str:
    """The name of the service outside the school that gets what is said here for search by meaning; "" for none."""
    service = embedder_of(agent.tenant)
    if service is None or service.is_local or (thread is not None and thread.is_incognito):
        return ""
    owner = Owner(agent.tenant_id, user.pk, agent.pk)
    return service.name if may_send(owner, service, EMBED) and is_memory_on(owner) else ""


def review_service(user: AbstractBaseUser, agent: Agent, thread: Thread | None = None) -> str:
    """The name of the other vendor's service that gets what is said here for reviews of notes; "" for none."""
    service = review_vendor.other_vendor(agent)
    if service is None or (thread is not None and thread.is_incognito):
        return ""
    owner = Owner(agent.tenant_id, user.pk, agent.pk)
    return service.name if may_send(owner, service, REVIEW) and is_memory_on(owner) else ""


def memory_place(user: AbstractBaseUser, agent: Agent, thread: Thread | None = None) -> Capabilities | None:
    """Title and place of the memory backend that keeps what is said here; None for none."""
    backend = chosen.external_of(agent)
    if not backend or (thread is not None and thread.is_incognito):
        return None
    capabilities, owner = permission.capabilities_of(backend), Owner(agent.tenant_id, user.pk, agent.pk)
    keeps = capabilities.sends_text and permission.may_send(owner, backend) and is_memory_on(owner)
    return capabilities if keeps else None


def said_by(user: AbstractBaseUser) -> list[Said]:
    """What the teacher has said in their schools, newest service first, and what they may be asked but have not answered."""
    consents = Consent.objects.filter(user_id=user.pk, tenant__memberships__user_id=user.pk).select_related("provider", "tenant")
    backend = _asking_backend()
    found = [said for consent in consents.order_by("-created_at", "pk") if (said := _said(consent, backend)) is not None]
    known = {(one.ask.provider_id, one.ask.purpose) for one in found}
    for tenant in Tenant.objects.for_user(user).select_related("embedder"):
        service = embedder_of(tenant)
        if service is not None and not service.is_local and (service.pk, EMBED) not in known:
            found.append(Said(Ask(service.pk, EMBED, service.name, service.host), tenant.name, is_agreed=False, at=None))
        if backend is not None and (tenant.pk, MEMORY) not in known:
            found.append(Said(_backend_ask(tenant.pk, backend), tenant.name, is_agreed=False, at=None))
    return found


def _said(consent: Consent, backend: Capabilities | None) -> Said | None:
    """None for what nobody asks about any more: a service that is the school's own now, a backend that is not in force."""
    service = consent.provider
    if service is not None and not service.is_local:
        ask, host = Ask(service.pk, consent.purpose, service.name, service.host), service.host
    elif service is None and backend is not None:
        ask, host = _backend_ask(consent.tenant_id, backend), backend.place[: permission.HOST_CHARS]
    else:
        return None
    at = consent.agreed_at if consent.is_agreed else consent.declined_at
    is_elsewhere = consent.host != host
    return Said(ask, consent.tenant.name, consent.is_agreed and not is_elsewhere, at, is_elsewhere)


def _asking_backend() -> Capabilities | None:
    """The installation's memory backend when teachers are asked about it. No other sends text (MemoryManagerChoice)."""
    capabilities = chosen.installed().capabilities
    return capabilities if capabilities.sends_text else None


def _backend_ask(tenant_id: str, backend: Capabilities) -> Ask:
    return Ask(tenant_id, MEMORY, backend.title, backend.place)


def say(user: AbstractBaseUser, provider_id: str, purpose: str, *, is_agreed: bool) -> Ask | None:
    """Records an answer of the user, and lets their other pages know. None when no such thing can be asked of them."""
    if purpose == MEMORY:
        return _say_of_backend(user, provider_id, is_agreed=is_agreed)
    service = _askable(user, purpose).filter(pk=provider_id).first()
    if service is None:
        return None
    answer(Owner(service.tenant_id, user.pk), service, Consent.Purpose(purpose), is_agreed=is_agreed)
    ping(user.pk)
    return Ask(service.pk, purpose, service.name, service.host)


def _say_of_backend(user: AbstractBaseUser, tenant_id: str, *, is_agreed: bool) -> Ask | None:
    backend = _asking_backend()
    if backend is None or not Tenant.objects.for_user(user).filter(pk=tenant_id).exists():
        return None
    permission.answer(Owner(tenant_id, user.pk), settings.MEMORY_MANAGER, is_agreed=is_agreed)
    ping(user.pk)
    return _backend_ask(tenant_id, backend)


def _askable(user: AbstractBaseUser, purpose: str) -> QuerySet[Provider]:
    """The services of the user's schools that are asked about for the purpose, and those that they have answered about."""
    services = Provider.objects.filter(tenant__in=Tenant.objects.for_user(user).order_by().values("pk"), is_local=False)
    answered = Q(pk__in=Consent.objects.filter(user_id=user.pk, purpose=purpose).values("provider_id"))
    if purpose == EMBED:
        chosen = Tenant.objects.for_user(user).order_by().exclude(embedder=None).values("embedder_id")
        return services.filter(answered | Q(pk__in=chosen))
    if purpose == RECALL:
        return services.filter(answered | Q(pk__in=Agent.objects.for_user(user).order_by().values("provider_id")))
    if purpose == REVIEW:
        set_for_reviews = Agent.objects.for_user(user).order_by().exclude(review_provider=None).values("review_provider_id")
        return services.filter(answered | Q(pk__in=set_for_reviews))
    return services.none()
