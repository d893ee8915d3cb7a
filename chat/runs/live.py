"""Live: the runs that go in this process, their text so far, and who watches which thread."""

from collections.abc import Callable

from chat.runs.events import Event

Deliver = Callable[[Event], None]


class LiveRun:
    """A run whose task is in this process. Offsets count code points."""

    run_id: str
    thread_id: str
    text: str  # all text so far
    reasoning: str
    closed: int  # text[:closed] consists of closed Markdown blocks


def subscribe(thread_id: str, deliver: Deliver) -> Callable[[], None]:
    """Calls `deliver` on the loop with every later event of the thread; returns what ends it. `deliver` must not block.

    No await lies between a look at `live_runs` and the subscription when both are called in a row, so a viewer
    that joins late takes the text so far from there and misses nothing.
    """
    raise NotImplementedError


def live_runs(thread_id: str) -> list[LiveRun]:
    """The runs of the thread that go in this process, oldest first."""
    raise NotImplementedError
