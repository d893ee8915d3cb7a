"""The log of what was done to notes: who, where, which whole entries. It alone says what was written, never a model.

A line is kept by the storage together with the text; where the text is a file, the line lies beside it as JSON until it is in the
database (`to_json`, `from_json`), so keeping it twice is keeping it once.
"""

import json
from datetime import datetime
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser
from django.db import models, transaction
from django.db.models import QuerySet
from django.utils import timezone

from chat.memory.notes.base import Author, Place
from chat.models import Agent, NoteOp, NoteReview, NoteTarget, Owner, Run, Tenant, Thread
from chat.models.tenancy import ping

_SOURCES: dict[str, type[models.Model]] = {"thread_id": Thread, "run_id": Run, "review_id": NoteReview, "undoes_id": NoteOp}
REASON_CHARS = 200
ERASED_MARK = "is_erased"  # in a change or a request of which a wording was deleted


def new_op(place: Place, action: str, author: Author, **fields: object) -> NoteOp:
    """A line of the log that is not stored yet."""
    return NoteOp(
        tenant_id=place.owner.tenant_id,
        user_id=place.owner.user_id,
        agent_id=place.agent_id,
        target=place.target,
        action=action,
        origin=author.origin,
        thread_id=author.thread_id,
        run_id=author.run_id,
        review_id=author.review_id,
        reason=author.reason[:REASON_CHARS],
        **fields,
    )


def is_erased(op: NoteOp) -> bool:
    """Whether wording of it was deleted for good, so that it cannot be taken back any more (chat.memory.notes.erasing)."""
    return any(change.get(ERASED_MARK) for change in op.changes) or bool(op.request.get(ERASED_MARK))


def place_of(op: NoteOp) -> Place:
    """The store that an operation is about."""
    return Place(Owner(op.tenant_id, op.user_id, op.agent_id), NoteTarget(op.target))


def keep(op: NoteOp) -> None:
    """Stores the line, in a transaction of the storage; what it undoes is marked.

    Sources that are gone meanwhile are left out, nothing is kept for an owner who is gone, and what is kept already stays as
    it is.
    """
    with transaction.atomic():
        known = NoteOp.objects.filter(pk=op.pk).values_list("state", flat=True).first()
        if known in (NoteOp.State.APPLIED, NoteOp.State.UNDONE) or not _has_owner(op):
            return
        for name, model in _SOURCES.items():
            key = getattr(op, name)
            if key and not model._default_manager.filter(pk=key).exists():
                setattr(op, name, None)
                if name == "thread_id":
                    op.reason = ""
        op.save(force_insert=known is None, force_update=known is not None)
        if op.undoes_id:
            undone = NoteOp.objects.filter(pk=op.undoes_id, state=NoteOp.State.APPLIED)
            undone.update(state=NoteOp.State.UNDONE, decided_at=op.created_at)
        ping(op.user_id)


def put_forward(op: NoteOp) -> None:
    """Stores the line as one that waits for the teacher."""
    with transaction.atomic():
        op.state = NoteOp.State.STAGED
        op.save(force_insert=True)
        ping(op.user_id)


def _has_owner(op: NoteOp) -> bool:
    owners = ((op.tenant_id, Tenant), (op.user_id, get_user_model()), (op.agent_id, Agent))
    return all(key is None or model.objects.filter(pk=key).exists() for key, model in owners)


def to_json(op: NoteOp) -> bytes:
    fields = {field.attname: getattr(op, field.attname) for field in op._meta.concrete_fields}
    plain = {name: value.isoformat() if isinstance(value, datetime) else value for name, value in fields.items()}
    return json.dumps(plain, ensure_ascii=False).encode()


def from_json(content: bytes) -> NoteOp:
    """Raises ValueError for what is no line of the log."""
    fields = json.loads(content)
    if not isinstance(fields, dict):
        raise ValueError("not a line of the log")
    times = {field.attname for field in NoteOp._meta.concrete_fields if isinstance(field, models.DateTimeField)}
    known = {field.attname for field in NoteOp._meta.concrete_fields}
    values = {name: datetime.fromisoformat(value) if value and name in times else value for name, value in fields.items()}
    return NoteOp(**{name: value for name, value in values.items() if name in known})


def waiting(user: AbstractBaseUser, tenant_id: str) -> QuerySet[NoteOp]:
    """What waits for the teacher's yes, the newest first."""
    return NoteOp.objects.for_user(user).filter(tenant_id=tenant_id, state=NoteOp.State.STAGED).order_by("-created_at", "-pk")


def history(user: AbstractBaseUser, place: Place) -> QuerySet[NoteOp]:
    """What was done to one store of the user, the newest first; what waits is not done yet."""
    own = NoteOp.objects.for_user(user).filter(tenant_id=place.owner.tenant_id, target=place.target, agent_id=place.agent_id)
    return own.exclude(state=NoteOp.State.STAGED).order_by("-created_at", "-pk")


def settle(op_id: str, state: str) -> bool:
    """Decides about what waits, without a change of the text; False when it no longer waits."""
    waiting_op = NoteOp.objects.filter(pk=op_id, state=NoteOp.State.STAGED)
    user_ids = list(waiting_op.values_list("user_id", flat=True))
    settled: dict[str, Any] = {"changes": []} if state == NoteOp.State.APPLIED else {}
    if not waiting_op.update(state=state, decided_at=timezone.now(), **settled):
        return False
    ping(*user_ids)
    return True
