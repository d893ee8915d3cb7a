"""What cosines with all of an owner's vectors cost: `python -m tests.bench.near [ENTRIES ...]` (default 10000 100000), of 384 numbers.

In turn, so that other load hits all alike: with nothing held in memory, with all blocks held, and after one record was written
again, as after each round of a chat. Prints p50 and p95 in ms of this process's CPU and by the clock. DATABASE_URL chooses the
database.
"""

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryapp.settings")
os.environ.setdefault("DATA_DIR", tempfile.mkdtemp(prefix="near-"))
os.environ.setdefault("SECRET_KEY", "only-for-measuring")
django.setup()

import numpy as np
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection, transaction

from chat.models import Provider, SearchIndex, Tenant
from chat.search import vectors
from chat.search.held import SHELF
from chat.search.vectors import SIZE, Vector, cosines

DIMENSION = 384
TIMES = 40
KIND = SearchIndex.Kind.RECALL
made = np.random.default_rng(7)


def some(count: int) -> np.ndarray:
    rows = made.standard_normal((count, DIMENSION)).astype(np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def put(index: SearchIndex, numbers: range) -> None:
    with transaction.atomic():
        vectors.put(index, {number: [row] for number, row in zip(numbers, some(len(numbers)), strict=True)}, DIMENSION)


def owner_of(service: Provider, entries: int) -> SearchIndex:
    user = User.objects.create(username=f"near{entries}-{os.getpid()}")
    owner = {"tenant": service.tenant, "user": user, "embedder": service, "embedding_model": "e5"}
    index = SearchIndex.objects.create(kind=KIND, last_number=entries, records=entries, **owner)
    for start in range(1, entries + 1, SIZE):
        put(index, range(start, min(start + SIZE, entries + 1)))
    return index


Spent = tuple[list[float], list[float]]


def timed(act: Callable[[], object], spent: Spent) -> None:
    clock, cpu = time.perf_counter(), time.process_time()
    act()
    spent[0].append((time.process_time() - cpu) * 1_000)
    spent[1].append((time.perf_counter() - clock) * 1_000)


def write_again(index: SearchIndex) -> None:
    last = index.last_number
    with transaction.atomic():
        vectors.clear(index, [last])
    put(index, range(last, last + 1))


def measure(index: SearchIndex, service: Provider) -> None:
    spent: dict[str, Spent] = {name: ([], []) for name in ("nothing held", "one block changed", "all held")}
    for _ in range(TIMES):
        asked = Vector(service.pk, "e5", some(1)[0])

        def ask(asked: Vector = asked) -> object:
            return cosines(index.tenant_id, index.user_id, KIND, asked)

        SHELF.clear()
        timed(ask, spent["nothing held"])
        write_again(index)
        timed(ask, spent["one block changed"])
        timed(ask, spent["all held"])
    print(f"{index.last_number} vectors of {DIMENSION} numbers ({connection.vendor}), {SHELF.size / 1e6:.1f} MB held; ms")
    for name, columns in spent.items():
        told = [f"{median:6.1f} p95 {high:6.1f}" for median, high in ((statistics.median(one), sorted(one)[-3]) for one in columns)]
        print(f"  {name:<20} cpu p50 {told[0]}, clock p50 {told[1]}")


def main(sizes: list[int]) -> None:
    call_command("migrate", verbosity=0, run_syncdb=bool(settings.MIGRATION_MODULES))
    tenant = Tenant.objects.create(name="near")
    service = Provider.objects.create(tenant=tenant, name="e5", kind="openai", base_url="http://127.0.0.1:9/v1", is_local=True)
    for size in sizes:
        measure(owner_of(service, size), service)


if __name__ == "__main__":
    main([int(one) for one in sys.argv[1:]] or [10_000, 100_000])
