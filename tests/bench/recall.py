"""How long a read of recall takes with much in the database: `python -m tests.bench.recall [--entries N] [--database N]`.

The teacher has N entries (default 10000 and 100000, one after the other) beside those of others, a million in all. They are
written by the product's own code, those of the others as copies of one teacher's rows. `--keep FOLDER` keeps the SQLite
database, so that the next measurement needs not to build it; DATABASE_URL chooses another database. Prints p50 and p95 in ms
by the clock and of CPU: of the layer's `read` in a new thread and within a conversation, of the search alone, and of writing
one more entry.
"""

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryapp.settings")
os.environ.setdefault("SECRET_KEY", "only-for-measuring")
os.environ["TIKTOKEN_DIR"] = os.environ.get("TIKTOKEN_DIR") or os.path.abspath("data/tiktoken")
if "--keep" in sys.argv:  # before the settings are read
    os.environ["DATA_DIR"] = sys.argv[sys.argv.index("--keep") + 1]
os.environ.setdefault("DATA_DIR", tempfile.mkdtemp(prefix="recall-"))
django.setup()

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection, transaction
from django.utils import timezone

from chat.memory.base import Turn
from chat.memory.layers.recall import RecallLayer
from chat.memory.recall.entries import KIND, record
from chat.memory.recall.find import find, question_of
from chat.models import Agent, Owner, RecallEntry, Run, SearchIndex, Thread
from chat.models.ids import new_id
from chat.search.index import BLOCK, writing
from chat.search.query import search
from chat.text import threats, tokens
from tests.bench import seed

AT_ONCE = BLOCK  # so that a term's row of a block is written once
PER_THREAD = 5
WORDS = 6_000  # in use; the first ones far more often, as in any language
BUDGET_TOKENS = 2_000
TIMES = 300
chance = random.Random(7)


