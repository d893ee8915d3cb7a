"""The contract of a memory backend (seed 002 §3, §9; DESIGN §5).

A backend remembers what is said and gives back what fits a question. Everything that a backend needs of the program is
handed to it as `Services`, so a backend imports only this module (and nothing of ours at all besides).
All verbs work on a `MemoryScope`; none ever reaches another one. Nothing here raises because it is "not supported":
what a backend lacks is said by its `Capabilities`, and the verb then does nothing.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal, Protocol, Self


class BackendError(Exception):
    """The backend could not do what was asked. `code` is shown to people; neither it nor the message holds anything secret.

    `is_retryable` says whether the same call may succeed later, `refuses_text` that it is these very messages which it does not
    take, and never will.
    """

    code = "memory_error"
    is_retryable = True
    refuses_text = False


class BackendMisconfigured(BackendError):
    """The configuration is wrong. The message names the field, its value (never a secret) and the way out; stops the start."""

    code = "memory_misconfigured"
    is_retryable = False


class BackendClosed(BackendError):
    """The backend is shutting down and takes no new text."""

    code = "memory_closed"


class WatermarkMoved(BackendError):
    """Somebody else has written the watermark meanwhile; what is due is to be looked up again."""

    code = "memory_moved"


@dataclass(frozen=True, slots=True)
class MemoryScope:
    """Whose memory: one teacher of one school with one assistant, by ids. `agent_id` "" is the scope of no assistant."""

    tenant_id: str
    user_id: str
    agent_id: str = ""


@dataclass(frozen=True, slots=True)
class MemoryMessage:
    """One thing that was said. `id` is stable and unique in its thread; `role` is "user" or "assistant", any other is never sent.

    `is_hidden` marks what no person sees (reminders, inner steps); it is never sent either.
    """

    id: str
    role: str
    content: str
    created_at: datetime | None = None
    is_hidden: bool = False


@dataclass(frozen=True, slots=True)
class MemoryItem:
    """Something remembered. `score` in [0, 1] is how well it fits the query, 0 in a plain list; `source` is where it stands
    at the backend, without anything secret; `said_on` the day it is about, as far as the backend tells one."""

    id: str
    content: str
    category: str
    score: float
    source: str
    said_on: date | None = None


@dataclass(frozen=True, slots=True)
class ContextBudget:
    """How much of memory may come with a question, and how long it is waited for."""

    chars: int
    seconds: float


@dataclass(frozen=True, slots=True)
class MemoryContext:
    """What fits a question: best first, doubles folded, each item and all together within the budget."""

    items: tuple[MemoryItem, ...] = ()

    @property
    def text(self) -> str:
        """Plain text, a line an item (seed 002 §8.3); "" for nothing."""
        return "\n".join(f"- [{item.category}] {item.content}" for item in self.items)


@dataclass(frozen=True, slots=True)
class Added:
    """What came of an `add`: how many messages went, and the task that works on them (`""` for none)."""

    sent: int = 0
    task_id: str = ""


@dataclass(frozen=True, slots=True)
class Extraction:
    """How a task ended: `completed`, `failed` or `lost` (the backend knows it no more), and the messages that it was about."""

    task_id: str
    outcome: Literal["completed", "failed", "lost"]
    message_ids: tuple[str, ...]
    remembered: int = 0


@dataclass(frozen=True, slots=True)
class FollowUp:
    """What became of the tasks of a thread: those that have ended now, and how many are still going."""

    ended: tuple[Extraction, ...] = ()
    pending: int = 0


@dataclass(frozen=True, slots=True)
class Health:
    """Whether the backend can be used, with a code and the version it tells. `identity` is whether it keeps people apart as it must."""

    is_usable: bool
    code: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What the panel may offer. `place` is where text goes, in people's words ("" for nowhere else than here)."""

    title: str
    place: str = ""
    is_external: bool = False  # keeps its memory itself, so recall and extraction stand back
    sends_text: bool = False  # teachers are asked before their text goes there
    needs_confirmation: bool = False  # nothing of it is used before a person has confirmed it
    can_search: bool = False
    can_edit: bool = False
    can_forget_one: bool = False
    can_forget_all: bool = False
    forgets_with_thread: bool = False  # deleting a conversation also deletes what was made of it


@dataclass(frozen=True, slots=True)
class Sending:
    """A batch whose outcome is not known yet: its ids, how many messages the session had before, and when it went out."""

    message_ids: tuple[str, ...]
    known_total: int
    at: datetime


