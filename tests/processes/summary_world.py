"""A database with threads whose memory is far behind, and workers that can be started quickly; run as a program.

`seed MODEL_URL THREADS ROUNDS`  fills the empty database
`state`                          prints what thread memory holds, and how many rows of work are left
`workers`                        reads names from standard input and forks a worker for each, printing its process id
"""

import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import NoReturn

import django

django.setup()

from django.db import connection  # noqa: E402
from django.db.models import Count  # noqa: E402

from chat.jobs.worker import Worker  # noqa: E402
from chat.models import MemoryOp, Run, Summary, Thread, Work  # noqa: E402
from tests import builders  # noqa: E402

START = datetime(2026, 9, 1, tzinfo=UTC)


def secret(thread: int, number: int) -> str:
    """A word that only one round has."""
    return f"暗号{thread:02}之{number:03}。"


def seed(url: str, threads: str, rounds: str) -> None:
    school = builders.tenant("第一中学")
    service = builders.provider(school, kind="openai", base_url=url)
    agent = builders.agent(school, provider=service, context_tokens=4_096, reply_tokens=1_000)
    user = builders.teacher(school)
    for n in range(int(threads)):
        thread = builders.thread(user, agent, title=f"线程{n:02}", last_position=int(rounds))
        Run.objects.bulk_create(
            Run(
                tenant=school,
                agent=agent,
                user=user,
                thread=thread,
                position=number,
                slot=number,
                status="completed",
                input=secret(n, number),
                output="链表是一种线性结构，插入方便。" * 40,
                created_at=START + timedelta(minutes=number),
                finished_at=START + timedelta(minutes=number),
                has_memory=False,  # thread memory alone is looked at
            )
            for number in range(1, int(rounds) + 1)
        )
        Work.objects.mark(Work.Kind.THREAD, thread.pk)


def state() -> None:
    memory = {
        thread.title: {
            "summary": thread.rolling_summary,
            "upto": [thread.summary_upto_slot, str(thread.summary_upto_at)],
            "steps": list(thread.summaries.order_by("upto_slot").values_list("upto_slot", "text", "origin")),
        }
        for thread in Thread.objects.order_by("title")
    }
    found = {
        "memory": memory,
        "left": Work.objects.count(),
        "held": Work.objects.exclude(lease="").count(),
        "steps": Summary.objects.count(),
        "outcomes": dict(MemoryOp.objects.values_list("outcome").annotate(Count("pk"))),
    }
    print(json.dumps(found))  # noqa: T201


def workers() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the killed
    connection.close()
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            work(line.strip())
        print(pid, flush=True)  # noqa: T201


def work(name: str) -> NoReturn:
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    Worker(name).run(stop)
    os._exit(0)


COMMANDS: dict[str, Callable[..., None]] = {"seed": seed, "state": state, "workers": workers}

if __name__ == "__main__":
    COMMANDS[sys.argv[1]](*sys.argv[2:])