def word(rank: int) -> str:
    """Two or three Chinese characters, seldom a word of English; the commonest are one character."""
    if rank < 40:
        return chr(0x4E00 + rank)
    if rank % 30 == 0:
        return f" word{rank} "
    return "".join(chr(0x4E00 + int(2_500 * spelling.random() ** 2)) for _ in range(2 + rank % 3 // 2))


spelling = random.Random(5)
VOCABULARY = [word(rank) for rank in range(WORDS)]


def text(length: int) -> str:
    """Something like Chinese: words in no order, a comma after each four."""
    found, size = [], 0
    while size < length:
        found.append(VOCABULARY[int(WORDS ** chance.random()) - 1] + ("，" if len(found) % 4 == 3 else ""))
        size += len(found[-1])
    return "".join(found)[:length]


def measure(act: Callable[[], object]) -> str:
    cpu, clock = [], []
    for _ in range(TIMES):
        began, began_cpu = time.perf_counter(), time.process_time()
        act()
        clock.append((time.perf_counter() - began) * 1_000)
        cpu.append((time.process_time() - began_cpu) * 1_000)
    told = [
        f"{name} p50 {statistics.median(spent):5.1f} p95 {sorted(spent)[int(TIMES * 0.95)]:5.1f}"
        for name, spent in (("clock", clock), ("cpu", cpu))
    ]
    return ", ".join(told)


def remember(agent: Agent, user: User, count: int) -> None:
    """Entries of 180 characters, five a thread."""
    owner = {"tenant_id": agent.tenant_id, "user_id": user.pk, "agent_id": agent.pk}
    more = owner | {"provider_id": agent.provider_id, "host": agent.provider.host, "at": timezone.now()}
    for start in range(0, count, AT_ONCE):
        threads = [Thread(pk=new_id("th"), title=text(10), **owner) for _ in range(min(AT_ONCE, count - start) // PER_THREAD)]
        with transaction.atomic(), writing(agent.tenant_id, user.pk, KIND) as writer:
            Thread.objects.bulk_create(threads)
            entries, runs = [], []
            for thread, place in ((thread, place) for thread in threads for place in range(1, PER_THREAD + 1)):
                said = {"title": thread.title, "input": text(50), "head": text(120)}
                run = Run(pk=new_id("run"), thread=thread, position=place, slot=place, status="completed", finished_at=more["at"], **owner)
                run.input, run.output = said["input"], said["head"] * 4
                entry = RecallEntry(thread=thread, run=run, source=run.pk, **said, **more)
                entry.number = writer.add(record(entry))
                runs.append(run)
                entries.append(entry)
            Run.objects.bulk_create(runs)
            RecallEntry.objects.bulk_create(entries)


TERM_COLUMNS = "term, block, count, packed"
ENTRY_COLUMNS = "tenant_id, agent_id, provider_id, host, source, number, title, input, head, keywords, at, created_at"


def copy(agent: Agent, of: User, to: User) -> None:
    """Gives another teacher the same past."""
    index = SearchIndex.objects.get(user=of, kind=KIND)
    old_key, index.pk, index.user = index.pk, None, to
    with transaction.atomic(), connection.cursor() as cursor:
        index.save(force_insert=True)
        for table, columns, order in (("chat_searchterm", TERM_COLUMNS, "term, block"), ("chat_searchblock", "block, packed", "block")):
            keys = [index.pk, old_key]
            cursor.execute(
                f"INSERT INTO {table} (index_id, {columns}) SELECT %s, {columns} FROM {table} WHERE index_id = %s ORDER BY {order}", keys
            )
        cursor.execute(
            f"INSERT INTO chat_recallentry (id, user_id, {ENTRY_COLUMNS}) "
            f"SELECT id || %s, %s, {ENTRY_COLUMNS} FROM chat_recallentry WHERE user_id = %s",
            [f"-{to.pk}", to.pk, of.pk],
        )


def build(sizes: list[int], everything: int) -> Agent:
    """Readers with so many entries, and others with as many as the last until there are `everything`."""
    agent = seed.school("none", "http://127.0.0.1:9/v1")
    for size in sizes:
        remember(agent, User.objects.create(username=f"reader{size}"), size)
    last = User.objects.get(username=f"reader{sizes[-1]}")
    for number in range(-(-max(0, everything - sum(sizes)) // sizes[-1])):
        copy(agent, last, User.objects.create(username=f"other{number}"))
    return agent


def turns(agent: Agent, user: User, rounds: int) -> list[Turn]:
    """Questions of 18 characters, half of them words of an entry; within a conversation after `rounds` rounds of 60 characters
    and answers of 400.
    """
    owner = Owner(agent.tenant_id, user.pk, agent.pk)
    thread = Thread(pk=new_id("th"), tenant=agent.tenant, agent=agent, user=user, title=text(10)) if rounds else None
    made = []
    entries = RecallEntry.objects.filter(user=user)
    for number in chance.sample(range(1, entries.count() + 1), TIMES):
        asked = entries.get(number=number).input[:12] + text(6)
        past = [Run(pk=new_id("run"), input=text(60), output=text(400)) for _ in range(rounds)]
        made.append(Turn(owner=owner, agent=agent, mode=None, thread=thread, rounds=past, older_rounds=0, question=asked))
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--entries", type=int, nargs="+", default=[10_000, 100_000], help="of the teachers who read")
    parser.add_argument("--database", type=int, default=1_000_000, help="entries of all teachers")
    parser.add_argument("--keep", help="a folder for the SQLite database")
    args = parser.parse_args()
    call_command("migrate", verbosity=0, run_syncdb=bool(settings.MIGRATION_MODULES))
    tokens.load_ranks(Path(os.environ["TIKTOKEN_DIR"]))
    threats.warm_up()  # as a process does before its first run
    agent = Agent.objects.filter(name="load").first()
    if agent is None:
        began = time.perf_counter()
        agent = build(args.entries, args.database)
        print(f"built in {time.perf_counter() - began:.0f} s")
    print(f"{RecallEntry.objects.count()} entries in the database ({connection.vendor}); ms")
    for size in args.entries:
        report(agent, User.objects.get(username=f"reader{size}"), size)


def report(agent: Agent, user: User, size: int) -> None:
    layer = RecallLayer()
    for name, rounds in (("a new thread", 0), ("a conversation", 3)):
        some = turns(agent, user, rounds)
        found = [len(find(turn).kept) for turn in some[:50]]
        print(f"{size} entries, {name} ({statistics.mean(found):.1f} found)")
        print("  read:  ", measure(partial(lambda some: layer.read(chance.choice(some), BUDGET_TOKENS), some)))
        print("  search:", measure(partial(lambda some: search(agent.tenant_id, user.pk, KIND, question_of(chance.choice(some))), some)))
    print("  write: ", measure(lambda: remember(agent, user, PER_THREAD)), f"for {PER_THREAD}")


if __name__ == "__main__":
    main()
