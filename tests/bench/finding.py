"""How long people wait for a search: `python -m tests.bench.finding [THREADS]` (default 10000) of one teacher, four rounds each.

Prints the median in ms of CPU and of the clock for words that stand everywhere, in few places and nowhere: the last two
read all that the teacher has. DATABASE_URL chooses the database.
"""

import itertools
import os
import random
import statistics
import sys
import tempfile
import time
from datetime import timedelta

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryapp.settings")
os.environ.setdefault("DATA_DIR", tempfile.mkdtemp(prefix="finding-"))
os.environ.setdefault("SECRET_KEY", "only-for-measuring")
django.setup()

from django.contrib.auth.models import User
from django.core.management import call_command
from django.utils import timezone

from chat.finding import Quest, find
from chat.models import Agent, Membership, Provider, Run, SearchText, Tenant, Thread
from chat.models.ids import new_id

ROUNDS = 4
QUESTION_CHARS, ANSWER_CHARS = 25, 850
AT_ONCE = 500
TIMES = 9
# The first characters far more often than the last, as in any language.
CHARACTERS = [chr(0x4E00 + rank) for rank in range(3_000)]
WEIGHTS = list(itertools.accumulate(1 / (rank + 10) for rank in range(3_000)))
chance = random.Random(7)


def text(chars: int) -> str:
    return "".join(chance.choices(CHARACTERS, cum_weights=WEIGHTS, k=chars))


def fill(agent: Agent, user: User, threads: int) -> None:
    now = timezone.now()
    owner = {"tenant_id": agent.tenant_id, "agent": agent, "user": user}
    for start in range(0, threads, AT_ONCE):
        made = [
            Thread(pk=new_id("th"), title=text(12), last_position=ROUNDS, updated_at=now - timedelta(minutes=number), **owner)
            for number in range(start, min(start + AT_ONCE, threads))
        ]
        Thread.objects.bulk_create(made)
        runs = [
            Run(
                thread=thread,
                position=n,
                slot=n,
                status="completed",
                finished_at=now,
                input=text(QUESTION_CHARS),
                output=text(ANSWER_CHARS),
                **owner,
            )
            for thread in made
            for n in range(1, ROUNDS + 1)
        ]
        Run.objects.bulk_create(runs)
        for thread in made:
            SearchText.objects.keep_title(thread)
        SearchText.objects.keep_runs([run.pk for run in runs])


def main(threads: int) -> None:
    call_command("migrate", verbosity=0)
    user = User.objects.create(username=f"finder{os.getpid()}")
    school = Tenant.objects.create(name="bench")
    Membership.objects.create(tenant=school, user=user)
    provider = Provider.objects.create(tenant=school, name="bench", kind="demo")
    fill(Agent.objects.create(tenant=school, name="bench", provider=provider, model="demo"), user, threads)
    print(f"{threads} conversations of {ROUNDS} rounds, {ANSWER_CHARS} characters an answer; ms")
    for name, q in {
        "everywhere": CHARACTERS[0],
        "in few places": CHARACTERS[300] * 2,
        "nowhere": "没有龘",
        "nowhere, Latin": "zxqv",
    }.items():
        cpu, clock = [], []
        for _ in range(TIMES):
            began, began_cpu = time.perf_counter(), time.process_time()
            found = find(user, school.pk, Quest(q))
            cpu.append((time.process_time() - began_cpu) * 1_000)
            clock.append((time.perf_counter() - began) * 1_000)
        print(f"{name}: {found.count} found, cpu {statistics.median(cpu):.0f}, clock {statistics.median(clock):.0f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
