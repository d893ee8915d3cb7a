"""The journal: one action of a person with all that it changed, row by row; undo reads it backwards.

`before` and `after` of an event hold the fields that changed, as JSON. `after` names the `item` that was acted on, so
that what belongs together is taken back together. A row that was made has its `id` in `after`, one that was removed in
`before`.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser
from django.db import models, transaction
from django.db.models import F, Q
from django.utils import timezone

from chat.models import Candidate, CoreEvent, Decision, Fact

Row = Fact | Candidate
R = TypeVar("R", Fact, Candidate)

ITEM = "item"
WORDS = ("text", "quote", "reason")  # the fields with wording
UNDO_DELETE = timedelta(minutes=10)  # so long the history knows the wording of a deleted fact, for undo alone


def hold(user_id: int) -> None:
    """Makes others who change the teacher's core memory wait until this transaction ends.

    It updates the user's row: there is exactly one in every school, and rows that refer to it can still be made.
    """
    get_user_model().objects.filter(pk=user_id).update(is_active=F("is_active"))


@contextmanager
def action(user: AbstractBaseUser, verb: str) -> Iterator["Journal"]:
    """One transaction of one person; nobody else changes their core memory meanwhile."""
    with transaction.atomic():
        hold(user.pk)
        yield Journal(user, verb)


class Journal:
    """Writes rows and their events. The Decision is made when the first row changes, one for each school."""

    def __init__(self, user: AbstractBaseUser, verb: str) -> None:
        self.user = user
        self.verb = verb
        self.now = timezone.now()
        self.item = ""
        self.undoes: Decision | None = None
        self._decisions: dict[str, Decision] = {}

    def rows(self, model: type[R], ids: Sequence[str]) -> dict[str, R]:
        """The user's own rows of these ids."""
        found = model.objects.for_user(self.user).filter(pk__in=list(ids))
        return {row.pk: row for row in found}

    def each(self, model: type[R], ids: Sequence[str]) -> Iterator[tuple[str, R | None]]:
        """Each id once with the user's own row, None for any other; what is written until the next one belongs to this item."""
        found = self.rows(model, ids)
        for key in dict.fromkeys(ids):
            self.item = key
            yield key, found.get(key)

    def decision_id(self, tenant_id: str) -> str:
        if tenant_id not in self._decisions:
            decision = Decision(tenant_id=tenant_id, user_id=self.user.pk, verb=self.verb, undoes=self.undoes, created_at=self.now)
            decision.save(force_insert=True)
            self._decisions[tenant_id] = decision
        return self._decisions[tenant_id].pk

    def made(self, row: Row, *, candidate: Candidate | None = None) -> None:
        """Stores a new row. `candidate` is what the fact was made of; its wording is kept as what stood there before."""
        row.save(force_insert=True)
        before = {"text": candidate.text} if candidate and candidate.text != row.text else {}
        self._event(row, self.verb, before, fields_of(row), candidate)

    def change(self, row: Row, verb: str = "", *, candidate: Candidate | None = None, **fields: object) -> bool:
        """Changes the row if it is still as it was read; says whether it did. `candidate` is what a fact is made of."""
        was = {name: getattr(row, name) for name in fields}
        if not type(row).objects.filter(pk=row.pk, **was).update(updated_at=self.now, **fields):
            return False
        for name, value in fields.items():
            setattr(row, name, value)
        self._event(row, verb or self.verb, _plain(was), _plain(fields), candidate)
        return True

    def remove(self, row: Row) -> None:
        """Deletes the row with its history."""
        before = fields_of(row)
        type(row).objects.filter(pk=row.pk).delete()
        self._event(None, self.verb, before, {}, tenant_id=row.tenant_id)

    def _event(
        self,
        row: Row | None,
        verb: str,
        before: dict[str, Any],
        after: dict[str, Any],
        candidate: Candidate | None = None,
        *,
        tenant_id: str = "",
    ) -> None:
        tenant_id = row.tenant_id if row else tenant_id
        CoreEvent.objects.create(
            tenant_id=tenant_id,
            user_id=self.user.pk,
            decision_id=self.decision_id(tenant_id),
            fact=row if isinstance(row, Fact) else None,
            candidate=row if isinstance(row, Candidate) else candidate,
            verb=verb,
            before=before,
            after=after | {ITEM: self.item},
        )


def fields_of(row: Row) -> dict[str, Any]:
    """All fields of a row, by the names of its columns."""
    return _plain({field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields})


def _plain(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in fields.items()}


def values_of(model: type[models.Model], fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of an event as Python values."""
    times = {field.attname for field in model._meta.concrete_fields if isinstance(field, models.DateTimeField)}
    known = {field.attname for field in model._meta.concrete_fields}
    parsed = {name: datetime.fromisoformat(value) if name in times and value else value for name, value in fields.items()}
    return {name: value for name, value in parsed.items() if name in known}


def linked_candidates(fact: Fact) -> list[Candidate]:
    """The candidates that the fact was made of, and those that say the same; not one that waits again with words of its own."""
    own = Candidate.objects.filter(user_id=fact.user_id, tenant_id=fact.tenant_id)
    made_of = Q(events__fact=fact, status=Candidate.Status.CONFIRMED)
    return list(own.filter(made_of | Q(normal=fact.normal)).distinct())


def forget_wordings(fact_ids: Sequence[str]) -> None:
    """Takes the wording of these facts and of the candidates they were made of out of the whole history."""
    facts = Fact.objects.filter(pk__in=fact_ids)
    candidates = {candidate.pk for fact in facts for candidate in linked_candidates(fact)}
    for event in CoreEvent.objects.filter(Q(fact__in=fact_ids) | Q(candidate__in=candidates)):
        event.before = {name: value for name, value in event.before.items() if name not in WORDS}
        event.after = {name: value for name, value in event.after.items() if name not in WORDS}
        event.save(update_fields=["before", "after"])


def forget_deleted() -> int:
    """Forgets the wording of what was deleted or undone more than UNDO_DELETE ago; returns how many rows. For the worker's sweep."""
    limit = timezone.now() - UNDO_DELETE
    over = Fact.objects.filter(status=Fact.Status.DELETED, updated_at__lt=limit, decision__isnull=False)
    keys = list(over.values_list("pk", flat=True)[:500])
    if keys:
        with transaction.atomic():
            forget_wordings(keys)
            over.filter(pk__in=keys).update(decision=None)
    # Of rows that are gone only undo needs to know.
    gone = CoreEvent.objects.filter(fact=None, candidate=None, created_at__lt=limit).delete()[0]
    return len(keys) + gone
