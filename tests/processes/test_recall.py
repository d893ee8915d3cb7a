"""Twenty runs end at once and three workers keep them, undisturbed and killed: no entry is lost, none doubled."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.processes.databases import new_database

pytestmark = [pytest.mark.process, pytest.mark.timeout(240)]
ROOT = Path(__file__).resolve().parents[2]
WORKERS, THREADS, KILLS = 3, 20, 40


class World:
    """A database of its own, with conversations of `rounds` rounds whose last one is still going."""

    def __init__(self, folder: Path, rounds: int) -> None:
        self.rounds = rounds
        self.database = new_database(folder / "database")
        given = {name: value for name, value in os.environ.items() if name not in ("REDIS_URL", "TEST_DATA_DIR")}
        self.variables = given | {
            "DATA_DIR": str(folder),
            "DATABASE_URL": self.database.url,
            "DJANGO_SETTINGS_MODULE": "memoryapp.settings",
            "SECRET_KEY": "only-for-tests",
            "LEASE_SECONDS": "1",
            "LOG_LEVEL": "ERROR",
        }
        self.run("manage.py", "migrate", "-v", "0")
        self.run("-m", "tests.processes.recall_world", "make", str(rounds))

    def start(self, *command: str, **options: Any) -> subprocess.Popen[str]:
        return subprocess.Popen([sys.executable, *command], env=self.variables, cwd=ROOT, text=True, **options)

    def run(self, *command: str) -> str:
        return subprocess.run(
            [sys.executable, *command], env=self.variables, cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE, timeout=100
        ).stdout

    def end_runs(self) -> None:
        self.run("-m", "tests.processes.recall_world", "end")

    def finish(self) -> None:
        """Nobody is killed any more: what is left is done."""
        time.sleep(1.1)  # a lease of a worker that was killed runs out
        self.run("manage.py", "worker", "--once")

    def check(self) -> None:
        state = json.loads(self.run("-m", "tests.processes.recall_world", "state"))
        wanted = [f"第{number}会话第{place}问" for number in range(THREADS) for place in range(self.rounds)]
        assert state["inputs"] == sorted(wanted)
        assert (state["numbers"], state["records"], state["left"], state["is_whole"]) == (len(wanted), len(wanted), 0, True)


class Workers:
    """Workers that are forked from one process, so that a new one is at work at once."""

    def __init__(self, world: World) -> None:
        self.host = world.start("-m", "tests.processes.recall_world", "workers", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.made = 0
        self.pids = [self.fork() for _ in range(WORKERS)]

    def fork(self) -> int:
        self.made += 1
        self.host.stdin.write(f"worker{self.made}\n")
        self.host.stdin.flush()
        return int(self.host.stdout.readline())

    def kill(self, which: int) -> None:
        os.kill(self.pids[which], signal.SIGKILL)
        self.pids[which] = self.fork()

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *_error: object) -> None:
        for pid in self.pids:
            os.kill(pid, signal.SIGTERM)
        self.host.stdin.close()
        self.host.wait(20)


def test_three_workers_keep_each_run_once(tmp_path):
    world = World(tmp_path, rounds=1)
    with Workers(world):
        world.end_runs()
        end = time.monotonic() + 60
        while world.database.count("chat_work") and time.monotonic() < end:
            time.sleep(0.1)
    assert not world.database.count("chat_work")
    world.check()


def test_workers_that_are_killed_lose_and_double_nothing(tmp_path):
    world = World(tmp_path, rounds=12)
    chance, kills = random.Random(20261130), 0
    ending = None
    with Workers(world) as workers:
        while kills < KILLS and world.database.count("chat_work"):
            time.sleep(chance.uniform(0.02, 0.12))
            workers.kill(chance.randrange(WORKERS))
            kills += 1
            if ending is None and kills == 5:
                ending = world.start("-m", "tests.processes.recall_world", "end")
    assert ending is not None and ending.wait(60) == 0
    assert kills >= KILLS // 2
    world.finish()
    world.check()
