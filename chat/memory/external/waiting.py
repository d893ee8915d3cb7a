"""What was asked to be forgotten and is not gone yet, at whatever backend: seen by administrators until it is done."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet

from chat.memory.backends.base import BackendMisconfigured
from chat.memory.external import chosen
from chat.models import RemoteScope, RemoteSession, Work


@dataclass(frozen=True, slots=True)
class Waiting:
    """How many requests to forget everything, and how many deleted conversations, wait for one backend.

    `code` is what holds one of them up, "" for nothing that is known. Without `is_set_up` they wait until the backend is again.
    """

    backend: str
    scopes: int
    sessions: int
    code: str
    is_set_up: bool


def waiting(school_ids: QuerySet[Any, Any] | None = None) -> list[Waiting]:
    """By backend; `school_ids` is a subquery, None for all schools. Two queries when nothing waits.

    A deleted conversation of a scope that is forgotten whole is counted with that.
    """
    asked = Q(forget_asked_at__isnull=False)
    scopes = RemoteScope.objects.filter(asked)
    sessions = RemoteSession.objects.filter(asked, scope__forget_asked_at=None)
    if school_ids is not None:
        scopes, sessions = scopes.filter(tenant_key__in=school_ids), sessions.filter(scope__tenant_key__in=school_ids)
    backends = {*scopes.values_list("backend", flat=True), *sessions.values_list("scope__backend", flat=True)}
    return [_of(name, scopes.filter(backend=name), sessions.filter(scope__backend=name)) for name in sorted(backends)]


def _of(backend: str, scopes: QuerySet[RemoteScope], sessions: QuerySet[RemoteSession]) -> Waiting:
    whole = Q(kind=Work.Kind.FORGET, subject_id__in=scopes.values("pk"))
    single = Q(kind=Work.Kind.REMOTE, subject_id__in=sessions.values("pk"))
    codes = Work.objects.filter(whole | single).exclude(error_code="").order_by("created_at", "pk")
    return Waiting(backend, scopes.count(), sessions.count(), codes.values_list("error_code", flat=True).first() or "", is_set_up(backend))


def is_set_up(backend: str) -> bool:
    try:
        chosen.manager_of_earlier(backend)
    except BackendMisconfigured:
        return False
    return True
