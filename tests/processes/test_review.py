"""Workers make reviews of notes side by side, undisturbed and killed: each is due once, none is left going, nothing stands twice."""

import itertools
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
TITLES = [f"{teacher}之{number}" for teacher in range(3) for number in range(2)]
WORKERS, KILLS = 3, 40


class World:
    """A database of its own, with six conversations whose tenth message is still going."""

    def __init__(self, folder: Path) -> None:
        self.database = new_database(folder / "database")
        given = {name: value for name, value in os.environ.items() if name not in ("REDIS_URL", "TEST_DATA_DIR")}
        self.variables = given | {
            "DATA_DIR": str(folder),
            "DATABASE_URL": self.database.url,
            "DJANGO_SETTINGS_MODULE": "memoryapp.settings",
            "SECRET_KEY": "only-for-tests",
            "LEASE_SECONDS": "1",
            "LOG_LEVEL": "ERROR",
            "DEMO_DELAY_SECONDS": "0.02",
        }
        self.run("manage.py", "migrate", "-v", "0")
        self.run("-m", "tests.processes.review_world", "make")

    def start(self, *command: str, **options: Any) -> subprocess.Popen[str]:
        return subprocess.Popen([sys.executable, *command], env=self.variables, cwd=ROOT, text=True, **options)

    def run(self, *command: str) -> str:
        return subprocess.run(
            [sys.executable, *command], env=self.variables, cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE, timeout=100
        ).stdout

    def state(self) -> dict[str, Any]:
        return json.loads(self.run("-m", "tests.processes.review_world", "state"))


class Workers:
    """Workers that are forked from one process, so that a new one is at work at once."""

    def __init__(self, world: World) -> None:
        self.host = world.start("-m", "tests.processes.review_world", "workers", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
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


def wait_until_idle(world: World, seconds: float = 150) -> None:
    end = time.monotonic() + seconds
    while world.database.count("chat_work"):
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.1)


def check(state: dict[str, Any]) -> None:
    """What holds whatever happened."""
    assert (state["left"], state["open"], state["waiting"]) == (0, 0, 0)
    assert [one[:2] for one in state["reviews"]] == [[title, 10] for title in TITLES]
    assert {one[2] for one in state["reviews"]} <= {"done", "failed"}
    assert state["totals"] == [10] * len(TITLES)
    for entries in state["entries"]:
        assert len(set(entries)) == len(entries)
        assert set(entries) <= set(state["ops"])
    assert len(set(state["ops"])) == len(state["ops"])
    assert len(set(state["notices"])) == len(state["notices"])


def test_three_workers_make_each_review_once_and_one_of_a_teacher_at_a_time(tmp_path):
    world = World(tmp_path)
    with Workers(world):
        world.run("-m", "tests.processes.review_world", "end")
        wait_until_idle(world)
    state = world.state()
    check(state)
    assert {(one[2], one[3]) for one in state["reviews"]} == {("done", "")}
    assert state["ops"] == sorted(f"以后请附上第{title}号细目表" for title in TITLES)
    assert state["notices"] == TITLES
    for _teacher, reviews in itertools.groupby(sorted(state["reviews"], key=lambda one: (one[4], one[5])), key=lambda one: one[4]):
        first, second = list(reviews)
        assert first[6] <= second[5]


def test_workers_that_are_killed_leave_no_review_going_and_write_nothing_twice(tmp_path):
    world = World(tmp_path)
    chance, kills = random.Random(20261130), 0
    with Workers(world) as workers:
        world.run("-m", "tests.processes.review_world", "end")
        while kills < KILLS and world.database.count("chat_work"):
            time.sleep(chance.uniform(0.05, 0.3))
            workers.kill(chance.randrange(WORKERS))
            kills += 1
        wait_until_idle(world)
    state = world.state()
    check(state)
    assert kills >= KILLS // 2
    assert state["ops"]
