"""What a review has done, told from the log of operations alone: never by comparing texts, never from a model's words."""

from dataclasses import dataclass, field
from typing import Any, Literal

from chat.models import NoteOp, NoteReview

LINE_CHARS = 80  # of an entry in a line of a notice or of a round (specs/notes_memory.md §3.2)
Change = Literal["add", "replace", "remove"]
_VERBS = (NoteOp.Action.ADD, NoteOp.Action.REPLACE, NoteOp.Action.REMOVE, NoteOp.Action.BATCH)


@dataclass(frozen=True, slots=True)
class Report:
    """Numbers of entries that were written and that wait, as things stand now; `lines` say which, in order."""

    applied: int = 0
    staged: int = 0
    lines: list[tuple[Change, str]] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        return not self.applied and not self.staged


def report(review: NoteReview) -> Report:
    """What stands in the log under the review's key. What was taken back or turned down since is not counted any more."""
    ops = NoteOp.objects.filter(review_id=review.pk, action__in=_VERBS, state__in=[NoteOp.State.APPLIED, NoteOp.State.STAGED])
    applied = staged = 0
    lines: list[tuple[Change, str]] = []
    for op in ops.order_by("created_at", "pk"):
        told = [_line(change) for change in op.changes]
        lines += told
        if op.state == NoteOp.State.APPLIED:
            applied += len(told)
        else:
            staged += len(told)
    return Report(applied, staged, lines)


def _line(change: dict[str, Any]) -> tuple[Change, str]:
    old, new = change.get("old"), change.get("new")
    verb: Change = "add" if old is None else "remove" if new is None else "replace"
    return verb, short(new if new is not None else old or "")


def short(text: str) -> str:
    """The text on one line of at most LINE_CHARS code points."""
    line = " ".join(text.split())
    return line if len(line) <= LINE_CHARS else line[: LINE_CHARS - 1].rstrip() + "…"
