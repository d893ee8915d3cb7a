"""The format of a store: entries separated by a line with `§`, counted in code points (specs/notes_memory.md §1.1, §1.2).

What is read is taken as it was meant: any line ends, a byte order mark, white space around separators, an entry twice.
What is written has one form, so that reading it gives the same entries again.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final

from django.conf import settings

from chat.memory.notes.base import Live, Trouble
from chat.models import NoteTarget
from chat.text.storable import storable

MARK: Final = "§"
SEPARATOR: Final = f"\n{MARK}\n"
PREVIEW_CHARS: Final = 80
NEAR_LIMIT_PERCENT: Final = 90
DRIFT_FACTOR: Final = 2  # a store of more than so many times its limit was not written by us (§1.8)
BOM: Final = "\ufeff"


def trimmed(text: str) -> str:
    """An entry as it is kept: line ends folded, no white space at its ends, nothing that cannot be stored."""
    return _folded_lines(storable(text)).strip()


def separator_line(text: str) -> int:
    """The 1-based number of the first line that would end an entry; 0 when there is none."""
    lines = enumerate(_folded_lines(text).split("\n"), 1)
    return next((number for number, line in lines if line.strip() == MARK), 0)


def parse(text: str) -> list[str]:
    """The entries of a text, trimmed, without empty ones; of equal ones the first.

    A separator may have any white space around its mark, more than the spaces and tabs that §1.1 names: an entry whose
    trimming left the mark alone on a line could not be written.
    """
    found: list[list[str]] = [[]]
    for line in _folded_lines(text).split("\n"):
        if line.strip() == MARK:
            found.append([])
        else:
            found[-1].append(line)
    entries = ("\n".join(lines).strip() for lines in found)
    return unique(entry for entry in entries if entry)


def unique(entries: Iterable[str]) -> list[str]:
    """Each entry once, where it stood first."""
    return list(dict.fromkeys(entries))


def join(entries: Sequence[str]) -> str:
    return SEPARATOR.join(entries)


def size(entries: Sequence[str]) -> int:
    """The length of the store in code points."""
    return sum(map(len, entries)) + len(SEPARATOR) * max(0, len(entries) - 1)


def decode(content: bytes) -> str:
    """The text of a store; UnicodeDecodeError when it is no UTF-8. A byte order mark at its beginning is left out.

    Neither is it text with NUL in it: that is how UTF-16 looks, and no log could hold it.
    """
    if (place := content.find(b"\0")) >= 0:
        raise UnicodeDecodeError("utf-8", content, place, place + 1, "NUL")
    return content.decode("utf-8").removeprefix(BOM)


def encode(entries: Sequence[str]) -> bytes:
    """What is written. An entry that begins with the byte order mark keeps it: the first one in a file is taken off again."""
    text = join(entries)
    return (f"{BOM}{text}" if text.startswith(BOM) else text).encode("utf-8")


def digest(entries: Sequence[str]) -> str:
    """Says whether two stores hold the same entries in the same order."""
    return hashlib.sha256(join(entries).encode()).hexdigest()


def limit_of(target: NoteTarget) -> int:
    """The budget of a store, in code points."""
    return settings.NOTES_USER_CHARS if target == NoteTarget.USER else settings.NOTES_MEMORY_CHARS


def live(content: bytes, limit_chars: int) -> Live:
    """A store as it is now. One that is no UTF-8 is told by the digest of its bytes."""
    try:
        text = decode(content)
    except UnicodeDecodeError:
        return unreadable(limit_chars, hashlib.sha256(content).hexdigest())
    entries = parse(text)
    chars = size(entries)
    return Live(tuple(entries), text, chars, limit_chars, digest(entries), _trouble(entries, chars, limit_chars))


def unreadable(limit_chars: int, mark: str = "") -> Live:
    return Live((), "", 0, limit_chars, mark, "unreadable")


def _trouble(entries: Sequence[str], chars: int, limit_chars: int) -> Trouble:
    if chars > DRIFT_FACTOR * limit_chars or any(len(entry) > limit_chars for entry in entries):
        return "drift"
    return "over_budget" if chars > limit_chars else ""


def percent(chars: int, limit_chars: int) -> int:
    """How full a store is: rounded down, 100 at most."""
    return min(100, chars * 100 // limit_chars)


def usage(chars: int, limit_chars: int) -> str:
    """`7% — 159/2,200 chars`."""
    return f"{percent(chars, limit_chars)}% — {usage_of_limit(chars, limit_chars)} chars"


def usage_of_limit(chars: int, limit_chars: int) -> str:
    """`159/2,200`, as errors say it."""
    return f"{chars:,}/{limit_chars:,}"


def preview(entry: str) -> str:
    """The beginning of an entry in one line, of at most PREVIEW_CHARS. Sent back as `old_text` it is found (matching)."""
    line = " ".join(entry.split())
    return line if len(line) <= PREVIEW_CHARS else f"{line[:PREVIEW_CHARS]}…"


def previews_apart(entries: Sequence[str]) -> list[str]:
    """Previews of which no two are the same where the entries differ: those that begin alike start where they part."""
    shown = [preview(entry) for entry in entries]
    if len(set(shown)) == len(shown):
        return shown
    lines = [" ".join(entry.split()) for entry in entries]
    shared = next((i for i, chars in enumerate(zip(*lines, strict=False)) if len(set(chars)) > 1), min(map(len, lines)))
    start = max(0, shared - PREVIEW_CHARS // 2)
    ends = [line[start : start + PREVIEW_CHARS] for line in lines]
    return [f"…{end}{'…' if len(line) > start + PREVIEW_CHARS else ''}" for line, end in zip(lines, ends, strict=True)]


def _folded_lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
