"""The threat scan as notes need it: it never lets a text through because it failed (specs/notes_memory.md §2.1)."""

import logging
from typing import Final

from chat.text import threats

log = logging.getLogger(__name__)
FAILED: Final = "scan_failed"


def threat_of(text: str) -> str:
    """The category that stops the text, "" when it may pass; FAILED when the scanner could not tell."""
    try:
        threat = threats.scan(text)
    except Exception:
        log.exception("The threat scan failed; the text is refused")
        return FAILED
    return threat.category if threat else ""
