"""The threat scan as notes need it: it never lets a text through because it failed (specs/notes_memory.md §2.1)."""

import logging
from functools import lru_cache
from typing import Final

from chat.text import threats

log = logging.getLogger(__name__)
FAILED: Final = "scan_failed"


def threat_of(text: str) -> str:
    """The category that stops the text, "" when it may pass; FAILED when the scanner could not tell."""
    try:
        return _category(text)
    except Exception:
        log.exception("The threat scan failed; the text is refused")
        return FAILED


@lru_cache(maxsize=4_096)
def _category(text: str) -> str:
    """Kept for a while: the same entries are shown at the beginning of every thread, and full notes take 40 ms."""
    threat = threats.scan(text)
    return threat.category if threat else ""
