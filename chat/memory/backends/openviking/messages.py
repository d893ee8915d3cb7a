"""What is sent, and what never is (seed 002 §7.2).

Sent is what a person typed and the answer that they saw. Never: other roles (system, tools), what no person sees, files and
pictures written as text. The red lines are put in place of private text before anything else looks at it.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from chat.memory.backends.base import MemoryMessage

BATCH_MOST: Final = 100  # of the server
BATCH_MOST_CHARS: Final = 4_000_000  # the server takes 16,777,216 characters a batch and 4,194,304 a message
MESSAGE_MOST_CHARS: Final = 1_000_000
QUERY_MOST_CHARS: Final = 2_000

_ROLES: Final = ("user", "assistant")
_INVISIBLE: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
# A file as an address of its own, or as lines or one line of base64; every repetition ends at a character that it cannot hold.
_BINARY: Final = re.compile(
    r"data:[\w.+-]+/[\w.+-]+(?:;[\w=.-]+)*;base64,\s*[A-Za-z0-9+/=_-]+"
    r"|(?:[A-Za-z0-9+/_-]{60,}\s{1,2}){3,}[A-Za-z0-9+/_-]*={0,2}"
    r"|[A-Za-z0-9+/_-]{400,}={0,2}"
)
_OMITTED: Final = "[…]"


@dataclass(frozen=True, slots=True)
class OpenVikingMessage:
    """A message as it goes out. `id` is for the mark of the conversation and is not sent: the server makes nothing of it."""

    id: str
    body: dict[str, Any]

    @property
    def chars(self) -> int:
        return len(self.body["content"])


def outgoing(messages: Sequence[MemoryMessage], redact: Callable[[str], str]) -> list[OpenVikingMessage]:
    """What of these messages is sent, in their order, each id once."""
    found: dict[str, OpenVikingMessage] = {}
    for position, message in enumerate(messages):
        if message.is_hidden or message.role not in _ROLES:
            continue
        content = clean(message.content, redact)[:MESSAGE_MOST_CHARS]
        if not content.strip():
            continue
        body = {"role": message.role, "content": content}
        if message.created_at:
            body["created_at"] = message.created_at.isoformat()
        key = message.id or _made_id(message, position)
        found.setdefault(key, OpenVikingMessage(key, body))
    return list(found.values())


def query_of(text: str, redact: Callable[[str], str]) -> str:
    """What is asked for: redacted as a message is, at most so long that it means something; "" for a blank one."""
    return " ".join(clean(text[: 2 * QUERY_MOST_CHARS], redact).split())[:QUERY_MOST_CHARS]


def clean(text: str, redact: Callable[[str], str]) -> str:
    """Private text redacted, files written as text left out, nothing invisible that the server refuses."""
    return _BINARY.sub(_OMITTED, redact(_INVISIBLE.sub("", text)))


def batches(messages: Sequence[OpenVikingMessage]) -> Iterator[list[OpenVikingMessage]]:
    """In the order given, each within what the server takes at once."""
    batch: list[OpenVikingMessage] = []
    chars = 0
    for message in messages:
        if batch and (len(batch) == BATCH_MOST or chars + message.chars > BATCH_MOST_CHARS):
            yield batch
            batch, chars = [], 0
        batch.append(message)
        chars += message.chars
    if batch:
        yield batch


def _made_id(message: MemoryMessage, position: int) -> str:
    said = "\0".join((message.role, " ".join(message.content.split()), str(position)))
    return f"made_{hashlib.sha256(said.encode('utf-8', 'replace')).hexdigest()[:32]}"
