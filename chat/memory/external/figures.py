"""Counters about memory backends, of all processes: gathered here, added to the database in pieces, read by /metrics."""

import threading
from collections import Counter

from django.db import transaction
from django.db.models import F

from chat.models import RemoteFigure

Key = tuple[str, str]


class Figures:
    """A meter (`chat.memory.backends.base.Meter`) that keeps sums until `store` writes them. Any thread may count."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sums: Counter[Key] = Counter()

    def count(self, name: str, amount: float = 1, **labels: str) -> None:
        joined = ",".join(f"{label}={value}" for label, value in sorted(labels.items()))
        with self._lock:
            self._sums[name, joined] += amount  # type: ignore[assignment]

    def observe(self, name: str, seconds: float, **labels: str) -> None:
        self.count(f"{name}_count", **labels)
        self.count(f"{name}_sum", seconds, **labels)

    def store(self) -> None:
        """Adds what was counted since the last time to the database; kept for the next time when that fails."""
        with self._lock:
            sums, self._sums = self._sums, Counter()
        if not sums:
            return
        try:
            with transaction.atomic():
                for (name, labels), amount in sorted(sums.items()):
                    RemoteFigure.objects.get_or_create(name=name, labels=labels)
                    RemoteFigure.objects.filter(name=name, labels=labels).update(value=F("value") + amount)
        except Exception:
            with self._lock:
                self._sums.update(sums)
            raise


METER = Figures()
