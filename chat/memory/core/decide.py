"""Decide: every action of a person on core memory; the only code that confirms.

Each function is one transaction that writes a Decision, changes the rows by conditional updates and adds a CoreEvent for
each, so that a double click, another tab and another worker are told what really happened.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from django.contrib.auth.models import AbstractBaseUser

Outcome = Literal["done", "already", "gone", "stopped", "ask", "too_long", "empty", "duplicate", "nothing"]
# done       it was done now
# already    it had been done before, here or elsewhere (`item_id` is the row that shows it)
# gone       the item does not exist any more, or never did for this user
# stopped    the filter refuses this wording (`kinds`)
# ask        the filter asks once: call again with `accepted=kinds`
# too_long, empty, duplicate   the wording cannot be kept (`item_id` of the twin)
# nothing    there is nothing to undo


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one item. `evicted_id` is the fact that was archived to make room."""

    item_id: str
    outcome: Outcome
    decision_id: str = ""
    fact_id: str = ""
    evicted_id: str = ""
    kinds: tuple[str, ...] = ()


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
    raise NotImplementedError


def reject(user: AbstractBaseUser, candidate_ids: Sequence[str]) -> list[Result]:
    raise NotImplementedError


def later(user: AbstractBaseUser, candidate_ids: Sequence[str]) -> list[Result]:
    """Moves candidates behind the others for a day."""
    raise NotImplementedError


def add(
    user: AbstractBaseUser, tenant_id: str, text: str, *, kind: str = "profile", agent_id: str = "", accepted: Sequence[str] = ()
) -> Result:
    """A fact typed by hand: confirmed at once, since a person wrote it."""
    raise NotImplementedError


def edit(user: AbstractBaseUser, fact_id: str, text: str, *, is_shared: bool | None = None, accepted: Sequence[str] = ()) -> Result:
    raise NotImplementedError


def pin(user: AbstractBaseUser, fact_ids: Sequence[str], *, is_pinned: bool) -> list[Result]:
    raise NotImplementedError


def delete(user: AbstractBaseUser, fact_ids: Sequence[str]) -> list[Result]:
    """Deletes facts: text and quote go, also in ledgers; the normal form stays, so that it is not proposed again."""
    raise NotImplementedError


def restore(user: AbstractBaseUser, fact_ids: Sequence[str]) -> list[Result]:
    """Brings archived facts back; may evict others."""
    raise NotImplementedError


def allow(user: AbstractBaseUser, ids: Sequence[str]) -> list[Result]:
    """Lets rejected candidates (back to pending) and deleted facts (forgotten) be proposed again."""
    raise NotImplementedError


def undo(user: AbstractBaseUser, decision_id: str = "") -> Result:
    """Takes back a decision of the user ("": their last one) as far as nobody has changed the rows since."""
    raise NotImplementedError
