"""Whose memory: what stands for a teacher, an assistant and a conversation at OpenViking (seed 002 §6).

The server keeps users apart, not assistants; so each assistant of a teacher is a user of its own there, named by a hash of ids.
No name, address or id of ours goes out. The two formulas are never changed: what was kept under them would not be found again.
"""

import base64
import hashlib
from dataclasses import dataclass
from typing import Final

from chat.memory.backends.base import MemoryScope
from chat.memory.backends.openviking.errors import Details, OpenVikingScopeError

NAMESPACE: Final = "memoryapp-openviking-v1"
DEFAULT_AGENT: Final = "__default__"
# What OpenViking itself calls kinds of memory, and may be asked for.
CATEGORIES: Final = frozenset({"preferences", "entities", "events", "profile"})
ID_MOST_CHARS: Final = 200


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a call is for: an account of the installation and a hashed user, both sent with each call."""

    account: str
    user: str

    @property
    def memories(self) -> str:
        """The folder of all that is remembered of this user."""
        return f"viking://user/{self.user}/memories"

    @property
    def sessions(self) -> str:
        return f"viking://user/{self.user}/sessions"


def identity_of(account: str, scope: MemoryScope) -> Identity:
    """The user that stands for a teacher of a school with an assistant. Raises OpenVikingScopeError."""
    joined = "\0".join((account, *_parts(scope)))
    return Identity(account, f"df_{hashlib.sha256(joined.encode()).hexdigest()[:40]}")


def session_of(account: str, scope: MemoryScope, thread_id: str) -> str:
    """The session that stands for a conversation. Raises OpenVikingScopeError."""
    joined = "\0".join((NAMESPACE, account, *_parts(scope), _checked(thread_id)))
    digest = hashlib.sha256(joined.encode()).digest()
    return f"df_{base64.b32encode(digest).decode().rstrip('=').lower()}"


def prober_of(account: str) -> Identity:
    """A user that is nobody, for asking how the server is."""
    return Identity(account, f"df_{hashlib.sha256(f'{NAMESPACE}{chr(0)}probe'.encode()).hexdigest()[:40]}")


def checked_category(category: str) -> str:
    """The category when it is known. Raises OpenVikingScopeError: nothing else that a caller says goes into a request."""
    if category not in CATEGORIES:
        raise OpenVikingScopeError(Details("category"))
    return category


def _parts(scope: MemoryScope) -> tuple[str, str, str]:
    if scope.agent_id == DEFAULT_AGENT:
        raise OpenVikingScopeError(Details("scope"))
    agent = _checked(scope.agent_id) if scope.agent_id != "" else DEFAULT_AGENT
    return _checked(scope.tenant_id), _checked(scope.user_id), agent


def _checked(value: str) -> str:
    is_sound = isinstance(value, str) and 0 < len(value) <= ID_MOST_CHARS and value.isprintable() and not set(value) & set("/\\.")
    if not is_sound or value != value.strip():
        raise OpenVikingScopeError(Details("scope"))
    return value
