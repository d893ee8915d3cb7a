"""Sentences of the panel: what an action has really done, and how long ago something was."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from django.contrib.auth.models import AbstractBaseUser
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from chat.memory.core.decide import Result
from chat.memory.core.room import FACTS_MOST
from chat.models import Candidate, Fact
from chat.models.core import FACT_MAX_CHARS
from chat.panel.rules import kind_words, rule_words

_DONE: dict[str, Promise] = {
    "confirm": gettext_lazy("Remembered. It counts from your next message on."),
    "replace": gettext_lazy("Replaced: the new wording counts from your next message on, the old one is in the archive."),
    "reject": gettext_lazy("Not kept, and not proposed again."),
    "later": gettext_lazy("Put off until tomorrow; it stands at the end of the list."),
    "add": gettext_lazy("Remembered. It counts from your next message on."),
    "edit": gettext_lazy("Changed. The new wording counts from your next message on."),
    "pin": gettext_lazy("Pinned: it is always kept when room is made."),
    "unpin": gettext_lazy("No longer pinned."),
    "delete": gettext_lazy("Deleted, also from the records of what the model saw. It is not proposed again."),
    "restore": gettext_lazy("Brought back. It counts from your next message on."),
    "allow": gettext_lazy("Allowed again: it may be proposed once more."),
    "undo": gettext_lazy("Undone."),
}

# What a row has become that an action came too late for.
_BECAME: dict[str, Promise] = {
    "pending": gettext_lazy("Nothing was changed: it already waits for your yes."),
    "confirmed": gettext_lazy("Nothing was changed: it was already confirmed, here or in another window."),
    "rejected": gettext_lazy("Nothing was changed: it was already turned down, here or in another window."),
    "archived": gettext_lazy("Nothing was changed: it is in the archive."),
    "deleted": gettext_lazy("Nothing was changed: it was already deleted, here or in another window."),
}

# What an action finds done on a row that is as it should be for it: by verb and status.
_ALREADY: dict[tuple[str, str], Promise] = {
    ("later", "pending"): gettext_lazy("Nothing was changed: it was already put off."),
    ("pin", "confirmed"): gettext_lazy("Nothing was changed: it was already pinned."),
    ("unpin", "confirmed"): gettext_lazy("Nothing was changed: it was not pinned."),
    ("edit", "confirmed"): gettext_lazy("Nothing was changed: the wording is the same."),
    ("restore", "confirmed"): gettext_lazy("Nothing was changed: it was already brought back."),
}
_NOTHING: Promise = gettext_lazy("Nothing was changed: it had been done already.")


def result_words(user: AbstractBaseUser, verb: str, result: Result) -> str:
    """Says what became of one item."""
    if result.outcome == "done":
        return str(_DONE[verb]) + _eviction_words(user, [result])
    row = _row(user, result.item_id)
    if result.outcome == "already" or (result.outcome == "gone" and row is not None):
        status = row.status if row is not None else ""
        return str(_ALREADY.get((verb, status)) or _BECAME.get(status) or _NOTHING)
    if result.outcome == "duplicate":
        twin = _row(user, result.fact_id)
        return _("Not kept: the same is there already. “%(text)s”") % {"text": twin.text if twin is not None else ""}
    values = {"kinds": kind_words(result.kinds), "rules": rule_words(result.rules), "limit": FACT_MAX_CHARS, "most": FACTS_MOST}
    return {
        "gone": _("It does not exist any more; its conversation may have been deleted. Nothing was changed."),
        "stopped": _("Not kept: the wording holds %(kinds)s (rule: %(rules)s). Take it out and try again; nothing was stored.") % values,
        "ask": _("The wording seems to hold %(kinds)s (rule: %(rules)s). Keep it all the same, or change it?") % values,
        "too_long": _("Not kept: the wording is longer than %(limit)d characters. Shorten it.") % values,
        "empty": _("Not kept: the wording says nothing. Write a sentence."),
        "full": _("Nothing was changed: all %(most)d places are pinned. Unpin or delete something first.") % values,
        "nothing": _("Nothing was changed: there is nothing to undo, or it has been changed since."),
    }[result.outcome]


def results_words(user: AbstractBaseUser, verb: str, results: Sequence[Result]) -> str:
    """Says what became of several items of one action; "" for none."""
    if not results:
        return ""
    if len(results) == 1:
        return result_words(user, verb, results[0])
    numbers = Counter(result.outcome for result in results)
    done, already, gone = numbers["done"], numbers["already"] + numbers["duplicate"], numbers["gone"]
    full = numbers["full"]
    refused = len(results) - done - already - gone - full
    parts = [_done_words(verb, done)]
    if already:
        parts.append(ngettext("%(count)d had been decided already.", "%(count)d had been decided already.", already) % {"count": already})
    if gone:
        parts.append(ngettext("%(count)d does not exist any more.", "%(count)d do not exist any more.", gone) % {"count": gone})
    if full:
        parts.append(ngettext("%(count)d found no room.", "%(count)d found no room.", full) % {"count": full})
    if refused:
        words = ngettext(
            "%(count)d was left: its wording holds something private.",
            "%(count)d were left: their wordings hold something private.",
            refused,
        )
        parts.append(words % {"count": refused})
    return " ".join(parts) + _eviction_words(user, results)


def left_words(count: int) -> str:
    """Says that some candidates of a confirmation were left, since they contradict what is remembered."""
    if not count:
        return ""
    words = ngettext(
        "%(count)d contradicts what is remembered: decide on it by itself.",
        "%(count)d contradict what is remembered: decide on each by itself.",
        count,
    )
    return words % {"count": count}


def _done_words(verb: str, count: int) -> str:
    words = {
        "confirm": ngettext("%(count)d is remembered.", "%(count)d are remembered.", count),
        "reject": ngettext("%(count)d is not kept.", "%(count)d are not kept.", count),
        "later": ngettext("%(count)d is put off until tomorrow.", "%(count)d are put off until tomorrow.", count),
        "delete": ngettext("%(count)d is deleted.", "%(count)d are deleted.", count),
    }.get(verb, ngettext("%(count)d is done.", "%(count)d are done.", count))
    return words % {"count": count}


def _eviction_words(user: AbstractBaseUser, results: Sequence[Result]) -> str:
    """Names what went into the archive to make room; "" for nothing."""
    evicted = [result.evicted_id for result in results if result.evicted_id]
    if not evicted:
        return ""
    if len(evicted) > 1:
        return " " + _("The list was full: %(count)d that were used least lately are in the archive.") % {"count": len(evicted)}
    fact = Fact.objects.for_user(user).filter(pk=evicted[0]).first()
    return " " + _("The list was full: “%(text)s”, used least lately, is in the archive.") % {"text": fact.text if fact is not None else ""}


def _row(user: AbstractBaseUser, item_id: str) -> Candidate | Fact | None:
    rows = Candidate.objects.for_user(user) if item_id.startswith("cand_") else Fact.objects.for_user(user)
    return rows.filter(pk=item_id).first()


def age_words(at: datetime) -> str:
    """How long ago, in the largest whole unit: “3 weeks ago”."""
    seconds = max(0, (timezone.now() - at).total_seconds())
    minutes, hours, days = int(seconds // 60), int(seconds // 3600), int(seconds // 86_400)
    if not minutes:
        return _("just now")
    if not hours:
        return ngettext("%(count)d minute ago", "%(count)d minutes ago", minutes) % {"count": minutes}
    if not days:
        return ngettext("%(count)d hour ago", "%(count)d hours ago", hours) % {"count": hours}
    if days < 14:
        return ngettext("%(count)d day ago", "%(count)d days ago", days) % {"count": days}
    if days < 70:
        return ngettext("%(count)d week ago", "%(count)d weeks ago", days // 7) % {"count": days // 7}
    return ngettext("%(count)d month ago", "%(count)d months ago", days // 30) % {"count": days // 30}
