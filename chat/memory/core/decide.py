"""Decide: every action of a person on core memory; the only code that confirms.

Each function is one transaction that writes a Decision, changes the rows by conditional updates and adds a CoreEvent for
each, so that a double click, another tab and another worker are told what really happened.
"""

from collections.abc import Sequence
from datetime import timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from chat.memory import ledger
from chat.memory.core.journal import Journal, action, linked_candidates
from chat.memory.core.keep import REFUSED_KINDS, Outcome, Result, Wish, keep, make_room, refusal_of, same_place, settle_candidates, twin_of
from chat.memory.core.room import Full
from chat.memory.core.undo import Changed, take_back
from chat.memory.core.wording import normal_form
from chat.models import Agent, Candidate, CoreEvent, Decision, Fact, Run, Tenant
from chat.models.core import Kind
from chat.text.storable import storable

__all__ = ["REFUSED_KINDS", "Outcome", "Result", "add", "allow", "confirm", "delete", "edit", "later", "pin", "reject", "restore", "undo"]

LATER = timedelta(days=1)


def confirm(
    user: AbstractBaseUser,
    candidate_ids: Sequence[str],
    *,
    text: str | None = None,
    is_shared: bool | None = None,
    replaces: str = "",
    accepted: Sequence[str] = (),
) -> list[Result]:
    """Confirms candidates as one decision; `text` edits the wording (of a single one), `is_shared` chooses the scope
    (None: as proposed), `replaces` is the fact that goes into the archive for it."""
    results = []
    with action(user, Decision.Verb.REPLACE if replaces else Decision.Verb.CONFIRM) as book:
        for key, candidate in book.each(Candidate, candidate_ids):
            if candidate is None:
                results.append(Result(key, "gone"))
            elif candidate.status != Candidate.Status.PENDING:
                results.append(Result(key, "already", fact_id=_fact_of(candidate)))
            else:
                fact = _fact_from(candidate, candidate.text if text is None else text, is_shared)
                results.append(keep(book, fact, Wish(accepted, replaces, candidate)))
    return results


def reject(user: AbstractBaseUser, candidate_ids: Sequence[str]) -> list[Result]:
    return _each_pending(user, candidate_ids, Decision.Verb.REJECT)


def later(user: AbstractBaseUser, candidate_ids: Sequence[str]) -> list[Result]:
    """Moves candidates behind the others for a day."""
    return _each_pending(user, candidate_ids, Decision.Verb.LATER)


def _each_pending(user: AbstractBaseUser, candidate_ids: Sequence[str], verb: Decision.Verb) -> list[Result]:
    results = []
    with action(user, verb) as book:
        for key, candidate in book.each(Candidate, candidate_ids):
            if candidate is None:
                results.append(Result(key, "gone"))
                continue
            is_done_before = candidate.status != Candidate.Status.PENDING
            if verb == Decision.Verb.LATER:
                is_done_before |= candidate.later_until is not None and candidate.later_until > book.now
            if is_done_before:
                results.append(Result(key, "already", fact_id=_fact_of(candidate)))
                continue
            decision_id = book.decision_id(candidate.tenant_id)
            if verb == Decision.Verb.LATER:
                is_done = book.change(candidate, later_until=book.now + LATER)
            else:
                is_done = book.change(candidate, status=Candidate.Status.REJECTED, decision_id=decision_id, later_until=None)
            results.append(Result(key, "done" if is_done else "gone", decision_id))
    return results


def add(
    user: AbstractBaseUser, tenant_id: str, text: str, *, kind: str = "profile", agent_id: str = "", accepted: Sequence[str] = ()
) -> Result:
    """A fact typed by hand: confirmed at once, since a person wrote it. `agent_id` "" is for all assistants."""
    with action(user, Decision.Verb.ADD) as book:
        if not Tenant.objects.for_user(user).filter(pk=tenant_id).exists():
            return Result("", "gone")
        if agent_id and not Agent.objects.filter(pk=agent_id, tenant_id=tenant_id).exists():
            return Result("", "gone")
        fact = _worded(Fact(tenant_id=tenant_id, user_id=user.pk, agent_id=agent_id or None), text)
        fact.kind = kind if kind in Kind.values else Kind.PROFILE
        fact.created_at = book.now
        book.item = fact.pk
        return keep(book, fact, Wish(accepted))


