"""How long a read of recall takes: `python -m tests.bench.recall [ENTRIES]` (default 10000) of one teacher, in a database of its own.

Prints p50 and p95 in ms of CPU and of the clock, and what one more entry costs to write. DATABASE_URL chooses the database.
"""

import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryapp.settings")
os.environ.setdefault("DATA_DIR", tempfile.mkdtemp(prefix="recall-"))
os.environ.setdefault("SECRET_KEY", "only-for-measuring")
django.setup()

from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import transaction

from chat.models import SearchIndex, Tenant
from chat.search.index import record_of, writing
from chat.search.query import Question, search

AT_ONCE = 500
CHARACTERS = 3_000  # in use; the first ones far more often, as in any language
chance = random.Random(7)


def text(length: int) -> str:
    """Something like Chinese with a word of English here and there."""
    found = []
    for _ in range(length):
        rank = int(CHARACTERS ** chance.random()) - 1
        found.append(chr(0x4E00 + rank) if chance.random() < 0.97 else f" word{rank} ")
    return "".join(found)


def measure(act: Callable[[], object], times: int) -> str:
    cpu, clock = [], []
    for _ in range(times):
        began, began_cpu = time.perf_counter(), time.process_time()
        act()
        clock.append((time.perf_counter() - began) * 1_000)
        cpu.append((time.process_time() - began_cpu) * 1_000)
    told = [
        f"{name} p50 {statistics.median(spent):.1f} p95 {sorted(spent)[int(times * 0.95)]:.1f}"
        for name, spent in (("cpu", cpu), ("clock", clock))
    ]
    return ", ".join(told)


def main(entries: int) -> None:
    call_command("migrate", verbosity=0)
    owner = (Tenant.objects.create(name="bench").pk, User.objects.create(username=f"reader{os.getpid()}").pk, SearchIndex.Kind.RECALL)

    def write(count: int) -> None:
        with transaction.atomic(), writing(*owner) as writer:
            for _ in range(count):
                writer.add(record_of(text(180), f"th_{writer.index.last_number // 5}"))

    for _ in range(entries // AT_ONCE):
        write(AT_ONCE)
    questions = [Question(text(12), context=[text(60)]) for _ in range(300)]
    print(f"{entries} entries, 180 characters each, questions of 12, conversation of 60; ms")
    print("read: ", measure(lambda: search(*owner, chance.choice(questions)), 300))
    print("write:", measure(lambda: write(1), 50))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
