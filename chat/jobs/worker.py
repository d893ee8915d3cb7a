"""The loop of a worker process."""

import contextlib
import logging
import os
import socket
import threading
from collections.abc import Callable
from datetime import timedelta

from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone

from chat.jobs.keeper import Keeper
from chat.jobs.lease import WorkLease, claim
from chat.jobs.sweep import sweep
from chat.memory import calls
from chat.memory.base import Lease, LeaseLost
from chat.memory.calls import Interrupted
from chat.memory.catch_up import INTERNAL_ERROR, Later, settle, wait_seconds
from chat.memory.external.chosen import forget_managers
from chat.memory.external.figures import METER
from chat.memory.external.follow import follow_up
from chat.memory.external.forgetting import forget
from chat.memory.external.start import shut_down
from chat.memory.knowledge.reading import read_document
from chat.memory.meaning.fill import fill
from chat.memory.notes.review import run_review
from chat.models import Work
from chat.runs.sweep import LOOKS_APART_SECONDS, RunSweeper

log = logging.getLogger(__name__)
LOOP_WAIT_SECONDS = 0.2
LONGEST_LOOP_WAIT_SECONDS = 30.0

# What is done with each kind of work: the function gets the row's subject, and returns when to come again or None.
Handler = Callable[[str, Lease], Later | None]
HANDLERS: dict[str, Handler] = {
    Work.Kind.THREAD: settle,
    Work.Kind.DOCUMENT: read_document,
    Work.Kind.VECTORS: fill,
    Work.Kind.REVIEW: run_review,
    Work.Kind.REMOTE: follow_up,
    Work.Kind.FORGET: forget,
}


def worker_name() -> str:
    """A name that no other living worker has."""
    return f"{socket.gethostname()[:60]}:{os.getpid()}"


def _let_go() -> None:
    """Ends what a memory backend and the model services hold open; a backend takes no text after that, so it is made anew."""
    try:
        calls.close(shut_down)
    finally:
        forget_managers()


class Worker:
    """Works on rows that are due, one at a time; several workers share the rows."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._kept: WorkLease | None = None  # what the database did not take back

    def run(self, stop: threading.Event) -> None:
        """Polls until `stop` is set, which also ends a model call that is going. Survives a database that is away."""
        failures = 0
        with Keeper(stop, self.name) as keeper:
            while not stop.is_set():
                try:
                    self._give_back()
                    is_busy = self._step(keeper) is not None
                    failures = 0
                    if not is_busy:
                        keeper.pause(settings.WORKER_POLL_SECONDS)
                except Exception:
                    log.exception("The worker's loop failed and goes on")
                    connection.close()
                    failures += 1
                    keeper.pause(min(LONGEST_LOOP_WAIT_SECONDS, LOOP_WAIT_SECONDS * 2.0 ** min(failures, 10)))
            _let_go()

    def drain(self) -> int:
        """Works and sweeps until nothing is due. Returns how many rows were put off because something failed.

        A row that was put off is not tried again here, also when its time comes meanwhile. One whose time has only not come
        yet waits for the next worker and counts as no failure.
        """
        stop, runs = threading.Event(), RunSweeper()
        put_off: dict[str, Later] = {}
        with Keeper(stop) as keeper:
            try:
                while True:
                    sweep(runs)
                    work_id = self._step(keeper, put_off)
                    if work_id is None and not runs.has_suspects:
                        return sum(bool(later.error_code) for later in put_off.values())
                    if work_id is None:
                        keeper.pause(LOOKS_APART_SECONDS)
                    while work_id is not None:
                        work_id = self._step(keeper, put_off)
            finally:
                stop.set()
                _let_go()
                with contextlib.suppress(DatabaseError):
                    METER.store()  # here, not by the keeper: the caller may be in a transaction, for whose end that would wait

    def _step(self, keeper: Keeper, put_off: dict[str, Later] | None = None) -> str | None:
        """Does one row of work and returns its key; None when nothing is due. Rows in `put_off` are passed over."""
        lease = claim(HANDLERS, tuple(put_off or ()))
        if lease is None:
            return None
        keeper.hold(lease)
        self._kept = lease
        try:
            later = self._work(lease)
            self._kept = None
            if later is not None and put_off is not None:
                put_off[lease.work_id] = later
        except LeaseLost:
            self._kept = None
            log.info("Work %s was taken over by another worker", lease.work_id)
        finally:
            keeper.hold(None)
        return lease.work_id

    def _give_back(self) -> None:
        """After an outage: the row need not wait for the end of its lease."""
        if self._kept is not None:
            with contextlib.suppress(LeaseLost):
                self._kept.release()
            self._kept = None

    def _work(self, lease: WorkLease) -> Later | None:
        """Does the work and gives the row back in every case that leaves the database reachable."""
        try:
            later = HANDLERS[lease.kind](lease.subject_id, lease)
        except LeaseLost:
            raise
        except Interrupted:
            lease.release()
            return None
        except Exception:
            log.exception("Work %s failed", lease.work_id)
            later = Later(timezone.now() + timedelta(seconds=wait_seconds(lease.attempts + 1)), INTERNAL_ERROR)
        except BaseException:
            lease.release()
            raise
        if later is None:
            lease.finish()
        else:
            lease.put_off(later.at, later.error_code)
        return later