def edit(user: AbstractBaseUser, fact_id: str, text: str, *, is_shared: bool | None = None, accepted: Sequence[str] = ()) -> Result:
    """Changes the wording and the scope of a confirmed fact. One that is for all assistants goes to that of its source."""
    with action(user, Decision.Verb.EDIT) as book:
        book.item = fact_id
        fact = book.rows(Fact, [fact_id]).get(fact_id)
        if fact is None or fact.status != Fact.Status.CONFIRMED:
            return Result(fact_id, "gone")
        new = _worded(Fact(pk=fact.pk, tenant_id=fact.tenant_id, user_id=fact.user_id, agent_id=_scope(fact, is_shared)), text)
        if (new.text, new.agent_id) == (fact.text, fact.agent_id):
            return Result(fact_id, "already", fact_id=fact_id)
        if refusal := refusal_of(new, accepted):
            return refusal
        if twin := twin_of(new):
            return Result(fact_id, "duplicate", fact_id=twin.pk)
        try:
            evicted = make_room(book, new) if new.agent_id != fact.agent_id else ""
        except Full:
            return Result(fact_id, "full")
        if earlier := same_place(new):
            book.remove(earlier)
            ledger.blank(user.pk, [earlier.pk])
        decision_id = book.decision_id(fact.tenant_id)
        book.change(fact, text=new.text, normal=new.normal, agent_id=new.agent_id, decision_id=decision_id)
        settle_candidates(book, fact)
        return Result(fact_id, "done", decision_id, fact_id, evicted)


def pin(user: AbstractBaseUser, fact_ids: Sequence[str], *, is_pinned: bool) -> list[Result]:
    results = []
    with action(user, Decision.Verb.PIN if is_pinned else Decision.Verb.UNPIN) as book:
        for key, fact in book.each(Fact, fact_ids):
            if fact is None or fact.status != Fact.Status.CONFIRMED:
                results.append(Result(key, "gone"))
            elif fact.is_pinned == is_pinned:
                results.append(Result(key, "already", fact_id=key))
            else:
                book.change(fact, is_pinned=is_pinned)
                results.append(Result(key, "done", book.decision_id(fact.tenant_id), key))
    return results


def delete(user: AbstractBaseUser, fact_ids: Sequence[str]) -> list[Result]:
    """Deletes facts: text and quote go, also in ledgers; the normal form stays, so that it is not proposed again."""
    results = []
    with action(user, Decision.Verb.DELETE) as book:
        for key, fact in book.each(Fact, fact_ids):
            if fact is None:
                results.append(Result(key, "gone"))
            elif fact.status == Fact.Status.DELETED:
                results.append(Result(key, "already", fact_id=key))
            else:
                decision_id = book.decision_id(fact.tenant_id)
                book.change(fact, status=Fact.Status.DELETED, text="", quote="", is_pinned=False, decision_id=decision_id)
                for candidate in linked_candidates(fact):
                    book.change(candidate, text="", quote="", reason="")
                results.append(Result(key, "done", decision_id, key))
        ledger.blank(user.pk, [result.item_id for result in results if result.outcome == "done"])
    return results


def restore(user: AbstractBaseUser, fact_ids: Sequence[str]) -> list[Result]:
    """Brings archived facts back; may evict others."""
    results = []
    with action(user, Decision.Verb.RESTORE) as book:
        for key, fact in book.each(Fact, fact_ids):
            if fact is None or fact.status == Fact.Status.DELETED:
                results.append(Result(key, "gone"))
            elif fact.status == Fact.Status.CONFIRMED:
                results.append(Result(key, "already", fact_id=key))
            else:
                results.append(_restore(book, fact))
    return results


