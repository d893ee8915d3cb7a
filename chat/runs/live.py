"""Live: the runs that go in this process, their text so far, and who watches which thread.

Everything here belongs to the event loop and never waits. A run of another process that is watched here has a mirror:
a LiveRun without a task, fed by `chat.runs.beat` and `chat.runs.relay`.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from chat.models import Run
from chat.runs.events import Event, News, ReasoningAdded, RunEnded, RunStarted, TextAdded, ToolUsed
from chat.text.blocks import BlockScanner
from chat.text.storable import storable

COALESCE_SECONDS = 0.05  # DESIGN §3.2: the first token at once, later ones at most this often

Deliver = Callable[[Any], None]

_runs: dict[str, "LiveRun"] = {}
_starting: set[asyncio.Task[Any]] = set()
_viewers: dict[str, list[Deliver]] = defaultdict(list)
_listeners: dict[int, list[Deliver]] = defaultdict(list)


class LiveRun:
    """A run that goes, and its text so far. Offsets count code points.

    `run` is the row as it was stored at the start. `closed` is the length of the beginning that consists of closed
    Markdown blocks. `stop_reason` says why the task was cancelled: "stop", "shutdown" or "verdict".
    """

    def __init__(self, run: Run, task: asyncio.Task[None] | None = None) -> None:
        self.run = run
        self.run_id: str = run.pk
        self.thread_id: str = run.thread_id
        self.task = task
        self.stop_reason = ""
        self.is_ending = False
        self.length = 0
        self.closed = 0
        self.first_token_at: float | None = None
        self.stored_length = 0  # how much of the text the database has for sure
        self.tool_calls: list[dict[str, Any]] = []
        self._parts: list[str] = []
        self._open = ""
        self._pending: list[str] = []
        self._scanner = BlockScanner()
        self._flushed_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._reasoning: list[str] = []
        self._reasoning_length = 0
        self._reasoning_pending: list[str] = []

    @property
    def text(self) -> str:
        """All text that viewers were told."""
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""

    @property
    def reasoning(self) -> str:
        return "".join(self._reasoning)

    def add(self, text: str = "", reasoning: str = "") -> None:
        """Takes a piece of the answer and tells the viewers, now or when the interval is over."""
        if text:
            self._pending.append(text)
        if reasoning:
            self._reasoning_pending.append(reasoning)
        if self._timer is not None:
            return
        loop = asyncio.get_running_loop()
        wait = self._flushed_at + COALESCE_SECONDS - loop.time()
        if wait <= 0 and not self._parts:
            self.flush()
        else:
            # Also when the interval is over: the pieces of one read come within one turn of the loop, and are told together.
            self._timer = loop.call_later(max(wait, 0.0), self.flush)

    def flush(self) -> None:
        """Tells the viewers what they have not been told yet."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._flushed_at = asyncio.get_running_loop().time()
        if self._reasoning_pending:
            thought = storable("".join(self._reasoning_pending))
            self._reasoning_pending.clear()
            publish(ReasoningAdded(self.run_id, self.thread_id, self._reasoning_length, thought))
            self._reasoning.append(thought)
            self._reasoning_length += len(thought)
        if self._pending:
            text = storable("".join(self._pending))
            self._pending.clear()
            self._append(text)

    def _append(self, text: str) -> None:
        if self.first_token_at is None:
            self.first_token_at = time.time()
        start, before = self.length, self.closed
        self._parts.append(text)
        self.length += len(text)
        self._open += text
        self.closed = self._scanner.feed(text)
        event = TextAdded(self.run_id, self.thread_id, start, text, before, self.closed)
        if self.closed > before:
            event.closed_text = self._open[: self.closed - before]
            self._open = event.open_text = self._open[self.closed - before :]
        publish(event)

    def catch_up(self, start: int, text: str) -> bool:
        """Takes `output[start:]` of a mirrored run and adds what is new; false when there is a gap before `start`."""
        if start > self.length:
            return False
        fresh = text[self.length - start :]
        if fresh:
            self._append(fresh)
        return True

    def note_tool(self, name: str, arguments: str, *, is_ok: bool) -> None:
        """Records a tool call and tells the viewers."""
        name, arguments = storable(name), storable(arguments)
        self.tool_calls.append({"name": name, "arguments": arguments, "is_ok": is_ok})
        self.flush()
        publish(ToolUsed(self.run_id, self.thread_id, name, arguments, is_ok))

    def cancel(self, reason: str) -> None:
        """Cancels the run's task, unless it is already writing its end."""
        if self.task is not None and not self.is_ending and not self.stop_reason:
            self.stop_reason = reason
            # Not at once: a task that is cancelled before its first step never gets to store the run's end.
            self.task.get_loop().call_soon(self._cancel)

    def _cancel(self) -> None:
        if self.task is not None and not self.is_ending:
            self.task.cancel()


