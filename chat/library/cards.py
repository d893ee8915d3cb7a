"""One document in words: its state, what it is, why it could not be read or kept, and what can be done about it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.template.defaultfilters import filesizeformat
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from chat.documents.base import FORMATS
from chat.models import Agent, Document

FORMAT_WORDS: dict[str, str | Promise] = {"md": "Markdown", "txt": gettext_lazy("Text"), "docx": "Word", "pdf": "PDF"}


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a file could not be read, and the way out."""

    what: Promise
    advice: Promise


# One for each code of chat.documents.base, and for what else the worker writes.
FAILURES: dict[str, Failure] = {
    "empty": Failure(
        gettext_lazy("There is no text in the file."), gettext_lazy("Check that the right file was saved, and upload it again.")
    ),
    "unsupported": Failure(
        gettext_lazy("Files of this kind cannot be read."), gettext_lazy("Save it as PDF, Word (docx), Markdown or text, and upload that.")
    ),
    "not_what_it_says": Failure(
        gettext_lazy("The file is not what its name says."),
        gettext_lazy("Open it in its program, save it once more in the right format, and upload that."),
    ),
    "unknown_encoding": Failure(
        gettext_lazy("The encoding of the text is not known."), gettext_lazy("Save it as UTF-8, in Notepad by “Save as”, and upload that.")
    ),
    "encrypted": Failure(
        gettext_lazy("The file is protected by a password."), gettext_lazy("Save a copy without the password, and upload that.")
    ),
    "scanned": Failure(
        gettext_lazy("The pages are pictures without text, as from a scanner."),
        gettext_lazy("Let a program recognise the text (OCR), and upload the result."),
    ),
    "broken": Failure(gettext_lazy("The file is damaged."), gettext_lazy("Open it in its program, save it once more, and upload that.")),
    "too_large": Failure(gettext_lazy("The file is too large."), gettext_lazy("Split it into several files.")),
    "bomb": Failure(
        gettext_lazy("Unpacked, the file would be far larger than it looks, so it was not opened."),
        gettext_lazy("Save its text as a new file, and upload that."),
    ),
    "too_many_pages": Failure(gettext_lazy("The file has too many pages."), gettext_lazy("Split it into several files.")),
    "too_much_text": Failure(gettext_lazy("There is too much text in the file."), gettext_lazy("Split it into several files.")),
    "too_slow": Failure(
        gettext_lazy("Reading the file took too long and was given up."),
        gettext_lazy("Split it into several files, or save it in a simpler format."),
    ),
}
_UNKNOWN = Failure(
    gettext_lazy("Something went wrong inside the program while the file was read."),
    gettext_lazy("Try again; if it happens once more, please tell the administrator."),
)

# Why a change was not done: the codes of chat.memory.knowledge.keep.DocumentRefused, and those of chat.library.uploads.
REFUSALS: dict[str, Promise] = {
    "not_found": gettext_lazy("This document does not exist any more."),
    "not_administrator": gettext_lazy("Only administrators of the school can change its documents."),
    "agent_unknown": gettext_lazy("One of the assistants is no longer offered. Choose again."),
    "name_invalid": gettext_lazy("The file has no name."),
    "unsupported": gettext_lazy("Files of this kind cannot be read. Save it as PDF, Word (docx), Markdown or text, and upload that."),
    "empty": gettext_lazy("The file is empty."),
    "too_large": gettext_lazy("It is larger than %(limit_mb)d MB, the most for one file. Split it into several files."),
    "same_file": gettext_lazy("The same file is here already, as “%(name)s”."),
    "too_many_documents": gettext_lazy("There are %(limit)d documents already, and no more can be kept. Delete some first."),
    "school_full": gettext_lazy(
        "The documents of the school fill all of their %(limit_mb)d MB. Delete some first, or ask the administrator."
    ),
    "not_current": gettext_lazy("There is a newer version meanwhile. Open that one."),
    "not_failed": gettext_lazy("Nothing was changed: it is being read already."),
    "too_fast": gettext_lazy("Those were many files in a short time. Wait a minute, then go on."),
    "no_file": gettext_lazy("Choose a file first."),
}
_NOT_DONE = gettext_lazy("This was not possible just now. Nothing was changed.")


