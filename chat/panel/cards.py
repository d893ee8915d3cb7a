"""One candidate or fact with what a person needs to decide on it: where it goes, what it contradicts, what looks like it."""

import re
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from django.contrib.auth.models import AbstractBaseUser
from django.urls import reverse
from django.utils import timezone

from chat.models import Candidate, Fact, NoteOp, Run, RunLedger
from chat.panel.twins import Twin
from chat.transcript import PAGE_RUNS

_PIECES = re.compile(r"[A-Za-z]+|\d+|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a wording; `is_changed` when the other wording does not have it."""

    text: str
    is_changed: bool


@dataclass(frozen=True, slots=True)
class Contradiction:
    """The confirmed fact that a candidate would replace, and both wordings with what differs."""

    fact: Fact
    old: list[Piece]
    new: list[Piece]


def source_address(row: Candidate | Fact | NoteOp) -> str:
    """The round that the row came from, in its conversation; "" when it is gone, or was typed or imported.

    The row comes from chat.panel.lists or note_ops, which know the round's place: older rounds stand on an earlier part of the page.
    """
    thread_id, slot, last_slot = (getattr(row, name, None) for name in ("source_thread", "source_slot", "last_slot"))
    if thread_id is None or slot is None or last_slot is None:
        return ""
    address = reverse("thread", args=[thread_id])
    if last_slot - slot >= PAGE_RUNS:
        address += f"?before={slot + PAGE_RUNS // 2}"
    return f"{address}#{getattr(row, 'source_run_id', '')}"  # of a NoteOp an annotation


@dataclass(slots=True)
class CandidateCard:
    """`error` and `accepted` belong to an edit that was not kept: why, and what a second yes would accept."""

    row: Candidate
    contradiction: Contradiction | None = None
    twins: list[Twin] = field(default_factory=list)
    is_editing: bool = False
    draft: str = ""
    error: str = ""
    accepted: str = ""
    is_shared: bool | None = None
    template: str = "chat/memory/_candidate.html"

    @property
    def source(self) -> str:
        return source_address(self.row)

    @property
    def is_later(self) -> bool:
        return self.row.later_until is not None and self.row.later_until > timezone.now()


@dataclass(slots=True)
class FactCard:
    """As CandidateCard, for a fact."""

    row: Fact
    is_editing: bool = False
    draft: str = ""
    error: str = ""
    accepted: str = ""
    is_shared: bool | None = None

    @property
    def source(self) -> str:
        return source_address(self.row)


@dataclass(frozen=True, slots=True)
class UsedFact:
    id: str
    fact: Fact | None

    @property
    def is_readable(self) -> bool:
        return self.fact is not None and self.fact.status != Fact.Status.DELETED


def candidate_card(row: Candidate) -> CandidateCard:
    """The row comes with its assistant and `contradicts`."""
    old = row.contradicts
    contradiction = None
    if old is not None and old.status == Fact.Status.CONFIRMED:
        contradiction = Contradiction(old, *diff(old.text, row.text))
    return CandidateCard(row, contradiction)


def diff(old: str, new: str) -> tuple[list[Piece], list[Piece]]:
    """Both wordings in pieces, by characters for Chinese and by words for Latin letters."""
    before, after = _PIECES.findall(old), _PIECES.findall(new)
    old_pieces, new_pieces = [], []
    for kind, old_from, old_to, new_from, new_to in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if old_to > old_from:
            old_pieces.append(Piece("".join(before[old_from:old_to]), kind != "equal"))
        if new_to > new_from:
            new_pieces.append(Piece("".join(after[new_from:new_to]), kind != "equal"))
    return old_pieces, new_pieces


def facts_used(user: AbstractBaseUser, run: Run) -> list[UsedFact]:
    """The memories that stood in the prompt of a run, in its order; what is gone since is still named."""
    row = RunLedger.objects.filter(run_id=run.pk).first()
    ids: list[str] = next((one["source_ids"] for one in row.segments if one["name"] == "core"), []) if row is not None else []
    facts = Fact.objects.for_user(user).select_related("agent").in_bulk(ids)
    return [UsedFact(fact_id, facts.get(fact_id)) for fact_id in ids]
