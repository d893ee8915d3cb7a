"""Real workers on a database file and a model server: several at once, and killed at any moment."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.processes.databases import Database, new_database
from tests.processes.summary_model import SummaryModel, summary_model

pytestmark = [pytest.mark.process, pytest.mark.timeout(240)]

ROOT = Path(__file__).resolve().parents[2]
THREADS = 20
KILLS = 50
ROUNDS = 24  # eleven requests a thread: enough for the workers to be at work at every kill
LEASE_SECONDS = 1


@dataclass
class World:
    """A database of its own with threads that are far behind."""

    folder: Path
    database: Database

    @property
    def variables(self) -> dict[str, str]:
        given = {name: value for name, value in os.environ.items() if name not in ("REDIS_URL", "TEST_DATA_DIR")}
        return given | {
            "DATA_DIR": str(self.folder),
            "DATABASE_URL": self.database.url,
            "DJANGO_SETTINGS_MODULE": "memoryapp.settings",
            "SECRET_KEY": "only-for-tests",
            "LEASE_SECONDS": str(LEASE_SECONDS),
            "LOG_LEVEL": "WARNING",
        }

    def start(self, *command: str, **options: Any) -> subprocess.Popen[str]:
        return subprocess.Popen([sys.executable, *command], env=self.variables, cwd=ROOT, text=True, **options)

    def run(self, *command: str) -> str:
        return subprocess.run(
            [sys.executable, *command], env=self.variables, cwd=ROOT, text=True, check=True, stdout=subprocess.PIPE, timeout=60
        ).stdout

    def state(self) -> dict[str, Any]:
        return json.loads(self.run("-m", "tests.processes.summary_world", "state"))

    def copy(self, folder: Path) -> "World":
        """Another world with the same rows, before anybody works in this one."""
        return World(folder, self.database.copy(folder))

    def work_left(self) -> int:
        return self.database.count("chat_work")


def make_world(folder: Path, model: SummaryModel, *, rounds: int, threads: int = THREADS) -> World:
    world = World(folder, new_database(folder))
    world.run("-m", "tests.processes.summary_world", "seed", model.url, str(threads), str(rounds))
    return world


def wait_until(is_so: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.1)


@pytest.mark.long
def test_two_workers_sum_up_twenty_threads_and_cross_nothing(tmp_path):
    with summary_model() as model:
        world = make_world(tmp_path / "world", model, rounds=12)
        workers = [world.start("manage.py", "worker") for _ in range(2)]
        try:
            wait_until(lambda: world.work_left() == 0, 60)
        finally:
            for worker in workers:
                worker.terminate()
            codes = [worker.wait(10) for worker in workers]
        assert codes == [0, 0]
        state = world.state()
    assert state["outcomes"] == {"done": state["steps"]}
    assert state["steps"] == len(model.answered) == model.asked
    for n in range(THREADS):
        texts = [text for text in model.answered if f"暗号{n:02}之" in text]
        assert all(text.count("暗号") == text.count(f"暗号{n:02}之") for text in texts)  # no other thread's rounds
        memory = state["memory"][f"线程{n:02}"]
        for number in range(1, memory["upto"][0] + 1):
            assert sum(f"暗号{n:02}之{number:03}。" in text for text in texts) == 1
        for before, _ in zip(memory["steps"], memory["steps"][1:], strict=False):
            assert sum(before[1] in text for text in texts) == 1
        assert memory["summary"] == memory["steps"][-1][1]
        assert memory["upto"][0] == memory["steps"][-1][0] >= 9


def test_killing_workers_at_any_moment_changes_nothing(tmp_path):
    with summary_model() as model:
        undisturbed = make_world(tmp_path / "undisturbed", model, rounds=ROUNDS)
        killed = undisturbed.copy(tmp_path / "killed")
        model.delay_seconds = 0
        undisturbed.run("manage.py", "worker", "--once")
        expected = undisturbed.state()
        assert expected["left"] == 0
        model.delay_seconds = 0.1
        kills = kill_until_done(killed)
        found = killed.state()
    assert kills == KILLS
    assert found["memory"] == expected["memory"]
    assert found["left"] == 0
    assert found["steps"] == expected["steps"]
    assert found["outcomes"]["running"] > KILLS / 5  # calls that a kill has cut off


def kill_until_done(world: World) -> int:
    """Two workers, of which one after another is killed and started again; returns how many were killed at work."""
    chance = random.Random(20260601)
    host = world.start("-m", "tests.processes.summary_world", "workers", stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def fork(number: int) -> int:
        host.stdin.write(f"worker{number}\n")
        host.stdin.flush()
        return int(host.stdout.readline())

    workers = [fork(0), fork(1)]
    kills = 0
    try:
        while kills < KILLS and world.work_left():
            time.sleep(chance.uniform(0.02, 0.4))
            which = chance.randrange(2)
            os.kill(workers[which], signal.SIGKILL)
            kills += 1
            workers[which] = fork(kills + 1)
        wait_until(lambda: world.work_left() == 0, 90)
    finally:
        for pid in workers:
            os.kill(pid, signal.SIGTERM)
        host.stdin.close()
        host.wait(10)
    return kills


def test_a_worker_that_is_asked_to_end_gives_its_thread_back_at_once(tmp_path):
    with summary_model(delay_seconds=3) as model:
        world = make_world(tmp_path / "world", model, rounds=12, threads=1)
        worker = world.start("manage.py", "worker")
        try:
            wait_until(lambda: model.asked == 1, 30)
            asked_at = time.monotonic()
            worker.terminate()
            assert worker.wait(10) == 0
            assert time.monotonic() - asked_at < 2.5
        finally:
            worker.kill()
        state = world.state()
    assert (state["left"], state["held"], state["steps"]) == (1, 0, 0)
    assert state["outcomes"] == {"failed": 1}
