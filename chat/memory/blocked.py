"""What may not go into a prompt: the threat scan for all of memory, never letting a text through because it failed (DESIGN §7).

A hit stays in the store and is marked on the pages; the layers and tools leave it out, and the ledger says why.
"""

import logging
from functools import lru_cache
from typing import Final

from chat.text import threats

log = logging.getLogger(__name__)
FAILED: Final = "scan_failed"
_REASON: Final = "threat:"
# Marks of a role and of our boundary: in what is told as history `text.boundary.clean` defuses them (specs/notes_memory.md §2.1).
_DEFUSED: Final = frozenset({"fence_breakout"})


def threat_of(text: str) -> str:
    """The category that stops the text, "" when it may pass; FAILED when the scanner could not tell."""
    return next(iter(_checked(text)), "")


def threat_in_history(text: str) -> str:
    """As `threat_of`, for what was said in conversations: marks of a role alone do not stop it, as they are defused."""
    return next((category for category in _checked(text) if category not in _DEFUSED), "")


def reason_of(category: str) -> str:
    """What a ledger notes of a part that was left out."""
    return f"{_REASON}{category}"


def category_of(reason: str) -> str:
    """The category of such a reason; "" for any other reason."""
    return reason.removeprefix(_REASON) if reason.startswith(_REASON) else ""


def _checked(text: str) -> tuple[str, ...]:
    try:
        return _categories(text)
    except Exception:
        log.exception("The threat scan failed; the text is left out")
        return (FAILED,)


@lru_cache(maxsize=4_096)
def _categories(text: str) -> tuple[str, ...]:
    """Kept for a while: the same facts, passages and notes are told again and again, and 1,000 characters take 1 to 4 ms."""
    return tuple(dict.fromkeys(threat.category for threat in threats.scan_all(text)))
