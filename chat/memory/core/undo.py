"""Undo: takes an action back, item by item, as far as nobody has changed the rows since."""

from typing import Any

from django.db import IntegrityError, models, transaction

from chat.memory.core.journal import ITEM, Journal, Row, values_of
from chat.memory.core.room import in_the_way
from chat.models import Candidate, CoreEvent, Decision, Fact


class Changed(Exception):
    """A row is no longer as the action left it."""


def take_back(book: Journal, decision: Decision) -> None:
    """Takes back all items of the decision that are still as it left them.

    Raises Changed when none is, and Full when a fact that comes back finds no room; the caller then rolls back.
    """
    book.decision_id(decision.tenant_id)
    events = list(decision.events.order_by("-pk"))
    items: dict[str, list[CoreEvent]] = {}
    for event in events:
        items.setdefault(event.after.get(ITEM, ""), []).append(event)
    done = 0
    for item, group in items.items():
        book.item = item
        try:
            with transaction.atomic():
                back = [fact for event in group if (fact := _take_back_one(book, event))]
                _make_room(book, back)
            done += 1
        except (Changed, IntegrityError):
            continue
    if not done:
        raise Changed


def _take_back_one(book: Journal, event: CoreEvent) -> Fact | None:
    """Reverses one event; returns the fact when it is confirmed again by this."""
    if "id" in event.before:
        again = _again(event.before)
        book.made(again)
        return _if_confirmed(again)
    row = _row(event)
    if row is None:
        raise Changed
    after = values_of(type(row), event.after)
    if "id" in after:
        what_counts = after.keys() & {"text", "status", "agent_id", "is_pinned"}  # a candidate cannot be pinned
        if any(getattr(row, name) != after[name] for name in what_counts):
            raise Changed
        book.remove(row)
        return None
    before = _with_what_is_there(type(row), values_of(type(row), event.before))
    if before.keys() != after.keys() or any(getattr(row, name) != value for name, value in after.items()):
        raise Changed
    if isinstance(row, Fact) and row.status == Fact.Status.DELETED and "status" not in before:
        raise Changed  # of a deleted fact nothing is left to pin or to word
    if not book.change(row, **before):
        raise Changed
    return _if_confirmed(row) if after.get("status") != Fact.Status.CONFIRMED else None


def _row(event: CoreEvent) -> Row | None:
    """The row as it is now; an earlier event of the same action may just have changed it."""
    if event.fact_id:
        return Fact.objects.filter(pk=event.fact_id).first()
    return Candidate.objects.filter(pk=event.candidate_id).first()


def _again(fields: dict[str, Any]) -> Row:
    model: type[Row] = Fact if fields["id"].startswith("fact_") else Candidate
    return model(**_with_what_is_there(model, values_of(model, fields)))


def _with_what_is_there(model: type[Row], values: dict[str, Any]) -> dict[str, Any]:
    """The values as they would be by now: rows that they pointed at may have gone. Raises Changed when the row had gone with one."""
    found = dict(values)
    for field in model._meta.concrete_fields:
        key = values.get(field.attname)
        if not isinstance(field, models.ForeignKey) or key is None or field.remote_field.model._base_manager.filter(pk=key).exists():
            continue
        if field.remote_field.on_delete is not models.SET_NULL:
            raise Changed
        found[field.attname] = None
    return found


def _if_confirmed(row: Row) -> Fact | None:
    return row if isinstance(row, Fact) and row.status == Fact.Status.CONFIRMED else None


def _make_room(book: Journal, back: list[Fact]) -> None:
    for fact in back:
        for other in in_the_way(fact):
            book.change(other, "evicted", status=Fact.Status.ARCHIVED)
