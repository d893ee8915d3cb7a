"""Counters about memory backends, of all processes: gathered here, added to the database in pieces, read by /metrics."""

import threading
from collections.abc import Mapping

from django.db import transaction
from django.db.models import F

from chat.models import RemoteFigure

Key = tuple[str, str]  # name and labels, as in the row
NAME_MAX, LABELS_MAX = 60, 120  # of the columns


class Figures:
    """A meter (`chat.memory.backends.base.Meter`) that keeps sums until `store` writes them. Any thread may count."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sums: dict[Key, float] = {}

    def count(self, name: str, amount: float = 1, **labels: str) -> None:
        with self._lock:
            self._add({(name[:NAME_MAX], _joined(labels)): amount})

    def observe(self, name: str, seconds: float, **labels: str) -> None:
        joined = _joined(labels)
        with self._lock:
            self._add({(f"{name}_count", joined): 1, (f"{name}_sum", joined): seconds})

    @property
    def has_more(self) -> bool:
        """Whether something was counted since the last time."""
        return bool(self._sums)

    def store(self) -> None:
        """Adds what was counted since the last time to the database; kept for the next time when that fails.

        No query when nothing was counted, which is always so with the built-in backend.
        """
        with self._lock:
            sums, self._sums = self._sums, {}
        if not sums:
            return
        try:
            with transaction.atomic():
                for (name, labels), amount in sorted(sums.items()):
                    row = RemoteFigure.objects.filter(name=name, labels=labels)
                    while not row.update(value=F("value") + amount):
                        RemoteFigure.objects.bulk_create([RemoteFigure(name=name, labels=labels)], ignore_conflicts=True)
        except BaseException:
            with self._lock:
                self._add(sums)
            raise

    def _add(self, sums: Mapping[Key, float]) -> None:
        for key, amount in sums.items():
            self._sums[key] = self._sums.get(key, 0) + amount


def _joined(labels: Mapping[str, str]) -> str:
    return ",".join(f"{label}={value}" for label, value in sorted(labels.items()))[:LABELS_MAX]


METER = Figures()
