"""What is to be gone at a memory backend: asked for here in the transaction that makes it necessary, done by the worker.

While a scope is being forgotten nothing of it is read or written there. What was said before it was asked never goes there
afterwards, whatever is caught up later.
"""

import logging
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from chat.memory import calls
from chat.memory.backends.base import BackendError, BackendMisconfigured, MemoryManager, MemoryScope
from chat.memory.base import Lease
from chat.memory.catch_up import Later, wait_seconds
from chat.memory.external import chosen
from chat.memory.ledger import blank_external
from chat.models import Candidate, Fact, Owner, RecallEntry, RemoteScope, RemoteSession, Run, Tenant, Thread, Work
from chat.models.run import said_at

log = logging.getLogger(__name__)

BUILTIN = "builtin"
LOOK_AGAIN_SECONDS = 2.0
BLANKED_AT_ONCE = 200  # answers from which it goes in the request that asks; from older ones in the work that follows
TRIED_AGAIN_MOST_SECONDS = 60.0  # however often it was only waited for before
WAITS = ""  # the error code of work that is only not over yet


def scope_of(owner: Owner) -> MemoryScope:
    """The owner as backends know them: ids alone."""
    return MemoryScope(owner.tenant_id, str(owner.user_id), owner.agent_id or "")


def is_forgetting(scope: MemoryScope, backend: str = "") -> bool:
    """Whether the scope was asked to be forgotten and is not all gone yet; without a `backend`: at any."""
    rows = _rows(scope).filter(forget_asked_at__isnull=False)
    return (rows.filter(backend=backend) if backend else rows).exists()


def forgotten_at(scope: MemoryScope, backend: str) -> datetime | None:
    """When it was last asked to forget everything that had been said until then; None for never."""
    return _rows(scope).filter(backend=backend).values_list("forgotten_at", flat=True).first()


def is_forgotten(owner: Owner, run: Run, backend: str = BUILTIN) -> bool:
    """Whether the words of the run were said before its owner last asked a backend to forget everything: nothing is made of it any more."""
    first = said_at(run)
    is_before = Q(forget_asked_at__gte=first) | Q(forgotten_at__gte=first)
    return _rows(scope_of(owner)).filter(is_before, backend=backend).exists()


def _rows(scope: MemoryScope) -> QuerySet[RemoteScope]:
    return RemoteScope.objects.filter(tenant_key=scope.tenant_id, user_key=scope.user_id, agent_key=scope.agent_id)


# Asking


def ask_scope(scope: MemoryScope, backend: str) -> None:
    """Asks one backend to forget everything of one scope; nothing else of the teacher is touched. Idempotent."""
    with transaction.atomic():
        row, _ = RemoteScope.objects.get_or_create(
            backend=backend, tenant_key=scope.tenant_id, user_key=scope.user_id, agent_key=scope.agent_id
        )
        _ask([row.pk])
    _blank_remembered(row, most=BLANKED_AT_ONCE)


def ask_everything(tenant_id: str, user_id: int) -> None:
    """Asks to forget all that any backend remembers of a teacher in a school, whatever assistant heard it: for erasing a person.

    That is also what the built-in backend keeps: facts, confirmed ones too, what waits, and recall; and what waits to be
    delivered to the backend in force for the first time. To be called while the teacher's rows are there; the worker does it
    also after they are gone.
    """
    sending = _backend_that_is_sent_text()
    with transaction.atomic():
        for agent_key in sorted(_agents_known(tenant_id, user_id)):
            for backend in (BUILTIN, sending) if sending and agent_key else (BUILTIN,):
                RemoteScope.objects.get_or_create(backend=backend, tenant_key=tenant_id, user_key=str(user_id), agent_key=agent_key)
        rows = list(RemoteScope.objects.filter(tenant_key=tenant_id, user_key=str(user_id)))
        _ask([row.pk for row in rows])
    for row in {row.agent_key: row for row in rows}.values():
        _blank_remembered(row, most=BLANKED_AT_ONCE)


