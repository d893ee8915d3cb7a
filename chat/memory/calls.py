"""Model calls of synchronous code: one event loop for the whole process (RUNTIME 8).

Clients belong to a loop, so all calls go through one runner, one at a time. A worker has one thread that calls; what
interrupts it stands in another.
"""

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from chat.providers.http import close_clients

T = TypeVar("T")
HEARD_SECONDS = 1.0


class Interrupted(Exception):
    """The call was ended from outside: the worker stops, or has lost its lease. No layer is to blame."""


@dataclass(frozen=True, slots=True)
class _Call:
    caller: int
    loop: asyncio.AbstractEventLoop
    task: "asyncio.Task[Any]"


_lock = threading.Lock()
_runner: asyncio.Runner | None = None
_current: _Call | None = None
_asked_at: dict[int, float] = {}  # of a worker that is to end, again and again until it does


def call(coroutine: Coroutine[Any, Any, T]) -> T:
    """Runs the coroutine to its end and returns what it returns. Raises Interrupted after `interrupt`."""
    global _runner
    with _lock:
        if _runner is None:
            _runner = asyncio.Runner()
        return _runner.run(_watched(coroutine, threading.get_ident()))


async def _watched(coroutine: Coroutine[Any, Any, T], caller: int) -> T:
    global _current
    task = asyncio.ensure_future(coroutine)
    _current = _Call(caller, asyncio.get_running_loop(), task)
    try:
        return await task
    except asyncio.CancelledError:
        outer = asyncio.current_task()
        if outer is not None and outer.cancelling():
            raise  # the runner's own cancellation, for Ctrl-C
        raise Interrupted from None
    finally:
        _current = None


def interrupt(caller: int) -> None:
    """Cancels the call that the thread `caller` is making, if it is making one; other work of it finds out by `check`."""
    _asked_at[caller] = time.monotonic()
    found = _current
    if found is not None and found.caller == caller:
        with contextlib.suppress(RuntimeError):  # the loop was closed meanwhile
            found.loop.call_soon_threadsafe(found.task.cancel)


def check() -> None:
    """Raises Interrupted while this thread is being interrupted; for long work that is no call."""
    if time.monotonic() - _asked_at.pop(threading.get_ident(), float("-inf")) < HEARD_SECONDS:
        raise Interrupted


def close(*first: Callable[[], Coroutine[Any, Any, object]]) -> None:
    """Closes the clients and the loop; a later call opens new ones.

    What is to end with the loop comes `first`, and is not interrupted; it limits its own time. Nothing is done when no call
    was ever made.
    """
    global _runner
    with _lock:
        if _runner is None:
            return
        try:
            for end in first:
                _runner.run(end())
        finally:
            _runner.run(close_clients())
            _runner.close()
            _runner = None
