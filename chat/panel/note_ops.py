"""Operations on notes as a person reads them: what waits as a card, what happened as a line, each with the whole entries."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import F, QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext_lazy

from chat.memory.notes.erasing import wordings_gone
from chat.memory.notes.journal import is_erased
from chat.models import NoteOp, NoteTarget
from chat.panel.cards import Piece, diff, source_address

QUOTE_CHARS = 90
DIFF_MOST = 1_000_000  # of old times new characters, compared in 0.1 s at worst
LIKE_LEAST = 0.3  # of the longer wording; below it the pieces that are the same by chance say nothing

_TITLES: dict[str, Promise] = {
    NoteOp.Action.ADD: gettext_lazy("Note this"),
    NoteOp.Action.REPLACE: gettext_lazy("Change this note"),
    NoteOp.Action.REMOVE: gettext_lazy("Remove this note"),
}
_HAPPENED: dict[str, Promise] = {
    NoteOp.Action.ADD: pgettext_lazy("history of notes", "Added"),
    NoteOp.Action.REPLACE: pgettext_lazy("history of notes", "Changed"),
    NoteOp.Action.REMOVE: pgettext_lazy("history of notes", "Removed"),
    NoteOp.Action.BATCH: pgettext_lazy("history of notes", "Changed together"),
    NoteOp.Action.EDIT: pgettext_lazy("history of notes", "Edited as a whole"),
    NoteOp.Action.UNDO: pgettext_lazy("history of notes", "Undone"),
}


@dataclass(frozen=True, slots=True)
class EntryChange:
    """What happens to one whole entry. The pieces are empty where there was none, or will be none."""

    old: list[Piece]
    new: list[Piece]


@dataclass(slots=True)
class NoteOpCard:
    """One operation. `is_erasable`: it holds a wording that does not stand in the store any more.

    `error`, `accepted` and `draft` belong to a yes that was refused: why, what a second one would accept,
    and the wording that was sent."""

    row: NoteOp
    changes: list[EntryChange] = field(default_factory=list)
    is_erasable: bool = False
    is_editing: bool = False
    draft: str = ""
    error: str = ""
    accepted: str = ""
    template: str = "chat/memory/_note_op.html"

    @property
    def source(self) -> str:
        return source_address(self.row)

    @property
    def title(self) -> str:
        """What a yes would do."""
        if self.row.action in _TITLES:
            return str(_TITLES[self.row.action])
        count = len(self.changes)
        return ngettext("Change %(count)d note", "Change %(count)d notes together", count) % {"count": count}

    @property
    def happened(self) -> str:
        """What was done, for the history."""
        return happened_words(self.row.action)

    @property
    def is_waiting(self) -> bool:
        return self.row.state == NoteOp.State.STAGED

    @property
    def is_editable(self) -> bool:
        return self.row.action in (NoteOp.Action.ADD, NoteOp.Action.REPLACE)

    @property
    def is_undoable(self) -> bool:
        """Whether a person may take it back; the store has the last word."""
        return self.row.state == NoteOp.State.APPLIED and self.row.action != NoteOp.Action.UNDO and not is_erased(self.row)

    @property
    def wording(self) -> str:
        """The text that an addition or change would leave."""
        return str(self.row.request.get("content") or next((one["new"] for one in self.row.changes if one.get("new")), ""))

    @property
    def quote(self) -> str:
        """The beginning of what the teacher had said; "" for what no message of theirs led to."""
        run = self.row.run
        if run is None:
            return ""
        said = " ".join(run.input.split())
        return said if len(said) <= QUOTE_CHARS else said[: QUOTE_CHARS - 1] + "…"

    @property
    def place(self) -> str:
        """Which store: “About me (USER.md)”, or that of an assistant."""
        if self.row.target == NoteTarget.USER or self.row.agent is None:
            return _("About me (USER.md)")
        return _("Notes of %(name)s (MEMORY.md)") % {"name": self.row.agent.name}


def happened_words(action: str) -> str:
    return str(_HAPPENED[NoteOp.Action(action)])


def own_note_ops(user: AbstractBaseUser) -> QuerySet[NoteOp]:
    """The user's operations with all that a card shows."""
    return with_source(NoteOp.objects.for_user(user))


def with_source(found: QuerySet[Any]) -> QuerySet[Any]:
    """Where an operation comes from: the round, its conversation, and its place in it."""
    return found.select_related("agent", "run", "thread", "undone_by").annotate(
        source_run_id=F("run_id"), source_thread=F("run__thread_id"), source_slot=F("run__slot"), last_slot=F("run__thread__last_position")
    )


def note_op_card(row: NoteOp, entries: Collection[str] | None = None) -> NoteOpCard:
    """The row comes from own_note_ops; `entries` are those of its store as it is now, where wordings can be erased."""
    is_erasable = entries is not None and bool(wordings_gone(row, entries))
    return NoteOpCard(row, changes_of(row.changes), is_erasable=is_erasable)


def changes_of(changes: Iterable[dict[str, Any]]) -> list[EntryChange]:
    return [EntryChange(*entry_diff(one.get("old") or "", one.get("new") or "")) for one in changes]


def entry_diff(old: str, new: str) -> tuple[list[Piece], list[Piece]]:
    """Both entries whole, in pieces: what only one of them has is changed; all of it when they have little in common."""
    if not old or not new:
        return _whole(old), _whole(new)
    head = _same_length(old, new)
    tail = _same_length(old[head:][::-1], new[head:][::-1])
    old_middle, new_middle = old[head : len(old) - tail], new[head : len(new) - tail]
    is_short = len(old_middle) * len(new_middle) <= DIFF_MOST
    found = diff(old_middle, new_middle) if is_short else (_whole(old_middle), _whole(new_middle))
    same = head + tail + sum(len(one.text) for one in found[0] if not one.is_changed)
    if same < LIKE_LEAST * max(len(old), len(new)):
        return _whole(old), _whole(new)
    return _around(old, found[0], head, tail), _around(new, found[1], head, tail)


def _whole(text: str) -> list[Piece]:
    return [Piece(text, is_changed=True)] if text else []


def _same_length(one: str, other: str) -> int:
    """How many characters both begin with."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (left, right) in enumerate(pairs) if left != right), min(len(one), len(other)))


def _around(text: str, middle: list[Piece], head: int, tail: int) -> list[Piece]:
    parts = [Piece(text[:head], is_changed=False), *middle, Piece(text[len(text) - tail :] if tail else "", is_changed=False)]
    return [one for one in parts if one.text]
