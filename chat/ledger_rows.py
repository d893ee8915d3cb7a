"""Ledger rows: what the model was told, in words for its owner (DESIGN §4)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from chat.ledger_sources import Named
from chat.library.sources import Source
from chat.memory.base import Segment
from chat.memory.blocked import category_of
from chat.memory.ledger import from_row
from chat.memory.notes.guide import GUIDE
from chat.memory.notes.snapshot import ABOUT
from chat.models import RunLedger
from chat.panel.threat_words import category_words

SEGMENT_WORDS: dict[str, Promise] = {
    "system": gettext_lazy("Instructions of the assistant"),
    "core": gettext_lazy("Core memory"),
    "thread": gettext_lazy("Earlier in this conversation"),
    "recall": gettext_lazy("Related history"),
    "external": gettext_lazy("Related history from the memory backend"),
    "knowledge": gettext_lazy("Knowledge"),
    "continue": gettext_lazy("The last artifact"),
    "question": gettext_lazy("Your question"),
}

REASON_WORDS: dict[str, Promise] = {
    "budget": gettext_lazy("the room for memory was used up"),
    "share": gettext_lazy("it is longer than its share of the room"),
    "summary": gettext_lazy("the summary is longer than its room"),
    "duplicate": gettext_lazy("it says the same as another one"),
    "consent": gettext_lazy("it was said with an assistant of another service, and you have not agreed that it goes to this one"),
    "older": gettext_lazy("they are older than the rounds that fit"),
}


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a segment's text; `label` names it, "" where it needs none. All pieces together are the text."""

    text: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class SegmentRow:
    """One segment. `cuts` are sentences that say what was shortened or left out, and why; `finds` say why a source was found.
    `sources` are the passages of it that can be opened, `named` the other rows that have a name, `source_ids` the rest.

    Without `has_budget` it is never cut.
    """

    name: str
    label: str
    parts: list[Part]
    tokens: int
    budget_tokens: int
    has_budget: bool
    use: str
    cuts: list[str]
    finds: list[str]
    source_ids: list[str]
    sources: list[Source]
    named: list[Named]


@dataclass(frozen=True, slots=True)
class LedgerPage:
    lead: str
    segments: list[SegmentRow]
    tools: list[str]


def ledger_page(row: RunLedger, sources: Iterable[Source] = (), named: Mapping[str, Named] | None = None) -> LedgerPage:
    """The stored ledger in the active language; passages are called by the names of their documents, as far as `sources` has
    them, and other rows by theirs.
    """
    by_id: dict[str, Source | Named] = dict(named or {}) | {source.passage_id: source for source in sources if source.address}
    ledger = from_row(row)
    lead = _("%(total)s tokens went to the model with the first request; memory used %(used)s of the %(budget)s it may use.") % {
        "total": f"{row.total_tokens:,}",
        "used": f"{row.shared_tokens:,}",
        "budget": f"{row.shared_budget_tokens:,}",
    }
    if row.is_estimate:
        lead = _("%(lead)s The counts are an estimate.") % {"lead": lead}
    return LedgerPage(lead, [_segment_row(one, by_id) for one in ledger.segments], ledger.tools)


def _segment_row(segment: Segment, by_id: Mapping[str, Source | Named]) -> SegmentRow:
    use = {"tokens": f"{segment.tokens:,}", "budget": f"{segment.budget_tokens:,}"}
    words, parts = SEGMENT_WORDS.get(segment.name), _parts(segment)
    label = str(words) if words else segment.name
    known = [by_id[one] for one in segment.source_ids if one in by_id]
    cuts = [_cut_words(cut, by_id, is_whole=False) for cut in segment.truncated]
    cuts += [_cut_words(cut, by_id, is_whole=True) for cut in segment.dropped]
    return SegmentRow(
        name=segment.name,
        label=_("%(segment)s, with the notes") % {"segment": label} if any(one.label for one in parts) else label,
        parts=parts,
        tokens=segment.tokens,
        budget_tokens=segment.budget_tokens,
        has_budget=segment.priority > 0,
        use=_("%(tokens)s of %(budget)s tokens") % use if segment.priority else _("%(tokens)s tokens, never cut") % use,
        cuts=cuts,
        finds=[_find_words(note, by_id) for note in segment.notes],
        source_ids=[one for one in segment.source_ids if one not in by_id],
        sources=[one for one in known if isinstance(one, Source)],
        named=[one for one in known if isinstance(one, Named)],
    )


def _parts(segment: Segment) -> list[Part]:
    """The text; of the system part the frozen notes apart, which stand between the prompts and the rules (chat.memory.read)."""
    text = segment.text
    start = min((at for at in (text.find(ABOUT), text.find(GUIDE)) if at >= 0), default=-1) if segment.name == "system" else -1
    if start < 0:
        return [Part(text)]
    end = text.rfind("\n\n", start)
    end = end if end > start else len(text)
    parts = [Part(text[:start]), Part(text[start:end], _("Notes, as this conversation knows them")), Part(text[end:])]
    return [one for one in parts if one.text]


def _name_of(source_id: object, by_id: Mapping[str, Source | Named]) -> object:
    source = by_id.get(str(source_id))
    return source.mark.title if source is not None else source_id


def _find_words(note: Mapping[str, Any], by_id: Mapping[str, Source | Named]) -> str:
    if "category" in note:  # of a memory backend, which does not say by which words it found something
        values = {"id": note.get("id"), "score": f"{float(note.get('score', 0)):.2f}", "category": note.get("category")}
        return _("%(id)s (%(category)s) is related with %(score)s of 1.") % values
    values = {
        "id": _name_of(note.get("id"), by_id),
        "score": f"{float(note.get('score', 0)):.2f}",
        "words": ", ".join(map(str, note.get("matched", []))),
    }
    return _("%(id)s is related with %(score)s of 1: %(words)s.") % values


def _reason_words(reason: str) -> str:
    if category := category_of(reason):
        return _("the safety check stopped it, as it reads like %(what)s") % {"what": category_words(category)}
    return str(REASON_WORDS.get(reason, reason))


def _cut_words(cut: Mapping[str, Any], by_id: Mapping[str, Source | Named], *, is_whole: bool) -> str:
    reason = _reason_words(str(cut.get("reason", "")))
    values = {
        "id": _name_of(cut.get("id"), by_id),
        "tokens": cut.get("tokens", 0),
        "count": cut.get("count", 0),
        "reason": reason,
    }
    if values["count"]:
        return _("%(count)s rounds left out: %(reason)s.") % values
    if is_whole:
        return _("%(id)s left out: %(reason)s.") % values
    return _("%(id)s shortened by %(tokens)s tokens: %(reason)s.") % values
