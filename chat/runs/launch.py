"""Launch: the one place that makes a run's task (RUNTIME 1)."""

import asyncio
import contextvars
from collections.abc import Callable

from chat.memory.meaning.ask import Meaning, Plan, fetch
from chat.runs import beat, live
from chat.runs.bridge import hop
from chat.runs.errors import SignedOut
from chat.runs.execute import execute
from chat.runs.live import LiveRun
from chat.runs.start import Order, Prepared, Started, start_or_plan, start_run


async def start(order: Order, is_signed_in: Callable[[], bool] | None = None) -> Started:
    """Stores the run and starts its task on this loop; the run goes on whatever becomes of the caller.

    `is_signed_in` is asked in the same hop, for callers whose session may have ended since they came. Raises RunRefused;
    then nothing is stored.
    """
    # Shielded: a caller that goes away in this moment must not leave a stored run without its task.
    task = asyncio.ensure_future(_start(order, is_signed_in))
    live.note_starting(task)
    return await asyncio.shield(task)


def _checked(order: Order, is_signed_in: Callable[[], bool] | None, meaning: Meaning | None = None) -> Started | Plan:
    if is_signed_in is not None and not is_signed_in():
        raise SignedOut
    return start_or_plan(order) if meaning is None else start_run(order, meaning)


async def _start(order: Order, is_signed_in: Callable[[], bool] | None) -> Started:
    started = await hop(_checked, order, is_signed_in)
    if isinstance(started, Plan):  # where a school searches by meaning; everything is checked anew after it was asked
        started = await hop(_checked, order, is_signed_in, await fetch(started))
    assert isinstance(started, Started)
    if started.prepared is not None:
        _launch(started.prepared)
    return started


def _launch(prepared: Prepared) -> None:
    going = LiveRun(prepared.run)
    live.open_run(going)
    # A context of its own: one that inherits the request's fails at its first hop after the response.
    context = contextvars.Context()
    going.task = asyncio.get_running_loop().create_task(execute(prepared, going), context=context)
    beat.ensure_running()


async def wait(run_id: str) -> None:
    """Returns when the run's task in this process has ended; at once when there is none. Cancelling the wait leaves the run going."""
    going = live.get(run_id)
    if going is not None and going.task is not None:
        await asyncio.wait([going.task])