@dataclass(frozen=True, slots=True)
class CommitTask:
    """A task that is working on the messages of a commit; its id is "" where the backend tells of none, which is then lost."""

    task_id: str
    message_ids: tuple[str, ...]
    at: datetime


@dataclass(frozen=True, slots=True)
class Watermark:
    """How far a thread is at the backend: ids only, never text. Ids are the latest ones, oldest first, bounded by the backend.

    `version` is for the store: a mark is only saved over the version that it was made from. `passed` is the program's own, and
    a backend leaves it as it is: the slot and the position (`Run`) up to which all was handed over, however few ids are kept.
    """

    version: int = 0
    submitted: tuple[str, ...] = ()
    committed: tuple[str, ...] = ()
    sending: Sending | None = None
    tasks: tuple[CommitTask, ...] = ()
    last_task_id: str = ""
    last_archive: str = ""
    passed: tuple[int, int] = (0, 0)


class WatermarkStore(Protocol):
    """Where watermarks are kept; shared by all processes."""

    async def load(self, scope: MemoryScope, thread_id: str) -> Watermark:
        """The mark of a thread; an empty one when there is none."""

    async def save(self, scope: MemoryScope, thread_id: str, mark: Watermark) -> Watermark:
        """Writes `mark` over the version it names and returns it with the next one. Raises WatermarkMoved."""


class Meter(Protocol):
    """Figures for /metrics. Labels are operations, states and reasons: never a person, a school or a text."""

    def count(self, name: str, amount: float = 1, **labels: str) -> None: ...

    def observe(self, name: str, seconds: float, **labels: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Services:
    """What the program hands to a backend. `redact` puts placeholders in place of private text (DESIGN §7); `secret` reads
    an environment variable, "" when it is not set."""

    watermarks: WatermarkStore
    redact: Callable[[str], str]
    meter: Meter
    secret: Callable[[str], str]


class MemoryManager(ABC):
    """A backend. One object for each process; its verbs may be called at the same time, on one event loop."""

    capabilities: Capabilities
    read_seconds: float = 1.0  # so long an answer waits for `get_context`
    drops_writes: bool = False  # whether what cannot be written is left out and noted, instead of being tried again
    late_seconds: float = 0.0  # so long after it went out a batch of which no answer came may still arrive
    flush_seconds: float = 20.0  # so long the end of a process waits for `flush`

    @classmethod
    @abstractmethod
    def from_configuration(cls, configuration: Mapping[str, Any], services: Services) -> Self:
        """Makes a manager without touching the network. Raises BackendMisconfigured."""

    def summary(self) -> dict[str, object]:
        """How it is set up, for the log of a start; nothing secret."""
        return {}

    @abstractmethod
    async def warm(self) -> Health:
        """Looks whether the backend can be used; changes nothing. Raises BackendError when the start is to fail for it."""

    @abstractmethod
    async def add(self, scope: MemoryScope, thread_id: str, messages: Sequence[MemoryMessage]) -> Added:
        """Hands over what was said and returns when the backend has accepted it; messages that it has already are left out.

        May be repeated with the same messages after any failure. Raises BackendError.
        """

    @abstractmethod
    async def follow_up(self, scope: MemoryScope, thread_id: str) -> FollowUp:
        """Asks what became of the tasks of a thread; each end is told until `settled` says that it was noted. Raises BackendError."""

    @abstractmethod
    async def settled(self, scope: MemoryScope, thread_id: str, task_ids: Sequence[str]) -> None:
        """Says that the ends of these tasks were noted."""

    @abstractmethod
    async def search(self, scope: MemoryScope, query: str, *, limit: int, category: str = "") -> list[MemoryItem]:
        """What is remembered and fits, best first; a blank query lists what there is. Raises BackendError."""

    @abstractmethod
    async def get_context(self, scope: MemoryScope, query: str, budget: ContextBudget) -> MemoryContext:
        """What goes into the prompt of a question, within the budget. Raises BackendError; the caller fails open."""

    @abstractmethod
    async def forget(self, scope: MemoryScope, thread_id: str = "") -> bool:
        """Deletes everything of the scope, or what is kept of one thread. Repeatable; False when it is not all gone yet and
        must be asked again. Raises BackendError."""

    @abstractmethod
    async def flush(self, seconds: float) -> bool:
        """Takes no new text from now on, and waits at most so long for what is on its way. True when nothing is."""

    @abstractmethod
    async def close(self) -> None:
        """Lets go of connections."""