def _backend_that_is_sent_text() -> str:
    """The installation's backend, "" when nothing is ever sent to it. One that cannot be made now may be sent to later."""
    try:
        sends_text = chosen.installed().capabilities.sends_text
    except BackendMisconfigured:
        sends_text = True
    return settings.MEMORY_MANAGER if sends_text else ""


def ask_thread(thread_id: str) -> None:
    """Asks every backend that has the thread to forget it there; one query when none has.

    To be called inside the transaction that deletes the thread, before the thread and its work go. A worker that is just
    delivering it ends with its lease, at the latest; the thread is forgotten after that.
    """
    now = timezone.now()
    keys = list(RemoteSession.objects.filter(thread_key=thread_id, forget_asked_at=None).values_list("pk", flat=True))
    if not keys:
        return
    RemoteSession.objects.filter(pk__in=keys).update(forget_asked_at=now)
    at_work = Work.objects.filter(kind=Work.Kind.THREAD, subject_id=thread_id, lease_until__gt=now)
    at_work.update(marks=F("marks"))  # nobody claims it from here on
    until = at_work.values_list("lease_until", flat=True).first()
    for key in keys:
        Work.objects.mark(Work.Kind.REMOTE, key)
        if until is not None:
            Work.objects.filter(kind=Work.Kind.REMOTE, subject_id=key).update(due_at=until, attempts=0, error_code="")


def _ask(scope_ids: Iterable[str]) -> None:
    now = timezone.now()
    for key in scope_ids:
        RemoteScope.objects.filter(pk=key).update(forget_asked_at=now)
        Work.objects.mark(Work.Kind.FORGET, key)


def _agents_known(tenant_id: str, user_id: int) -> set[str]:
    """The assistants of which the built-in layers keep something of the teacher, or may be about to; "" is what is for all or for none."""
    known = {""}
    for model in (Fact, Candidate, RecallEntry, Thread):
        own = model.objects.filter(tenant_id=tenant_id, user_id=user_id)
        known |= {key or "" for key in own.values_list("agent_id", flat=True).distinct()}
    return known


# Doing


def forget(scope_id: str, lease: Lease) -> Later | None:
    """Lets the backend forget everything of a scope. Returns when to come again, None when all is gone.

    A scope of which nobody has asked it comes here when its school or teacher has been gone for long (lost.py): if they still
    are, it is asked now, and done the next time. Raises LeaseLost and Interrupted.
    """
    row = RemoteScope.objects.filter(pk=scope_id).first()
    if row is None:
        return None
    scope = MemoryScope(row.tenant_key, row.user_key, row.agent_key)
    if row.forget_asked_at is None:
        if is_owner_gone(row):
            ask_scope(scope, row.backend)
        return None
    _blank_remembered(row)  # before anything is waited for
    if _is_delivering(row):
        return again(LOOK_AGAIN_SECONDS)
    try:
        manager = chosen.manager_of_earlier(row.backend)
        if _may_still_arrive(RemoteSession.objects.filter(scope=row), manager):
            return again(LOOK_AGAIN_SECONDS)
        is_gone = calls.call(manager.forget(scope))
    except BackendError as error:
        log.warning("Scope %s could not be forgotten at %s: %s", row.pk, row.backend, error.code)
        return again(min(TRIED_AGAIN_MOST_SECONDS, wait_seconds(attempts_of(Work.Kind.FORGET, scope_id) + 1)), error.code)
    if not is_gone:
        return again(LOOK_AGAIN_SECONDS)
    _blank_remembered(row)
    with transaction.atomic():
        lease.renew()
        _be_forgotten(row)
    return None


