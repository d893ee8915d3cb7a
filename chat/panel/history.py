"""What happened to a fact, with its wording before and after (DESIGN §5 L2)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Q
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from chat.models import Candidate, CoreEvent, Decision, Fact
from chat.panel.cards import Piece, diff

HISTORY_EVENTS = 100

# What no person did; the rest are the words of Decision.Verb.
_EVENT_WORDS: dict[str, Promise] = {
    "proposed": _("proposed"),
    "seen": _("learnt once more"),
    "evicted": _("put into the archive to make room"),
    "replaced": _("replaced by another"),
    "used": _("used in an answer"),
}


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """One event. `person` decided it, "" for what happened by itself; the pieces are empty when the wording stayed."""

    words: str
    at: datetime
    person: str
    old: list[Piece]
    new: list[Piece]


def history_of(user: AbstractBaseUser, row: Fact | Candidate) -> list[HistoryLine]:
    """The newest events of a fact and of the candidate that it came from, oldest first; of what is deleted without wordings.

    What a decision did to both is one line: that which tells the wording.
    """
    events = CoreEvent.objects.for_user(user)
    if isinstance(row, Fact):
        origins = CoreEvent.objects.filter(fact_id=row.pk, candidate__isnull=False).values("candidate_id")
        events = events.filter(Q(fact_id=row.pk) | Q(candidate_id__in=origins))
    else:
        events = events.filter(candidate_id=row.pk)
    newest = events.select_related("decision__user").order_by("-created_at", "-pk")[:HISTORY_EVENTS]
    lines: dict[tuple[str, str], CoreEvent] = {}
    for event in reversed(newest):
        key = (event.decision_id or str(event.pk), event.verb)
        if key not in lines or (_wording(event.after) and not _wording(lines[key].after)):
            lines[key] = event
    return [_line(event, has_words=bool(row.text)) for event in lines.values()]


def _line(event: CoreEvent, *, has_words: bool) -> HistoryLine:
    old, new = (_wording(event.before), _wording(event.after)) if has_words else ("", "")
    pieces = diff(old, new) if old and new and old != new else ([], [Piece(new, is_changed=False)] if new and new != old else [])
    return HistoryLine(
        words=event_words(event.verb),
        at=event.created_at,
        person=event.decision.user.get_username() if event.decision is not None else "",
        old=pieces[0],
        new=pieces[1],
    )


def _wording(fields: dict[str, Any]) -> str:
    return str(fields.get("text") or "")


def event_words(verb: str) -> str:
    words = _EVENT_WORDS.get(verb)
    if words is not None:
        return str(words)
    return str(Decision.Verb(verb).label) if verb in Decision.Verb.values else verb
