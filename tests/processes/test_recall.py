"""Twenty runs end at once and three workers keep them, undisturbed and killed: no entry is lost, none doubled."""

import json
import os
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
WORKERS = 3


class World:
    def __init__(self, folder: Path) -> None:
        given = {name: value for name, value in os.environ.items() if name not in ("REDIS_URL", "TEST_DATA_DIR")}
        self.variables = given | {
            "DATA_DIR": str(folder),
            "DATABASE_URL": new_database(folder / "database").url,
            "DJANGO_SETTINGS_MODULE": "memoryapp.settings",
            "SECRET_KEY": "only-for-tests",
            "LEASE_SECONDS": "1",
            "LOG_LEVEL": "ERROR",
        }
        self.run("manage.py", "migrate", "-v", "0")
        self.run("-m", "tests.processes.recall_world", "make")

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, *command], env=self.variables, cwd=ROOT)

    def run(self, *command: str) -> bytes:
        return subprocess.run([sys.executable, *command], env=self.variables, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout

    def state(self) -> dict[str, Any]:
        return json.loads(self.run("-m", "tests.processes.recall_world", "state"))

    def work_to_the_end(self) -> None:
        workers = [self.start("manage.py", "worker", "--once") for _ in range(WORKERS)]
        assert [worker.wait(100) for worker in workers] == [0] * WORKERS
        time.sleep(1.1)  # a lease of a worker that was killed runs out
        self.run("manage.py", "worker", "--once")


def check(state: dict[str, Any]) -> None:
    assert state["inputs"] == sorted(f"第{number}个问题" for number in range(20))
    assert (state["numbers"], state["records"], state["left"], state["is_whole"]) == (20, 20, 0, True)


def test_three_workers_keep_each_run_once(tmp_path):
    world = World(tmp_path)
    world.work_to_the_end()
    check(world.state())


@pytest.mark.parametrize("seconds", [1.2, 1.6, 2.0])
def test_workers_that_are_killed_lose_and_double_nothing(tmp_path, seconds):
    world = World(tmp_path)
    workers = [world.start("manage.py", "worker") for _ in range(WORKERS)]
    time.sleep(seconds)
    for worker in workers:
        worker.send_signal(signal.SIGKILL)
        worker.wait(10)
    world.work_to_the_end()
    check(world.state())
