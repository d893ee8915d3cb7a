"""What the processes of a forked world do alike: end runs at the same moment, and fork workers. Needs Django set up."""

import os
import signal
import sys
import threading
from typing import NoReturn

from django.db import connection

from chat.jobs.worker import Worker
from chat.models import Run, Work
from chat.runs.finish import Outcome, finish_run


def end_runs(times: int = 1) -> None:
    """Ends all runs that are going at once, as the web processes do; more than once: as a mark that is delivered again."""
    runs = list(Run.objects.going().values_list("pk", "thread_id"))
    together = threading.Barrier(len(runs))

    def one(run_id: str, thread_id: str) -> None:
        together.wait(30)
        for time in range(times):
            finish_run(run_id, thread_id, Outcome(Run.Status.COMPLETED, "最后的回答"))
            if time:
                Work.objects.mark(Work.Kind.THREAD, thread_id)
        connection.close()

    tasks = [threading.Thread(target=one, args=run) for run in runs]
    for task in tasks:
        task.start()
    for task in tasks:
        task.join()


def fork_workers() -> None:
    """Forks a worker for each name on the standard input, and writes its process id; no interpreter has to start."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the killed
    connection.close()
    for name in sys.stdin:
        child = os.fork()
        if not child:
            _work(name.strip())
        sys.stdout.write(f"{child}\n")
        sys.stdout.flush()


def _work(name: str) -> NoReturn:
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    Worker(name).run(stop)
    os._exit(0)
