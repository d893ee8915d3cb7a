"""What viewers of a thread are told. Offsets count code points of the run's output, so that a join is exact.

An event is a value; HTML or SSE is made of it once per format and kept on it (RUNTIME 7).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from chat.models import Run


@dataclass(slots=True)
class Event:
    run_id: str
    thread_id: str
    _formats: dict[str, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    def formatted(self, name: str, make: Callable[[Any], str]) -> str:
        """The event in the format `name`, made at the first call."""
        text = self._formats.get(name)
        if text is None:
            text = self._formats[name] = make(self)
        return text


@dataclass(slots=True)
class RunStarted(Event):
    """A run was stored and its task begins. `run` is the row as it was stored."""

    run: Run


@dataclass(slots=True)
class TextAdded(Event):
    """`output[start:start + len(text)]` is `text`. Text up to `closed` consists of closed Markdown blocks; what lies
    between `closed_before` and `closed` has closed just now (equal when nothing has) and is `closed_text`."""

    start: int
    text: str
    closed_before: int
    closed: int
    closed_text: str = ""
    open_text: str = ""  # output[closed:end], only when something has closed

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclass(slots=True)
class ReasoningAdded(Event):
    """The model thinks; `text` is appended to the run's reasoning at `start`."""

    start: int
    text: str


@dataclass(slots=True)
class ToolUsed(Event):
    """A tool was called by the model and has answered."""

    name: str
    arguments: str
    is_ok: bool


@dataclass(slots=True)
class RunEnded(Event):
    """The run's final state is stored; `run` is the row as it is now."""

    run: Run


@dataclass(slots=True)
class News:
    """What changed for a user since the last beat: threads of theirs (new, renamed, moved, archived), the worker's health.

    `has_memory` says that something of their core memory changed, `has_more` that something else changed that stands on
    every page: a thread deleted, memory switched.
    """

    user_id: int
    thread_ids: frozenset[str]
    is_worker_away: bool | None = None  # None: as before
    has_memory: bool = False
    has_more: bool = False