def open_run(live: LiveRun) -> None:
    """Makes the run visible to viewers, and tells them."""
    _runs[live.run_id] = live
    publish(RunStarted(live.run_id, live.thread_id, live.run))


def close_run(live: LiveRun, row: Run) -> None:
    """Ends the run for the viewers; `row` is its final state."""
    live.flush()
    _runs.pop(live.run_id, None)
    publish(RunEnded(live.run_id, live.thread_id, row))


def note_starting(task: asyncio.Task[Any]) -> None:
    """Keeps a task that stores and launches a run, for as long as it takes."""
    _starting.add(task)
    task.add_done_callback(_starting.discard)


def starting() -> list[asyncio.Task[Any]]:
    """The tasks that are storing and launching runs just now."""
    return list(_starting)


def get(run_id: str) -> LiveRun | None:
    return _runs.get(run_id)


def own_runs() -> list[LiveRun]:
    """The runs whose task is in this process."""
    return [live for live in _runs.values() if live.task is not None]


def mirrors() -> list[LiveRun]:
    """The runs of other processes that are watched here."""
    return [live for live in _runs.values() if live.task is None]


def drop_unwatched_mirrors() -> None:
    for going in mirrors():
        if going.thread_id not in _viewers:
            del _runs[going.run_id]


def live_runs(thread_id: str) -> list[LiveRun]:
    """The runs of the thread that go, as far as this process knows, oldest first."""
    return [live for live in _runs.values() if live.thread_id == thread_id]


def publish(event: Event) -> None:
    for deliver in tuple(_viewers.get(event.thread_id, ())):
        deliver(event)
    if _relay is not None:
        _relay(event)


_relay: Deliver | None = None


def set_relay(deliver: Deliver | None) -> None:
    """Where every event of this process also goes (chat.runs.relay)."""
    global _relay
    _relay = deliver


def publish_news(news: News) -> None:
    for deliver in tuple(_listeners.get(news.user_id, ())):
        deliver(news)


def subscribe(thread_id: str, deliver: Deliver) -> Callable[[], None]:
    """Calls `deliver` on the loop with every later Event of the thread; returns what ends it. `deliver` must not block.

    A look at `live_runs` and the subscription in a row, without an await between, miss nothing: a viewer that joins
    late takes the text so far from there. Call `await chat.runs.beat.watch(thread_id)` before, so that runs of other
    processes are there too.
    """
    return _register(_viewers, thread_id, deliver)


def subscribe_user(user_id: int, deliver: Deliver) -> Callable[[], None]:
    """Calls `deliver` with every later News of the user; returns what ends it."""
    return _register(_listeners, user_id, deliver)


def _register(table: dict[Any, list[Deliver]], name: str | int, deliver: Deliver) -> Callable[[], None]:
    table[name].append(deliver)

    def end() -> None:
        if deliver in table.get(name, ()):
            table[name].remove(deliver)
            if not table[name]:
                del table[name]

    return end


def watched_threads() -> list[str]:
    return list(_viewers)


def listening_users() -> list[int]:
    return list(_listeners)
