"""What search by meaning adds to the start of a run, in a database of its own.

`python -m tests.bench.start_by_meaning URL [ENTRIES] [MODEL]`; URL is an OpenAI-compatible service with `/embeddings`, which is
asked for real vectors of the questions. The entries have made-up vectors of the same length: how near they are does not change
what it costs. Prints p50 and p95 in ms by the clock, and of this process's CPU.
"""

import asyncio
import os
import random
import statistics
import sys
import tempfile
import time

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryapp.settings")
os.environ.setdefault("DATA_DIR", tempfile.mkdtemp(prefix="meaning-"))
os.environ.setdefault("SECRET_KEY", "only-for-measuring")
os.environ["RUNS_PER_MINUTE"] = "1000000"
os.environ["TIKTOKEN_DIR"] = os.environ.get("TIKTOKEN_DIR") or os.path.abspath("data/tiktoken")
django.setup()

from pathlib import Path

import numpy as np
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import transaction
from django.utils import timezone

from chat.memory.meaning import ask
from chat.memory.meaning.ask import Plan, fetch
from chat.memory.meaning.trial import try_embedder
from chat.memory.recall.entries import KIND, record
from chat.models import Agent, Membership, Provider, RecallEntry, SearchIndex, Tenant
from chat.runs.start import Order, start_or_plan, start_run
from chat.search import vectors
from chat.search.index import writing
from chat.text import tokens

AT_ONCE = 500
TIMES = 100
QUESTIONS = (
    "上次那份二次函数的试卷，简答题再换两道，难度低一点",
    "帮我把荷塘月色的教案改成一课时的",
    "Write ten multiple choice questions about photosynthesis for grade eight",
    "期中考试之后的家长会发言稿，语气亲切一些，三分钟左右",
)
chance = random.Random(7)


def text(length: int) -> str:
    return "".join(chr(0x4E00 + int(3_000 ** chance.random()) - 1) for _ in range(length))


def remember(user: User, agent: Agent, count: int) -> None:
    now = timezone.now()
    with transaction.atomic(), writing(agent.tenant_id, user.pk, KIND) as writer:
        rows = []
        for _ in range(count):
            number = writer.index.last_number + 1
            owner = {"tenant_id": agent.tenant_id, "user": user, "agent": agent}
            row = RecallEntry(**owner, source=f"s{number}", input=text(60), head=text(120), at=now)
            row.number = writer.add(record(row))
            rows.append(row)
        RecallEntry.objects.bulk_create(rows)


def embed_all(tenant: Tenant, dimension: int) -> None:
    SearchIndex.objects.update(embedder=tenant.embedder, embedding_model=tenant.embedding_model)
    index = SearchIndex.objects.get()
    made = np.random.default_rng(7)
    for start in range(1, index.last_number + 1, vectors.SIZE):
        numbers = range(start, min(start + vectors.SIZE, index.last_number + 1))
        rows = made.standard_normal((len(numbers), dimension)).astype(np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        with transaction.atomic():
            vectors.put(index, {number: [row] for number, row in zip(numbers, rows, strict=True)}, dimension)


Spent = tuple[float, float]  # by the clock, and of CPU, in ms


def now_spent() -> Spent:
    return time.perf_counter() * 1_000, time.process_time() * 1_000


def say(name: str, spent: list[Spent]) -> None:
    clock, cpu = (sorted(one[i] for one in spent) for i in (0, 1))
    high = int(len(spent) * 0.95)
    figures = f"p50 {statistics.median(clock):6.1f}  p95 {clock[high]:6.1f}   cpu p50 {statistics.median(cpu):5.1f}  p95 {cpu[high]:5.1f}"
    print(f"{name:<32} {figures}")


def main(url: str, entries: int, model: str) -> None:
    call_command("migrate", verbosity=0, run_syncdb=bool(settings.MIGRATION_MODULES))
    tokens.load_ranks(Path(os.environ["TIKTOKEN_DIR"]))
    tenant = Tenant.objects.create(name="bench", embedding_model=model, embedding_roles="input_type")
    tenant.embedder = Provider.objects.create(tenant=tenant, name="e5", kind="openai", base_url=url, is_local=True)
    agent = Agent.objects.create(tenant=tenant, name="a", system_prompt="你是命题助手。", provider=tenant.embedder, model="m")
    user = User.objects.create(username=f"reader{os.getpid()}")
    Membership.objects.create(tenant=tenant, user=user)
    for _ in range(entries // AT_ONCE):
        remember(user, agent, AT_ONCE)
    dimension = try_embedder(tenant, tenant.embedder).dimension
    embed_all(tenant, dimension)
    ask.LOCAL_SECONDS = 30.0  # measured here without the limit
    names = ("words alone: the start hop", "by meaning: the hop that plans", "by meaning: the call", "by meaning: the start hop")
    rest: dict[str, list[Spent]] = {name: [] for name in (*names, "by meaning: all together", "by meaning adds")}
    with asyncio.Runner() as runner:
        for turn in range(TIMES + 5):
            order = Order(user_id=user.pk, agent_id=agent.pk, input=f"{chance.choice(QUESTIONS)}（{turn}）")
            spent = _one(runner, tenant, order)
            if turn >= 5:  # the first ones open connections and load what is needed
                for name, one in zip(rest, spent, strict=True):
                    rest[name].append(one)
    print(f"{entries} entries with vectors of {dimension} numbers; ms")
    for name, times in rest.items():
        say(name, times)


def _one(runner: asyncio.Runner, tenant: Tenant, order: Order) -> list[Spent]:
    """Words alone, and then plan, call, start, all of it and what that is more: in turn, so that other load hits all alike."""
    Tenant.objects.filter(pk=tenant.pk).update(embedder=None)
    first = now_spent()
    start_run(order)
    marks = [now_spent()]
    words = _since(first, marks[0])
    Tenant.objects.filter(pk=tenant.pk).update(embedder=tenant.embedder_id)
    marks = [now_spent()]
    what = start_or_plan(order)
    assert isinstance(what, Plan)
    marks.append(now_spent())
    meaning = runner.run(fetch(what))
    assert meaning.vector is not None, meaning.asked.error_code
    marks.append(now_spent())
    start_run(order, meaning)
    marks.append(now_spent())
    whole = _since(marks[0], marks[-1])
    parts = [_since(before, after) for before, after in zip(marks, marks[1:], strict=False)]
    return [words, *parts, whole, (whole[0] - words[0], whole[1] - words[1])]


def _since(before: Spent, after: Spent) -> Spent:
    return after[0] - before[0], after[1] - before[1]


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1_000, sys.argv[3] if len(sys.argv) > 3 else "e5")
