"""Ends runs whose process is gone (DESIGN §3.4).

An old heartbeat alone does not say so: a computer that wakes finds all heartbeats old, also of the runs that go on now. So a
sweeper looks again and again, and believes in a run's end when its heartbeat is old and has stood still while the
sweeper was awake.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from chat.models import Run, SearchText
from chat.runs.finish import after_end

log = logging.getLogger(__name__)
LOOKS_APART_SECONDS = 2.0  # of the sweeper's own time: two beats, of which a living process makes one
AWAY = timedelta(minutes=1)  # no look for so long: on some systems the monotonic clock goes on while the computer sleeps


@dataclass(frozen=True, slots=True)
class _Pulse:
    """A heartbeat, and when this sweeper first saw it."""

    beat_at: datetime | None
    seen_at: float  # of the sweeper's clock


class RunSweeper:
    """One for each loop that sweeps; it remembers the heartbeats that it has seen. `clock` counts seconds awake."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._looked_at: datetime | None = None
        self._pulses: dict[str, _Pulse] = {}
        self.has_suspects = False  # whether the last look has found old heartbeats of which only another look can tell

    def sweep(self) -> int:
        """Looks, and ends dead runs as failed with code `interrupted`; the partial text stays. Returns how many."""
        now, at = timezone.now(), self._clock()
        if self._looked_at is not None and abs(now - self._looked_at) > AWAY:
            self._pulses.clear()
        self._looked_at = now
        known, self._pulses = self._pulses, {}
        silent = now - timedelta(seconds=settings.HEARTBEAT_STALE_SECONDS)
        ended, suspects = 0, 0
        for run_id, thread_id, beat_at in Run.objects.going().values_list("pk", "thread_id", "heartbeat_at"):
            pulse = known.get(run_id)
            if pulse is None or pulse.beat_at != beat_at:
                pulse = _Pulse(beat_at, at)
            self._pulses[run_id] = pulse
            if beat_at is None or beat_at >= silent:
                continue
            if at - pulse.seen_at >= LOOKS_APART_SECONDS:
                ended += _end(run_id, thread_id, beat_at, now)
            else:
                suspects += 1
        self.has_suspects = suspects > 0
        if ended:
            log.warning("Ended %d interrupted runs", ended)
        return ended


def _end(run_id: str, thread_id: str, beat_at: datetime, now: datetime) -> int:
    """Ends the run unless it has given a sign of life meanwhile."""
    with transaction.atomic():
        dead = Run.objects.going().filter(pk=run_id, heartbeat_at=beat_at)
        ended = dead.update(status=Run.Status.FAILED, error_code="interrupted", finished_at=now)
        if ended:
            SearchText.objects.keep_runs([run_id])
            after_end([thread_id], now)
    return ended