def _restore(book: Journal, fact: Fact) -> Result:
    if twin := twin_of(fact):
        return Result(fact.pk, "duplicate", fact_id=twin.pk)
    try:
        evicted = make_room(book, fact)
    except Full:
        return Result(fact.pk, "full")
    decision_id = book.decision_id(fact.tenant_id)
    book.change(fact, status=Fact.Status.CONFIRMED, decision_id=decision_id, confirmed_at=book.now)
    return Result(fact.pk, "done", decision_id, fact.pk, evicted)


def allow(user: AbstractBaseUser, ids: Sequence[str]) -> list[Result]:
    """Lets rejected candidates (back to pending) and deleted facts (forgotten) be proposed again."""
    results = []
    with action(user, Decision.Verb.ALLOW) as book:
        facts = book.rows(Fact, ids)
        for key, candidate in book.each(Candidate, ids):
            row = candidate or facts.get(key)
            if row is None:
                results.append(Result(key, "gone"))
                continue
            if row.status not in (Candidate.Status.REJECTED, Fact.Status.DELETED):
                results.append(Result(key, "already"))
                continue
            if isinstance(row, Candidate):
                book.change(row, status=Candidate.Status.PENDING, decision_id=None)
            else:
                for candidate in linked_candidates(row):
                    book.remove(candidate)
                book.remove(row)
            results.append(Result(key, "done", book.decision_id(row.tenant_id)))
    return results


def undo(user: AbstractBaseUser, decision_id: str = "") -> Result:
    """Takes back a decision of the user ("": their last one) as far as nobody has changed the rows since.

    A deleted fact comes back for ten minutes (`journal.UNDO_DELETE`); what its ledgers said stays erased.
    """
    with action(user, Decision.Verb.UNDO) as book:
        own = Decision.objects.for_user(user)
        if decision_id:
            decision = own.filter(pk=decision_id).first()
        else:
            decision = own.filter(undone_by=None).exclude(verb=Decision.Verb.UNDO).order_by("-created_at", "-pk").first()
        if decision is None:
            return Result(decision_id, "gone" if decision_id else "nothing")
        if Decision.objects.filter(undoes=decision).exists():
            return Result(decision.pk, "already")
        book.undoes = decision
        made = {event.after["id"] for event in decision.events.all() if "id" in event.after}
        try:
            with transaction.atomic():
                take_back(book, decision)
        except Full:
            return Result(decision.pk, "full")
        except Changed:
            return Result(decision.pk, "nothing")
        ledger.blank(user.pk, made.difference(Fact.objects.filter(pk__in=made).values_list("pk", flat=True)))
        return Result(decision.pk, "done", book.decision_id(decision.tenant_id))


def _fact_from(candidate: Candidate, text: str, is_shared: bool | None) -> Fact:
    fact = Fact(tenant_id=candidate.tenant_id, user_id=candidate.user_id, agent_id=_scope(candidate, is_shared))
    fact.kind, fact.quote, fact.source_run_id = candidate.kind, candidate.quote, candidate.source_run_id
    fact.created_at = candidate.created_at
    return _worded(fact, text)


def _worded(fact: Fact, text: str) -> Fact:
    fact.text = " ".join(storable(text).split())
    fact.normal = normal_form(fact.text)
    return fact


def _scope(row: Candidate | Fact, is_shared: bool | None) -> str | None:
    """The assistant that the fact is for; a shared one that is to be for one assistant is for that of its source."""
    if is_shared is None or (row.agent_id and not is_shared):
        return row.agent_id
    if is_shared:
        return None
    return Run.objects.filter(pk=row.source_run_id).values_list("agent_id", flat=True).first()


def _fact_of(candidate: Candidate) -> str:
    event = CoreEvent.objects.filter(candidate=candidate, fact__isnull=False).order_by("-pk").first()
    return str(event.fact_id) if event else ""
