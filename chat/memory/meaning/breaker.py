"""A service that does not answer is left alone for a while, so that not every message waits for it in vain.

State of this process alone: how a service is doing is found out anew by each.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

FAILURES_MOST: Final = 3
FIRST_REST_SECONDS: Final = 30.0
LONGEST_REST_SECONDS: Final = 300.0


@dataclass(slots=True)
class Breaker:
    """Opens after some failures in a row, and again, for longer, after each trial that fails.

    What was on its way when it opened may fail too, all at once: that says nothing new, and makes no rest longer.
    """

    clock: Callable[[], float] = time.monotonic
    failures: int = 0
    rest_seconds: float = 0.0
    closed_at: float = 0.0
    is_tried: bool = False

    @property
    def is_open(self) -> bool:
        return self.failures >= FAILURES_MOST and self.clock() < self.closed_at

    def note_success(self) -> None:
        self.failures, self.rest_seconds, self.is_tried = 0, 0.0, False

    def note_failure(self) -> None:
        self.failures += 1
        if self.failures == FAILURES_MOST or self.is_tried:
            self._rest()

    def note_trial(self) -> None:
        """Somebody tries a service that has been left alone; until it answers the others go without."""
        if self.failures >= FAILURES_MOST:
            self.closed_at, self.is_tried = self.clock() + self.rest_seconds, True

    def _rest(self) -> None:
        self.is_tried = False
        self.rest_seconds = min(LONGEST_REST_SECONDS, max(FIRST_REST_SECONDS, 2 * self.rest_seconds))
        self.closed_at = self.clock() + self.rest_seconds


_breakers: dict[tuple[str, str], Breaker] = {}


def breaker_of(base_url: str, model: str) -> Breaker:
    """The one of a model at a service, in this process."""
    return _breakers.setdefault((base_url, model), Breaker())


def forget_all() -> None:
    _breakers.clear()
