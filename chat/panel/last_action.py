"""The last thing that a person did here and may take back: on memories, on notes, or on what waits of both."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Q, QuerySet
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.memory.core.journal import UNDO_DELETE
from chat.models import Decision, NoteOp
from chat.panel.note_ops import happened_words

_BY_HAND = (NoteOp.Origin.PANEL, NoteOp.Origin.UPLOAD)


@dataclass(frozen=True, slots=True)
class LastAction:
    """`id` is that of a Decision, or of an operation on a store of notes, whose name `target` then is."""

    id: str
    words: str
    at: datetime
    target: str = ""

    @property
    def address(self) -> str:
        """Where a form that takes it back goes."""
        return reverse("note-op", args=[self.id]) if self.is_note else reverse("memory-undo")

    @property
    def is_note(self) -> bool:
        return bool(self.target)


def last_action(user: AbstractBaseUser, tenant_id: str) -> LastAction | None:
    """The user's last decision on what waits or on a memory that has not been taken back."""
    recent = Decision.objects.for_user(user).filter(tenant_id=tenant_id, created_at__gt=timezone.now() - UNDO_DELETE)
    row = recent.filter(undone_by=None).exclude(verb=Decision.Verb.UNDO).order_by("-created_at", "-pk").first()
    decided = LastAction(row.pk, row.get_verb_display(), row.created_at) if row is not None else None
    noted = _last(_actions(user, tenant_id).filter(decided_at__isnull=False))
    if decided is None or noted is None:
        return decided or noted
    return max(decided, noted, key=lambda one: one.at)


def last_note_action(user: AbstractBaseUser, tenant_id: str) -> LastAction | None:
    """The user's last decision on notes, or change of them by hand, that has not been taken back."""
    return _last(_actions(user, tenant_id).filter(Q(decided_at__isnull=False) | Q(origin__in=_BY_HAND)))


def _actions(user: AbstractBaseUser, tenant_id: str) -> QuerySet[NoteOp]:
    own = NoteOp.objects.for_user(user).filter(tenant_id=tenant_id, undone_by=None)
    done = own.filter(state__in=[NoteOp.State.APPLIED, NoteOp.State.REJECTED]).exclude(action=NoteOp.Action.UNDO)
    return done.annotate(acted_at=Coalesce("decided_at", "created_at")).filter(acted_at__gt=timezone.now() - UNDO_DELETE)


def _last(found: QuerySet[NoteOp]) -> LastAction | None:
    row = found.order_by("-acted_at", "-pk").first()
    if row is None:
        return None
    words = _("a change of notes turned down") if row.state == NoteOp.State.REJECTED else happened_words(row.action)
    return LastAction(row.pk, words, row.decided_at or row.created_at, row.target)
