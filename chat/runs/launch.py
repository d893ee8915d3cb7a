"""Launch: the one place that makes a run's task (RUNTIME 1)."""

from chat.runs.start import Order, Started


async def start(order: Order) -> Started:
    """Stores the run and starts its task on this loop; the run goes on whatever becomes of the caller.

    Raises RunRefused; then nothing is stored.
    """
    raise NotImplementedError


async def wait(run_id: str) -> None:
    """Returns when the run's task in this process has ended; at once when there is none. Cancelling the wait leaves the run going."""
    raise NotImplementedError
