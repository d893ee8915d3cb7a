"""The contract of the read and the write path (DESIGN §4, §5)."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

from chat.memory.backends.base import MemoryItem
from chat.memory.knowledge.shelf import Documents
from chat.models import Agent, AgentMode, NoteSnapshot, Owner, Run, Thread
from chat.providers.base import ToolSpec
from chat.search.vectors import Vector

SegmentName = Literal["system", "core", "thread", "recall", "external", "knowledge", "continue", "question"]


@dataclass(frozen=True, slots=True)
class Remembered:
    """What a memory backend gave to a question that was asked at `asked_at`; `code` says why it gave nothing ("" for no trouble)."""

    items: tuple[MemoryItem, ...] = ()
    code: str = ""
    asked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """One question, as the read path sees it. `thread` is None for the first message of a new thread.

    `rounds` are the newest finished runs of the active path behind the summary's cursor, oldest first; `older_rounds`
    is the number of further ones between the cursor and them. Without `has_memory` (chat.memory.switches) only the
    running conversation is told. `vector` is the question's meaning, fetched beside the database hop; None without an
    embedder, and when it did not answer in time (chat.memory.meaning.ask). `notes` is what the thread knows of them, not
    stored yet before its first run; None while memory is off. `backend` names the memory backend outside this program that
    is in force ("" for none), `remembered` is what it gave, fetched beside the database hop as `vector` is.
    """

    owner: Owner
    agent: Agent
    mode: AgentMode | None
    thread: Thread | None
    rounds: list[Run]
    older_rounds: int
    question: str
    has_memory: bool = True
    vector: Vector | None = None
    documents: Documents = Documents()
    notes: NoteSnapshot | None = None
    backend: str = ""
    remembered: Remembered | None = None


@dataclass(slots=True)
class Segment:
    """One labelled, budgeted, sanitised part of the prompt.

    `text` is sent as it is; the text of all segments of a role, joined by "\\n", is that role's message. `source_ids` are the rows it
    was made from. `truncated` says what was shortened, `dropped` what was left out whole: dicts of `id`, `tokens`
    (of what is missing) and `reason`. `notes` say why a source was found: dicts of its `id`, `score` in [0, 1] and `matched` terms.
    `priority` 0 is never cut; else the highest number is cut first.
    """

    name: SegmentName
    role: Literal["system", "user"]
    text: str
    tokens: int
    budget_tokens: int
    priority: int = 0
    source_ids: list[str] = field(default_factory=list)
    truncated: list[dict[str, Any]] = field(default_factory=list)
    dropped: list[dict[str, Any]] = field(default_factory=list)
    notes: list[dict[str, Any]] = field(default_factory=list)


class Layer(Protocol):
    """A layer of memory: one module, two verbs."""

    name: str
    segment: SegmentName
    priority: int

    def read(self, turn: Turn, budget_tokens: int) -> Segment | None:
        """What this layer has to say to the question, within its own budget and `budget_tokens`; None for nothing.

        Sync and local (RUNTIME 11); a handful of queries at most. A smaller `budget_tokens` is asked for when the
        shared total is short.
        """

    def catch_up(self, thread: Thread, lease: "Lease") -> None:
        """Brings the layer up to date with the thread's finished runs. Idempotent; raises LayerTrouble when it cannot."""


class Lease(Protocol):
    """The right to work on a thread."""

    def renew(self) -> None:
        """Raises LeaseLost when somebody else has it."""


class LeaseLost(Exception):
    """Another worker has taken over the thread."""


class LayerTrouble(Exception):
    """The layer could not catch up now and wants to be tried again. `code` is shown to administrators."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Tool(Protocol):
    """What the model may call. `rule` goes into the system prompt; `call` is sync, raises ToolError for what the model should know."""

    spec: ToolSpec
    rule: str

    def call(self, context: "ToolContext", arguments: dict[str, Any]) -> str: ...


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Who calls a tool: the run that is going, and the window that its whole conversation has."""

    owner: Owner
    run_id: str
    thread_id: str
    window_tokens: int


class ToolError(Exception):
    """A tool cannot do what was asked; the message is given to the model."""