def forget_session(session: RemoteSession, lease: Lease) -> Later | None:
    """Lets the backend forget a conversation that is gone here. As `forget`."""
    scope = MemoryScope(session.scope.tenant_key, session.scope.user_key, session.scope.agent_key)
    try:
        manager = chosen.manager_of_earlier(session.scope.backend)
        if _may_still_arrive(RemoteSession.objects.filter(pk=session.pk), manager):
            return again(LOOK_AGAIN_SECONDS)
        is_gone = calls.call(manager.forget(scope, session.thread_key))
    except BackendError as error:
        log.warning("Session %s could not be forgotten at %s: %s", session.pk, session.scope.backend, error.code)
        return again(min(TRIED_AGAIN_MOST_SECONDS, wait_seconds(attempts_of(Work.Kind.REMOTE, session.pk) + 1)), error.code)
    if not is_gone:
        return again(LOOK_AGAIN_SECONDS)
    with transaction.atomic():
        lease.renew()
        session.delete()
    return None


def is_owner_gone(row: RemoteScope) -> bool:
    has_teacher = get_user_model().objects.filter(pk=_user_id(row)).exists()
    return not has_teacher or not Tenant.objects.filter(pk=row.tenant_key).exists()


def again(seconds: float, error_code: str = WAITS) -> Later:
    return Later(timezone.now() + timedelta(seconds=seconds), error_code)


def attempts_of(kind: str, subject_id: str) -> int:
    return Work.objects.filter(kind=kind, subject_id=subject_id).values_list("attempts", flat=True).first() or 0


def _is_delivering(row: RemoteScope) -> bool:
    """Whether a worker may just be handing over what was said before it was asked: what it sends would come after the deleting."""
    own = Thread.objects.filter(tenant_id=row.tenant_key, user_id=_user_id(row), agent_id=row.agent_key)
    held = Work.objects.filter(kind=Work.Kind.THREAD, lease_until__gt=timezone.now())
    if held.filter(subject_id__in=own.values("pk")).exists():
        return True
    # Of a thread that was deleted meanwhile its work is gone; when that ends is kept with what forgets its session (ask_thread).
    deleted = RemoteSession.objects.filter(scope=row, forget_asked_at__isnull=False)
    waits = Work.objects.filter(kind=Work.Kind.REMOTE, due_at__gt=timezone.now(), attempts=0)
    return waits.filter(subject_id__in=deleted.values("pk")).exists()


def _may_still_arrive(sessions: QuerySet[RemoteSession], manager: MemoryManager) -> bool:
    """Whether a batch of which no answer came may be on its way there: it would come after the deleting, which takes what is there."""
    since = timezone.now() - timedelta(seconds=manager.late_seconds)
    return any(mark.get("sending") for mark in sessions.filter(updated_at__gt=since).values_list("mark", flat=True))


def _be_forgotten(row: RemoteScope) -> None:
    """Takes what is known of it here away too, and lets what was said since it was asked go there. Of who is gone nothing stays."""
    sessions = list(RemoteSession.objects.filter(scope=row).values_list("pk", flat=True))
    Work.objects.filter(kind=Work.Kind.REMOTE, subject_id__in=sessions).delete()
    RemoteSession.objects.filter(pk__in=sessions).delete()
    # Asked once more meanwhile it stays asked, and the mark that came with it brings the worker here again.
    RemoteScope.objects.filter(pk=row.pk, forget_asked_at=row.forget_asked_at).update(forget_asked_at=None)
    RemoteScope.objects.filter(pk=row.pk).update(forgotten_at=row.forget_asked_at)
    if is_owner_gone(row):
        RemoteScope.objects.filter(pk=row.pk).delete()
        return
    later = _runs(row).filter(created_at__gt=row.forget_asked_at)
    for thread_id in later.order_by().values_list("thread_id", flat=True).distinct():
        Work.objects.mark(Work.Kind.THREAD, thread_id)


def _blank_remembered(row: RemoteScope, *, most: int | None = None) -> None:
    """Takes what backends have told out of the ledgers of the scope: one by one, for there may be very many."""
    if row.agent_key:
        blank_external(Owner(row.tenant_key, _user_id(row), row.agent_key), most=most)


def _runs(row: RemoteScope) -> QuerySet[Run]:
    return Run.objects.filter(tenant_id=row.tenant_key, user_id=_user_id(row), agent_id=row.agent_key, backend=row.backend)


def _user_id(row: RemoteScope) -> int:
    return int(row.user_key)
