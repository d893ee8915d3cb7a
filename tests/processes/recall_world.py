"""Twenty conversations, the end of their runs, and what recall has of them: `python -m tests.processes.recall_world VERB`.

make ROUNDS      conversations with so many runs each, of which the last is still going
end              ends those last runs, all at the same moment, as the web processes do
workers          forks a worker for each name on its standard input, and writes its process id (no interpreter has to start)
state            what there is in the end, as JSON
"""

import json
import os
import signal
import sys
import threading
from datetime import timedelta
from typing import NoReturn

import django

django.setup()

from django.db import connection  # noqa: E402
from django.utils import timezone  # noqa: E402

from chat.jobs.worker import Worker  # noqa: E402
from chat.memory.recall.entries import reindex  # noqa: E402
from chat.models import Owner, RecallEntry, Run, SearchIndex, Work  # noqa: E402
from chat.runs.finish import Outcome, finish_run  # noqa: E402
from tests import builders  # noqa: E402

THREADS = 20


def make(rounds: int) -> None:
    user = builders.teacher(name="recalled")
    agent = builders.agent(builders.school_of(user))
    for number in range(THREADS):
        thread = builders.thread(user, agent, title=f"会话{number}")
        for place in range(rounds):
            is_last = place == rounds - 1
            builders.run(thread, f"第{number}会话第{place}问", f"第{place}答", status="running" if is_last else "completed")
        Work.objects.mark("thread", thread.pk)
    Run.objects.update(heartbeat_at=timezone.now() + timedelta(hours=1))  # no process beats for them


def end() -> None:
    runs = list(Run.objects.going().values_list("pk", "thread_id"))
    together = threading.Barrier(len(runs))

    def one(run_id: str, thread_id: str) -> None:
        together.wait(30)
        finish_run(run_id, thread_id, Outcome(Run.Status.COMPLETED, "最后的回答"))
        connection.close()

    tasks = [threading.Thread(target=one, args=run) for run in runs]
    for task in tasks:
        task.start()
    for task in tasks:
        task.join()


def workers() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the killed
    connection.close()
    for name in sys.stdin:
        child = os.fork()
        if not child:
            work(name.strip())
        sys.stdout.write(f"{child}\n")
        sys.stdout.flush()


def work(name: str) -> NoReturn:
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    Worker(name).run(stop)
    os._exit(0)


def state() -> dict[str, object]:
    entries = list(RecallEntry.objects.values_list("input", "tenant_id", "user_id", "number"))
    index = SearchIndex.objects.first()
    return {
        "inputs": sorted(one[0] for one in entries),
        "numbers": len({one[3] for one in entries}),
        "records": index.records if index else 0,
        "left": Work.objects.count(),
        "is_whole": not entries or reindex(Owner(entries[0][1], entries[0][2])),
    }


if __name__ == "__main__":
    verb, *rest = sys.argv[1:]
    if verb == "make":
        make(int(rest[0]))
    elif verb == "end":
        end()
    elif verb == "workers":
        workers()
    else:
        sys.stdout.write(json.dumps(state()))