def refusal_words(code: str, values: Mapping[str, Any]) -> str:
    """Says why a file was not kept or a change not done."""
    return str(REFUSALS.get(code, _NOT_DONE)) % values


@dataclass(slots=True)
class DocumentCard:
    """A document as its row shows it. `newer` is the version that will take its place, while it is not ready."""

    row: Document
    agents: list[Agent] = field(default_factory=list)
    newer: Document | None = None
    may_write: bool = False

    @property
    def id(self) -> str:
        return self.row.pk

    @property
    def is_school(self) -> bool:
        return self.row.user_id is None

    @property
    def latest(self) -> Document:
        """The version whose state is of interest."""
        return self.newer or self.row

    @property
    def is_going(self) -> bool:
        return self.latest.state in (Document.State.WAITING, Document.State.READING)

    @property
    def facts(self) -> list[str]:
        return facts_of(self.row)

    @property
    def state_words(self) -> str:
        return state_words(self.latest)

    @property
    def failure(self) -> str:
        return failure_words(self.latest)

    @property
    def is_retryable(self) -> bool:
        """Whether reading the same bytes again may end otherwise."""
        return self.may_write and self.latest.state == Document.State.FAILED and self.latest.error_code not in _CERTAIN

    @property
    def live(self) -> tuple[object, ...]:
        """What changes by itself while the worker reads."""
        latest = self.latest
        return (self.row.pk, latest.pk, latest.state, latest.parts_done, latest.parts_total, self.row.passage_count, latest.error_code)


# What the bytes are will not change by reading them again.
_CERTAIN = frozenset(FAILURES) - {"too_slow"}


def facts_of(document: Document) -> list[str]:
    """Format, size, passages and version, as far as there is something to say."""
    facts = [str(FORMAT_WORDS.get(document.format, document.format)), filesizeformat(document.size)]
    if document.state == Document.State.READY:
        facts.append(passages_words(document.passage_count))
    if document.version > 1:
        facts.append(_("version %(number)d") % {"number": document.version})
    return facts


def passages_words(number: int) -> str:
    return ngettext("%(count)s passage", "%(count)s passages", number) % {"count": f"{number:,}"}


def state_words(document: Document) -> str:
    """How far it is, in a few words."""
    if document.state == Document.State.WAITING:
        return _("Waiting to be read")
    if document.state == Document.State.READING:
        if not document.parts_total:
            return _("Being read")
        numbers = {"done": f"{document.parts_done:,}", "total": f"{document.parts_total:,}"}
        return (
            _("Being read: page %(done)s of %(total)s") if document.format == "pdf" else _("Being read: part %(done)s of %(total)s")
        ) % numbers
    return _("Ready") if document.state == Document.State.READY else _("Could not be read")


def failure_words(document: Document) -> str:
    """Why it could not be read and what can be done; "" for any other."""
    if document.state != Document.State.FAILED:
        return ""
    failure = FAILURES.get(document.error_code, _UNKNOWN)
    return _("%(what)s %(advice)s") % {"what": failure.what, "advice": failure.advice}


def limits() -> dict[str, object]:
    """What may be uploaded, for a form: in words, as its file box takes it, and what its script says before it sends anything."""
    most = {"limit_mb": settings.DOCUMENT_MAX_MB, "formats": " ".join(FORMATS)}
    return {
        "limit_words": _("PDF, Word (docx), Markdown or text; at most %(limit)d MB for each file.") % {"limit": settings.DOCUMENT_MAX_MB},
        "accept": ",".join(f".{ending}" for ending in FORMATS),
        "max_bytes": settings.DOCUMENT_MAX_MB * 1024 * 1024,
        "words_of": {code: refusal_words(code, most) for code in ("too_large", "unsupported", "empty")},
    }
