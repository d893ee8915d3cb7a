"""How an entry is put before a model: harmless, or as a placeholder when the threat scan stops it (specs/notes_memory.md §1.10, §1.11).

Nothing of this is ever stored: a placeholder that stood in a file would be scanned like any other text.
"""

import hashlib
import re
from typing import Final

from chat.memory.blocked import threat_of
from chat.memory.notes.base import Place
from chat.memory.notes.storage import NAMES
from chat.text.boundary import clean

KEY_CHARS: Final = 6
_KEY: Final = re.compile(rf"#([0-9a-f]{{{KEY_CHARS}}})|\[已屏蔽 #([0-9a-f]{{{KEY_CHARS}}})：.*", re.DOTALL)
_RULE: Final = re.compile(
    r"═{12,}|^[ \t]*═{4,}[ \t]*$", re.MULTILINE
)  # as stands around the titles of a snapshot's blocks (chat.text.note_frame)


def key_of(entry: str, chars: int = KEY_CHARS) -> str:
    """A short name of an entry: that by which a stopped one can be removed without its text (`#<key>` as `old_text`), or a longer one."""
    return hashlib.sha256(entry.encode()).hexdigest()[:chars]


def named_key(old_text: str) -> str:
    """The key that an `old_text` names, also as the placeholder, whole or cut; "" when it is a text."""
    match = _KEY.fullmatch(old_text.strip())
    return match[1] or match[2] if match else ""


def shown_entry(entry: str, place: Place, number: int) -> str:
    """The entry of that 1-based number as a model may read it: always scanned, whatever it begins with."""
    category = threat_of(entry)
    if category:
        name = NAMES[place.target]
        return f"[已屏蔽 #{key_of(entry)}：{name} 第 {number} 条命中 {category}，未放入提示。可在“记忆”页查看或删除]"
    return harmless(entry)


def harmless(entry: str) -> str:
    """An entry that may pass, without what looks like our own lines."""
    return _RULE.sub(lambda rule: rule[0].replace("═", "="), clean(entry))
