"""Note lines: what a round has done to the notes, from the log of operations and never from what the model says (DESIGN §5).

Words are chosen when a line is made: activate the viewer's language first.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _

from chat.memory.notes.journal import is_erased
from chat.memory.notes.review_report import short
from chat.memory.notes.storage import NAMES
from chat.models import NoteOp, NoteTarget, Run

LINES_MOST = 100  # of one conversation that are told anew when something changes
# Which of the model's tools can leave a line.
WRITERS = frozenset({"memory_add", "memory_replace", "memory_remove", "memory_batch"})
_UNDOABLE = {NoteOp.Action.ADD, NoteOp.Action.REPLACE, NoteOp.Action.REMOVE, NoteOp.Action.BATCH}


@dataclass(frozen=True, slots=True)
class NoteChange:
    """One entry that an operation touched: `words` say how; `old` and `new` are whole, "" where there was or is none."""

    words: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class NoteLine:
    """One operation. `said` is what became of an attempt to undo it just now; `changes` are shown when `has_more` than the words say.

    `address` is where a person decides on it, "" unless it waits.
    """

    id: str
    state: str
    words: str
    changes: list[NoteChange] = field(default_factory=list)
    has_more: bool = False
    is_undoable: bool = False
    address: str = ""
    said: str = ""
    is_news: bool = False  # it was just acted on here, so the focus goes on from it


@dataclass(frozen=True, slots=True)
class RoundNotes:
    """All lines of one round, oldest first. `is_unsaved`: the answer says that it has saved something, and nothing was written."""

    run_id: str
    lines: list[NoteLine]
    is_unsaved: bool = False


def notes_of(user: AbstractBaseUser, runs: Iterable[Run]) -> dict[str, list[NoteLine]]:
    """The lines of each of these runs that has some; no query when none of them has (chat.models.run, `with_memory`)."""
    ids = [run.pk for run in runs if getattr(run, "has_notes", True)]
    return _lines(NoteOp.objects.for_user(user).filter(run_id__in=ids)) if ids else {}


def notes_of_run(user: AbstractBaseUser, run_id: str, *, said: Mapping[str, str] | None = None) -> RoundNotes:
    """The lines of one run as they are now. `said` are words about operations that were just acted on, by id."""
    return RoundNotes(run_id, _lines(NoteOp.objects.for_user(user).filter(run_id=run_id), said or {}).get(run_id, []))


def notes_of_thread(user: AbstractBaseUser, thread_id: str) -> list[RoundNotes]:
    """The newest lines of a conversation, by round."""
    ops = NoteOp.objects.for_user(user).filter(thread_id=thread_id, run__isnull=False).exclude(action=NoteOp.Action.UNDO)
    newest = list(ops.order_by("-created_at", "-pk").values_list("run_id", flat=True)[:LINES_MOST])
    if not newest:
        return []
    return [RoundNotes(run_id, lines) for run_id, lines in _lines(NoteOp.objects.for_user(user).filter(run_id__in=set(newest))).items()]


def notes_html(notes: RoundNotes) -> str:
    """The part of a round that holds its lines."""
    return render_to_string("chat/thread/_notes.html", {"notes": notes}).strip()


def _lines(ops: Any, said: Mapping[str, str] | None = None) -> dict[str, list[NoteLine]]:  # noqa: ANN401  a queryset of NoteOp
    found: dict[str, list[NoteLine]] = defaultdict(list)
    for op in ops.exclude(action=NoteOp.Action.UNDO).order_by("created_at", "pk"):
        found[op.run_id].append(note_line(op, said=(said or {}).get(op.pk)))
    return dict(found)


def note_line(op: NoteOp, *, said: str | None = None) -> NoteLine:
    """One operation in words."""
    changes = changes_of(op)
    words, has_more = _words(op, changes)
    return NoteLine(
        id=op.pk,
        state=op.state,
        words=words,
        changes=changes,
        has_more=has_more,
        is_undoable=op.state == NoteOp.State.APPLIED and op.action in _UNDOABLE and bool(op.changes) and not is_erased(op),
        address=f"{reverse('memory')}#pending" if op.state == NoteOp.State.STAGED else "",
        said=said or "",
        is_news=said is not None,
    )


def changes_of(op: NoteOp) -> list[NoteChange]:
    """The entries that it touched or, while it waits and that is not known, what was asked for."""
    rows = op.changes or _asked(op.action, op.request)
    return [_change(row.get("old") or "", row.get("new") or "") for row in rows]


def _asked(action: str, request: Mapping[str, Any]) -> list[dict[str, Any]]:
    if action == NoteOp.Action.BATCH:
        return [row for one in request.get("operations") or () for row in _asked(str(one.get("action")), one)]
    return [{"old": request.get("old_text"), "new": request.get("content")}]


def _change(old: str, new: str) -> NoteChange:
    action = NoteOp.Action.REPLACE if old and new else NoteOp.Action.REMOVE if old else NoteOp.Action.ADD
    return NoteChange(str(action.label), old, new)


def _words(op: NoteOp, changes: Collection[NoteChange]) -> tuple[str, bool]:
    """The sentence of the line, and whether there is more to see than it says."""
    one = next(iter(changes)) if len(changes) == 1 else None
    old, new = (short(one.old), short(one.new)) if one is not None else ("", "")
    values = {"file": NAMES[NoteTarget(op.target)], "old": old, "new": new, "count": len(changes)}
    kind = "batch" if one is None else "replace" if old and new else "remove" if old else "add"
    sentence = {
        "applied": {
            "add": _("Noted in %(file)s: %(new)s"),
            "replace": _("Changed in %(file)s: %(old)s → %(new)s"),
            "remove": _("Removed from %(file)s: %(old)s"),
            "batch": _("%(count)d changes in %(file)s"),
        },
        "staged": {
            "add": _("Waits for your yes: note in %(file)s: %(new)s"),
            "replace": _("Waits for your yes: change in %(file)s: %(old)s → %(new)s"),
            "remove": _("Waits for your yes: remove from %(file)s: %(old)s"),
            "batch": _("Waits for your yes: %(count)d changes in %(file)s"),
        },
        "rejected": {
            "add": _("Not noted, as you decided: %(new)s"),
            "replace": _("Not changed, as you decided: %(old)s"),
            "remove": _("Not removed, as you decided: %(old)s"),
            "batch": _("%(count)d changes in %(file)s not made, as you decided"),
        },
        "undone": {
            "add": _("Taken back, no longer in %(file)s: %(new)s"),
            "replace": _("Taken back, in %(file)s again: %(old)s"),
            "remove": _("Taken back, in %(file)s again: %(old)s"),
            "batch": _("%(count)d changes in %(file)s taken back"),
        },
    }[op.state][kind]
    is_cut = one is not None and (old, new) != (one.old, one.new)
    return sentence % values, kind == "batch" or is_cut or (kind == "replace" and op.state in ("applied", "staged"))
