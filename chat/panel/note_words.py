"""Sentences about notes: what became of a change, and why one was not made. Codes are those of specs/notes_memory.md §1.4."""

from collections.abc import Sequence
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from chat.memory.notes.base import Result
from chat.panel.rules import kind_words
from chat.panel.threat_words import category_words

_DONE: dict[str, Promise] = {
    "save": gettext_lazy("Saved. New conversations begin with this text."),
    "entries": gettext_lazy("Saved as these entries. New conversations begin with this text."),
    "upload": gettext_lazy("The file was taken over. New conversations begin with this text."),
    "add": gettext_lazy("Added. New conversations begin with it."),
    "remove": gettext_lazy("Deleted. New conversations begin without it."),
    "approve": gettext_lazy("Written into the notes. New conversations begin with it."),
    "reject": gettext_lazy("Not written; the notes stay as they are."),
    "undo": gettext_lazy("Undone."),
    "reconsider": gettext_lazy("Undone."),
    "erase": gettext_lazy("Deleted for good. What stands in the notes is unchanged."),
}
_ALREADY: dict[str, Promise] = {
    "add": gettext_lazy("Nothing was changed: this entry stands there already."),
    "approve": gettext_lazy("Nothing was changed: the notes say so already."),
    "erase": gettext_lazy("Nothing was deleted: all of it stands in the notes. Delete it there first."),
}
_LATER = gettext_lazy("The text cannot be changed just now. It is deleted for good as soon as it can be.")
_NOTHING = gettext_lazy("Nothing was changed: the text is the same.")

_WHY: dict[str, Promise] = {
    "empty_content": gettext_lazy("Nothing was written: the entry is empty."),
    "reserved_separator": gettext_lazy("Not written: line %(line)s holds only §, which parts entries. Take it out, or write two entries."),
    "too_long_for_store": gettext_lazy("Not written: the entry has %(chars)s characters, the whole text may have %(limit)s. Shorten it."),
    "over_budget": gettext_lazy("Not written: there is no room for it. %(usage)s characters are used. Delete or shorten something first."),
    "threat_blocked": gettext_lazy(
        "Not written: the text reads like %(threat)s. Notes hold facts, not orders to the assistant. Change the wording and try again."
    ),
    "redline": gettext_lazy("Not written: the text holds %(kinds)s. Take it out and try again; nothing was stored."),
    "ask": gettext_lazy("The text seems to hold %(kinds)s. Keep it all the same, or change it?"),
    "unreadable": gettext_lazy("Not written: the file cannot be read. Look at it on the page of the notes."),
    "unwritable": gettext_lazy("Not written: the disk is full or fails, so nothing was changed. Tell whoever runs this program."),
    "erased": gettext_lazy("Nothing was changed: the wording was deleted for good, so it cannot be brought back."),
    "drift": gettext_lazy(
        "Not written: the text was changed from outside and is far over its budget. Put it in order on the page of the notes."
    ),
    "not_found": gettext_lazy("Nothing was changed: this entry does not stand there any more. It was changed or deleted meanwhile."),
    "ambiguous": gettext_lazy("Nothing was changed: several entries could be meant by now. Change the text by hand."),
    "would_empty": gettext_lazy("Nothing was changed: the text would be empty afterwards. Delete the entries one by one if that is meant."),
    "changed": gettext_lazy("Nothing was changed: the entries have been changed since."),
    "gone": gettext_lazy("It does not exist any more; its conversation may have been deleted. Nothing was changed."),
    "decided": gettext_lazy("Nothing was changed: it was already decided, here or in another window."),
    "conflict": gettext_lazy("Not saved: the text was changed meanwhile. Your draft is kept; compare it with the text as it is now."),
    "busy": gettext_lazy("Not written: somebody else is writing to this text. Try again in a moment."),
    "disabled": gettext_lazy("Not written: memory is switched off."),
    "no_file": gettext_lazy("Choose a file first."),
    "file_too_large": gettext_lazy("Nothing was taken over: the file is larger than 64 KiB. Your draft is kept."),
    "not_text": gettext_lazy("Nothing was taken over: the file is not UTF-8 text (line %(line)s). Save it as UTF-8; your draft is kept."),
}
_OTHER = gettext_lazy("Nothing was changed: it cannot be done as it was asked for.")


def result_words(result: Result, verb: str) -> str:
    """What became of a change; of the payload, which is written for a model, only figures."""
    if result.is_done:
        if result.payload.get("changed") is False:
            return str(_ALREADY.get(verb, _NOTHING))
        if result.payload.get("is_later"):
            return str(_LATER)
        return str(_DONE[verb]) + _near_words(result)
    return str(_WHY.get(result.code, _OTHER)) % _figures(result)


def _figures(result: Result) -> dict[str, Any]:
    payload = result.payload
    chars, limit = payload.get("chars", 0), payload.get("limit", 0)
    return {
        "line": payload.get("line", 1),
        "chars": f"{chars:,}",
        "limit": f"{limit:,}",
        "usage": payload.get("usage", f"{limit:,}"),
        "threat": category_words(result.category),
        "kinds": kind_words([kind for kind in result.category.split(",") if kind]),
    }


def _near_words(result: Result) -> str:
    return " " + _("The text is nearly full.") if result.payload.get("near_limit") else ""


def results_words(verb: str, results: Sequence[Result]) -> str:
    """What became of several changes of one action; "" for none."""
    if not results:
        return ""
    if len(results) == 1:
        return result_words(results[0], verb)
    done = sum(one.is_done for one in results)
    words = {
        "approve": ngettext("%(count)d change of notes was made.", "%(count)d changes of notes were made.", done),
        "reject": ngettext("%(count)d change of notes is turned down.", "%(count)d changes of notes are turned down.", done),
    }[verb]
    parts = [words % {"count": done}] if done else []
    refused = [one for one in results if not one.is_done]
    if refused:
        left = ngettext("%(count)d change of notes was left.", "%(count)d changes of notes were left.", len(refused))
        parts += [left % {"count": len(refused)}, *dict.fromkeys(result_words(one, verb) for one in refused)]
    return " ".join(parts)


def later_words(count: int) -> str:
    """Says that changes of notes cannot be put off; "" for none."""
    words = ngettext("%(count)d change of notes stays where it is.", "%(count)d changes of notes stay where they are.", count)
    return words % {"count": count} if count else ""


def accepted_of(result: Result) -> str:
    """The kinds that a second yes would accept, as a form holds them; "" when the text has to change."""
    return result.category if result.code == "ask" else ""
