"""Notices: lines between the rounds of a conversation that are no messages (specs/notes_memory.md §3.2).

Their words are made from the log of operations when they are shown, in the active language: what waited then may have been
decided since.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import urlencode

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Q, QuerySet
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from chat.memory.notes.review_report import Change, Report, report
from chat.memory.notes.shortcut import notice_code
from chat.models import Notice

REVIEW, FAILED = "review", "notes_failed"
# Why “Remember: …” wrote nothing, by the code of the refusal.
_REFUSED: dict[str, Promise] = {
    "unchanged": gettext_lazy("Nothing was changed: the notes say so already."),
    "redline": gettext_lazy("Not noted: the text holds something private. Take it out and send it again."),
    "threat_blocked": gettext_lazy("Not noted: the text reads like an order to the assistant. Say it as a fact and send it again."),
    "over_budget": gettext_lazy("Not noted: there is no room for it. Delete or shorten something first."),
    "too_long_for_store": gettext_lazy("Not noted: the text is longer than the notes may be. Shorten it and send it again."),
    "reserved_separator": gettext_lazy("Not noted: a line holds only §, which parts entries. Take it out and send it again."),
    "unwritable": gettext_lazy("Not noted: the disk is full or fails, so nothing was changed. Tell whoever runs this program."),
    "busy": gettext_lazy("Not noted: somebody else is writing to the notes. Send it again in a moment."),
}
_NOT_NOTED = gettext_lazy("Not noted: the notes cannot be written just now. What stood in them is unchanged.")
_SHORTCUT = notice_code("")
_SIGNS: dict[Change, str] = {"add": "+", "replace": "±", "remove": "−"}
NEWEST = 20  # of one conversation, that are told to open pages when something changes


@dataclass(frozen=True, slots=True)
class NoticeCard:
    """One notice. `after` is the slot of the round behind which it stands; `lines` are what is folded under its words.

    `address` with `way` is where the person goes on from it, both "" when there is nothing to do.
    """

    id: str
    code: str
    after: int
    words: str
    lines: list[str] = field(default_factory=list)
    address: str = ""
    way: str = ""


def notices_between(user: AbstractBaseUser, thread_id: str, first: int, last: int) -> list[NoticeCard]:
    """The notices behind the rounds of these slots, both included, in their order."""
    return _cards(
        _of_thread(user, thread_id).filter(after_slot__gte=first, after_slot__lte=last).order_by("after_slot", "created_at", "pk")
    )


def newest_notices(user: AbstractBaseUser, thread_id: str) -> list[NoticeCard]:
    """The newest notices of a conversation, oldest first."""
    return _cards(reversed(_of_thread(user, thread_id).order_by("-created_at", "-pk")[:NEWEST]))


def notice_html(card: NoticeCard) -> str:
    return render_to_string("chat/thread/_notice.html", {"notice": card}).strip()


def _of_thread(user: AbstractBaseUser, thread_id: str) -> QuerySet[Notice]:
    known = Q(code__in=(REVIEW, FAILED)) | Q(code__startswith=_SHORTCUT)
    return Notice.objects.for_user(user).filter(known, thread_id=thread_id).select_related("review", "thread")


def _cards(notices: Iterable[Notice]) -> list[NoticeCard]:
    return [_review_card(one) if one.code == REVIEW else _failed_card(one) for one in notices]


def _review_card(notice: Notice) -> NoticeCard:
    found = report(notice.review) if notice.review is not None else Report()
    applied = ngettext("%(count)d change", "%(count)d changes", found.applied) % {"count": found.applied}
    staged = ngettext("%(count)d waits for your yes", "%(count)d wait for your yes", found.staged) % {"count": found.staged}
    counts = staged if not found.applied else applied
    if found.applied and found.staged:
        counts = _("%(applied)s, %(staged)s") % {"applied": applied, "staged": staged}
    words = _("The notes were updated (%(counts)s)") if found.applied else _("Something for the notes was found (%(counts)s)")
    return NoticeCard(
        id=notice.pk,
        code=notice.code,
        after=notice.after_slot,
        words=_("Something for the notes was found; nothing of it was kept") if found.is_empty else words % {"counts": counts},
        lines=[f"{_SIGNS[change]} {text}" for change, text in found.lines] if notice.is_verbose else [],
        address=f"{reverse('memory')}#pending" if found.staged else "",
        way=_("Decide on the memory page") if found.staged else "",
    )


def _failed_card(notice: Notice) -> NoticeCard:
    """What happened, and where a person can do it by hand."""
    words = _("The notes could not be written in this round, and the assistant stopped trying. What stood in them is unchanged.")
    if notice.code != FAILED:
        words = str(_REFUSED.get(notice.code.removeprefix(_SHORTCUT), _NOT_NOTED))
    address = f"{reverse('notes')}?{urlencode({'agent': notice.thread.agent_id})}"
    return NoticeCard(notice.pk, notice.code, notice.after_slot, words, address=address, way=_("To the notes"))
