"""Which entry `old_text` means (specs/notes_memory.md §1.5)."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from chat.memory.blocked import threat_of
from chat.memory.notes.refusals import Refusal
from chat.memory.notes.shown import harmless, key_of, named_key

_ELLIPSIS: Final = "…"


@dataclass(frozen=True, slots=True)
class Match:
    """The place of the entry; `is_folded` when it was only found in the folded view."""

    place: int
    is_folded: bool = False


def find(entries: Sequence[str], old_text: str) -> Match:
    """The one entry that `old_text`, which is trimmed, means; raises Refusal `not_found` or `ambiguous`.

    First the name of a blocked entry, then an entry that equals it, then one that contains it, case-sensitive; then once more
    in the folded view, in which also the previews of our own errors are found.
    """
    if key := named_key(old_text):
        for place, entry in enumerate(entries):
            if key_of(entry) == key and threat_of(entry):
                return Match(place)
    if old_text in entries:
        return Match(entries.index(old_text))
    hits = [place for place, entry in enumerate(entries) if old_text in entry]
    if hits:
        return Match(_only(hits, entries))
    for wanted in dict.fromkeys((_folded(old_text), _folded(old_text.strip(_ELLIPSIS)))):
        views = (_folded(entry) for entry in entries)
        hits = [place for place, view in enumerate(views) if wanted and wanted in view]
        hits = hits or [place for place, entry in enumerate(entries) if wanted and wanted in _folded(harmless(entry))]
        if hits:
            return Match(_only(hits, entries), is_folded=True)
    raise Refusal("not_found")


def _only(hits: Sequence[int], entries: Sequence[str]) -> int:
    if len({entries[place] for place in hits}) > 1:
        raise Refusal("ambiguous", matches=[(place + 1, entries[place]) for place in hits])
    return hits[0]


def _folded(text: str) -> str:
    """Compatibility forms as plain ones, any white space as one blank."""
    return " ".join(unicodedata.normalize("NFKC", text).split())
