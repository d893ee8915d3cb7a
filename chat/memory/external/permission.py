"""Whether a teacher's text may go to a memory backend, and what they said (DESIGN §8, seed 002).

A backend that sends text is asked about once, also when it runs on this machine, as what comes back is used without the
teacher's confirmation. Before they agree nothing is sent and nothing is asked of it; an answer holds for the place that
they were told of. An agreement holds from the next message on, and so does its withdrawal.
"""

from datetime import datetime
from typing import Final

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from chat.memory.backends.base import Capabilities
from chat.memory.external import chosen
from chat.memory.switches import is_memory_on
from chat.models import Agent, Consent, Owner
from chat.models.agent import MemoryManagerChoice

NOT_AGREED: Final = "memory_not_agreed"  # Run.backend_code of a message of a teacher who has not agreed, or was not asked yet
HOST_CHARS: Final = 300


def capabilities_of(backend: str) -> Capabilities:
    return chosen.manager(backend).capabilities


def kept_at(backend: str, code: str) -> tuple[str, str] | None:
    """Title and place of the backend that keeps a run with this `Run.backend` and `Run.backend_code`; None for none.

    Of a backend that is not the installation's any more only the name is known, as nothing of it is imported.
    """
    if not backend or code == NOT_AGREED or backend in MemoryManagerChoice.values:
        return None
    if backend != settings.MEMORY_MANAGER:
        return backend, ""
    capabilities = capabilities_of(backend)
    return (capabilities.title, capabilities.place) if capabilities.sends_text else None


def may_send(owner: Owner, backend: str) -> bool:
    """Whether the owner's text may go to the backend now. Runs that are older than `agreed_at` may not, also then."""
    return not capabilities_of(backend).sends_text or _answers(owner, backend).filter(is_agreed=True).exists()


def agreed_at(owner: Owner, backend: str) -> datetime | None:
    """Since when what is said may go to the backend; None while it may not, and for one that is not asked about."""
    return _answers(owner, backend).filter(is_agreed=True).values_list("agreed_at", flat=True).first()


def waits_for_answer(owner: Owner, agent: Agent) -> bool:
    """Whether the owner is to be asked before they talk to the assistant. No query for a backend that sends nothing."""
    backend = chosen.external_of(agent)
    if not backend or not capabilities_of(backend).sends_text:
        return False
    return not _answers(owner, backend).exists() and is_memory_on(owner)


def answer(owner: Owner, backend: str, *, is_agreed: bool) -> None:
    """Records what the teacher said, or says now. To say yes again changes nothing: what they agreed to waits to be sent."""
    if is_agreed and may_send(owner, backend):
        return
    place = capabilities_of(backend).place[:HOST_CHARS]
    moment = {"agreed_at" if is_agreed else "declined_at": timezone.now()}
    Consent.objects.update_or_create(
        tenant_id=owner.tenant_id,
        user_id=owner.user_id,
        provider=None,
        purpose=Consent.Purpose.MEMORY,
        defaults={"is_agreed": is_agreed, "host": place, **moment},
    )


def _answers(owner: Owner, backend: str) -> QuerySet[Consent]:
    """What was said of the backend where it is now."""
    place = capabilities_of(backend).place[:HOST_CHARS]
    said = Consent.objects.filter(tenant_id=owner.tenant_id, user_id=owner.user_id, provider=None, purpose=Consent.Purpose.MEMORY)
    return said.filter(host=place)
