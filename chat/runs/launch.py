"""Launch: the one place that makes a run's task (RUNTIME 1)."""

import asyncio
import contextvars
from collections.abc import Callable

from chat.memory.base import Remembered
from chat.memory.external import ask
from chat.memory.meaning.ask import Meaning
from chat.memory.meaning.ask import Plan as MeaningPlan
from chat.memory.meaning.ask import fetch as fetch_meaning
from chat.runs import beat, live
from chat.runs.bridge import hop
from chat.runs.errors import SignedOut
from chat.runs.execute import execute
from chat.runs.live import LiveRun
from chat.runs.start import Fetched, Order, Plan, Prepared, Started, start_or_plan, start_run


async def start(order: Order, is_signed_in: Callable[[], bool] | None = None) -> Started:
    """Stores the run and starts its task on this loop; the run goes on whatever becomes of the caller.

    `is_signed_in` is asked in the same hop, for callers whose session may have ended since they came. Raises RunRefused;
    then nothing is stored.
    """
    # Shielded: a caller that goes away in this moment must not leave a stored run without its task.
    task = asyncio.ensure_future(_start(order, is_signed_in))
    live.note_starting(task)
    return await asyncio.shield(task)


def _checked(order: Order, is_signed_in: Callable[[], bool] | None, fetched: Fetched | None = None) -> Started | Plan:
    if is_signed_in is not None and not is_signed_in():
        raise SignedOut
    return start_or_plan(order) if fetched is None else start_run(order, fetched)


async def _start(order: Order, is_signed_in: Callable[[], bool] | None) -> Started:
    started = await hop(_checked, order, is_signed_in)
    if isinstance(started, Plan):  # search by meaning, a memory backend; everything is checked anew after they were asked
        started = await hop(_checked, order, is_signed_in, await _fetch(started))
    assert isinstance(started, Started)
    if started.prepared is not None:
        _launch(started.prepared)
    return started


async def _fetch(plan: Plan) -> Fetched:
    """Asks whom the plan names, at the same time; none of them longer than its limit."""
    meaning, remembered = await asyncio.gather(_meaning(plan.meaning), _remembered(plan.memory))
    return Fetched(meaning, remembered, plan.backend)


async def _meaning(plan: MeaningPlan | None) -> Meaning | None:
    return await fetch_meaning(plan) if plan is not None else None


async def _remembered(plan: ask.Plan | Remembered | None) -> Remembered | None:
    return await ask.fetch(plan) if isinstance(plan, ask.Plan) else plan


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
