"""All that waits for the teacher in one list: changes of notes, then memories."""

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import QuerySet

from chat.models import Candidate, NoteOp
from chat.panel.lists import PENDING_PAGE, SHARED, Filters, Page, page_of, pending_page
from chat.panel.note_ops import own_note_ops

SEARCHED = 500  # of the changes that wait, the oldest: their texts are looked through here, in JSON no database could
_NOTES = "note:"  # a place in the list that is still among the changes of notes


def waiting_page(
    user: AbstractBaseUser, tenant_id: str, filters: Filters, after: str = "", size: int = PENDING_PAGE
) -> Page[NoteOp | Candidate]:
    """A part of what waits. Changes of notes stand first, oldest first, since one may build on another."""
    rows: list[NoteOp | Candidate] = []
    if not after or after.startswith(_NOTES):
        notes = _notes_page(user, tenant_id, filters, after.removeprefix(_NOTES), size)
        if notes.more:
            return Page(list(notes.rows), _NOTES + notes.more)
        rows, after = list(notes.rows), ""
    memories = pending_page(user, tenant_id, filters, after, max(1, size - len(rows)))
    return Page(rows + list(memories.rows), memories.more)


def _notes_page(user: AbstractBaseUser, tenant_id: str, filters: Filters, after: str, size: int) -> Page[NoteOp]:
    if filters.kind:  # notes have none
        return Page([], "")
    found: QuerySet[Any] = own_note_ops(user).filter(tenant_id=tenant_id, state=NoteOp.State.STAGED)
    if filters.scope:
        found = found.filter(agent=None) if filters.scope == SHARED else found.filter(agent_id=filters.scope)
    order = ("-created_at", "-pk") if filters.order == "newest" else ("created_at", "pk")
    if filters.q:
        return Page([row for row in found.order_by(*order)[:SEARCHED] if _has_words(row, filters.q)], "")
    return page_of(found, order, after, size)


def _has_words(row: NoteOp, words: str) -> bool:
    texts = [one.get(name) or "" for one in row.changes for name in ("old", "new")]
    return any(words.casefold() in text.casefold() for text in [*texts, row.reason])


def split_ids(ids: Sequence[str]) -> tuple[list[str], list[str]]:
    """Keys of memories and of changes of notes, which come from one form."""
    notes = [one for one in ids if one.startswith("nop_")]
    return [one for one in ids if not one.startswith("nop_")], notes
