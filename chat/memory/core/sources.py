"""Where core memory comes from: what was learnt from a thread, and what is left of a thread's words when it goes."""

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Q

from chat.memory.core.journal import hold
from chat.models import Candidate, CoreEvent, Fact, Run

STANDING = (Fact.Status.CONFIRMED, Fact.Status.ARCHIVED)


@dataclass(frozen=True, slots=True)
class Learnt:
    """What was learnt from a thread and can go with it: what still waits, and what a person has confirmed."""

    candidates: list[Candidate]
    facts: list[Fact]


def learnt_from(user: AbstractBaseUser, thread_id: str) -> Learnt:
    """Of the user's own rows, oldest first."""
    candidates = Candidate.objects.for_user(user).filter(_of_thread(thread_id), status=Candidate.Status.PENDING)
    facts = Fact.objects.for_user(user).filter(source_run__thread_id=thread_id, status__in=STANDING)
    return Learnt(list(candidates.order_by("created_at", "pk")), list(facts.order_by("created_at", "pk")))


def _of_thread(thread_id: str) -> Q:
    return Q(thread_id=thread_id) | Q(source_run__thread_id=thread_id)


def forget_thread(user_id: int, thread_id: str) -> None:
    """Takes the thread's own words, which are the quotes, and its ids out of all that stays of core memory and its history.

    To be called inside the transaction that deletes the thread, before the thread goes.
    """
    hold(user_id)
    own = {thread_id, *Run.objects.filter(thread_id=thread_id).values_list("pk", flat=True)}
    candidates = Candidate.objects.filter(_of_thread(thread_id), user_id=user_id)
    facts = Fact.objects.filter(user_id=user_id, source_run__thread_id=thread_id)
    of_rows = Q(candidate__in=candidates.values("pk")) | Q(fact__in=facts.values("pk"))
    of_removed = Q(candidate=None, fact=None)  # kept for ten minutes, for undo
    heard_again = Q(after__run__in=sorted(own))  # of candidates from other threads
    came_once = Q(before__source_run_id__in=sorted(own))  # of facts that come from another thread since
    for event in CoreEvent.objects.filter(of_rows | of_removed | heard_again | came_once, user_id=user_id):
        before, after = _without(event.before, own), _without(event.after, own)
        if (before, after) != (event.before, event.after):
            CoreEvent.objects.filter(pk=event.pk).update(before=before, after=after)
    # Lists of keys, for the conditions no longer hold once the ids are gone.
    Candidate.objects.filter(pk__in=list(candidates.values_list("pk", flat=True))).update(quote="", thread=None, source_run=None)
    Fact.objects.filter(pk__in=list(facts.values_list("pk", flat=True))).update(quote="", source_run=None)


def _without(fields: dict[str, Any], own: set[str]) -> dict[str, Any]:
    """The fields of an event with nothing in place of the quote and the ids; what undo compares stays comparable."""
    source = fields.get("source_run_id") or fields.get("run")
    is_own = source is None or source in own
    kept = {name: "" if name == "quote" and is_own else value for name, value in fields.items()}
    return {name: None if isinstance(value, str) and value in own else value for name, value in kept.items()}
