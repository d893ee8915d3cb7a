"""What the read path adds to a run: `python -m tests.bench.read_path [THREADS]` in a database of its own.

Prints p50 and p95 in ms of assembling the prompt (queries, cleaning, clipping, counting), of the whole start hop, and of
a bare primary-key query as the yardstick.
"""

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryapp.settings")
os.environ["TIKTOKEN_DIR"] = os.environ.get("TIKTOKEN_DIR") or os.path.abspath("data/tiktoken")
os.environ.setdefault("DATA_DIR", tempfile.mkdtemp(prefix="read-path-"))
os.environ["RUNS_PER_MINUTE"] = "1000000"
django.setup()

from pathlib import Path

from django.contrib.auth.models import User
from django.core.management import call_command

from chat.memory.read import assemble
from chat.models import Membership, Thread
from chat.runs.start import Order, _place, _thread, _turn, start_run
from chat.text import tokens
from tests.bench import seed
from tests.exam import paper


def measure(act: Callable[[int], object], times: int) -> tuple[float, float]:
    """p50 and p95 in ms."""
    spent = []
    for number in range(times):
        began = time.perf_counter()
        act(number)
        spent.append((time.perf_counter() - began) * 1_000)
    spent.sort()
    return statistics.median(spent), spent[int(len(spent) * 0.95)]


def main(threads: int) -> None:
    call_command("migrate", verbosity=0)
    tokens.load_ranks(Path(os.environ["TIKTOKEN_DIR"]))
    agent = seed.school("none", "http://127.0.0.1:9/v1")
    user = User.objects.create_user("reader")
    Membership.objects.create(tenant=agent.tenant, user=user)
    ids = seed.build_archive(agent, user, threads, 4)
    long_ones = ids[::50]
    Thread.objects.filter(pk__in=long_ones).first()
    for thread_id in long_ones:  # one thread in fifty ends with a paper of 3,000 tokens
        newest = Thread.objects.get(pk=thread_id).runs.order_by("-slot").first()
        newest.output = paper()
        newest.save(update_fields=["output"])

    def order(number: int) -> Order:
        return Order(user_id=user.pk, agent_id=agent.pk, input="简答题换两道", thread_id=ids[number * 37 % len(ids)])

    def read(number: int) -> object:
        one = order(number)
        return assemble(_turn(one, agent, None, _place(one, _thread(one))))

    def read_long(number: int) -> object:
        one = Order(user_id=user.pk, agent_id=agent.pk, input="简答题换两道", thread_id=long_ones[number % len(long_ones)])
        return assemble(_turn(one, agent, None, _place(one, _thread(one))))

    print(f"{threads} threads, {threads * 4} runs, exact tokens: {tokens.is_exact()}")
    for name, act in (
        ("one row by key", lambda n: Thread.objects.get(pk=ids[n % len(ids)])),
        ("read path", read),
        ("read path, 3,000-token paper", read_long),
        ("whole start hop", lambda n: start_run(order(n))),
    ):
        p50, p95 = measure(act, 400)
        print(f"{name:32} p50 {p50:6.2f} ms   p95 {p95:6.2f} ms")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
