"""The second thread of a worker: renews the lease, gives a sign of life, sweeps, and interrupts a model call."""

import logging
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from types import TracebackType

from django.conf import settings
from django.db import connection
from django.utils import timezone

from chat.jobs.lease import WorkLease
from chat.jobs.sweep import sweep
from chat.memory import calls
from chat.memory.base import LeaseLost
from chat.memory.external.figures import METER
from chat.models import WorkerBeat
from chat.runs.sweep import RunSweeper

log = logging.getLogger(__name__)
TICK_SECONDS = 1.0
BEAT_SECONDS = 5.0
SWEEP_SECONDS = 5.0
INTERRUPT_SECONDS = 0.05
BEAT_KEPT = timedelta(hours=1)


class Keeper:
    """Stands by the thread that made it, as a context manager. `name` "" gives no signs of life and does not sweep.

    `stop` is the signal to end, and may be set by a signal handler in the main thread; so only this thread waits for it
    (a handler that sets an event on which its own thread is just going to wait would wait for itself).
    """

    def __init__(self, stop: threading.Event, name: str = "") -> None:
        self.name = name
        self._stop = stop
        self._worker = threading.get_ident()
        self._lock = threading.Lock()
        self._held: WorkLease | None = None
        self._runs = RunSweeper()
        self._renewed_at = 0.0
        self._is_stopping = threading.Event()
        self._is_left = threading.Event()
        self._thread = threading.Thread(target=self._run, name="keeper", daemon=True)

    def __enter__(self) -> "Keeper":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._is_left.set()
        self._thread.join()

    def hold(self, lease: WorkLease | None) -> None:
        """Says which lease is to be renewed from now on; None for none."""
        with self._lock:
            self._held, self._renewed_at = lease, time.monotonic()

    def pause(self, seconds: float) -> None:
        """Waits, or returns early when the worker is to end."""
        self._is_stopping.wait(seconds)

    def _run(self) -> None:
        beat_at = sweep_at = float("-inf")
        try:
            while not self._is_left.is_set():
                now = time.monotonic()
                self._try(self._renew)
                if self.name and now - beat_at >= BEAT_SECONDS:
                    beat_at = now
                    self._try(self._beat)
                if self.name and now - sweep_at >= SWEEP_SECONDS:
                    sweep_at = now
                    self._try(self._sweep)
                    self._try(METER.store)
                if self._stop.wait(min(TICK_SECONDS, settings.LEASE_SECONDS / 6)):
                    break
            self._is_stopping.set()
            while not self._is_left.wait(INTERRUPT_SECONDS):
                calls.interrupt(self._worker)
            if self.name:
                self._try(METER.store)
                self._try(self._leave)
        finally:
            connection.close()

    def _try(self, action: Callable[[], object]) -> None:
        """A failure of one action, such as a database that is away, holds neither the others nor the next time."""
        try:
            action()
        except Exception:
            log.exception("The worker's keeper could not %s", action.__name__)
            connection.close()

    def _renew(self) -> None:
        with self._lock:
            lease = self._held
            if lease is None or time.monotonic() - self._renewed_at < settings.LEASE_SECONDS / 3:
                return
        try:
            lease.renew()
        except LeaseLost:
            with self._lock:
                if self._held is lease:  # the call belongs to this lease, and its result would be refused
                    calls.interrupt(self._worker)
            return
        with self._lock:
            if self._held is lease:
                self._renewed_at = time.monotonic()

    def _beat(self) -> None:
        now = timezone.now()
        WorkerBeat.objects.update_or_create(worker=self.name, defaults={"beat_at": now})
        WorkerBeat.objects.filter(beat_at__lt=now - BEAT_KEPT).delete()

    def _sweep(self) -> None:
        sweep(self._runs)

    def _leave(self) -> None:
        WorkerBeat.objects.filter(worker=self.name).delete()
