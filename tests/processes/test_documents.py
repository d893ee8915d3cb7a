"""Workers that read documents, killed at any moment: no passage is lost, none doubled."""

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

pytestmark = [pytest.mark.process, pytest.mark.timeout(400)]
ROOT = Path(__file__).resolve().parents[2]
PAGES = 200
LONGEST_SECONDS = 120


class World:
    def __init__(self, folder: Path, documents: int, pages: int) -> None:
        self.database = new_database(folder / "database")
        given = {name: value for name, value in os.environ.items() if name not in ("REDIS_URL", "TEST_DATA_DIR")}
        self.variables = given | {
            "DATA_DIR": str(folder),
            "DATABASE_URL": self.database.url,
            "DJANGO_SETTINGS_MODULE": "memoryapp.settings",
            "SECRET_KEY": "only-for-tests",
            "LEASE_SECONDS": "2",
            "LOG_LEVEL": "ERROR",
        }
        self.run("-m", "tests.processes.document_world", "make", str(documents), str(pages))

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, *command], env=self.variables, cwd=ROOT)

    def run(self, *command: str) -> bytes:
        return subprocess.run([sys.executable, *command], env=self.variables, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout

    def state(self) -> dict[str, Any]:
        return json.loads(self.run("-m", "tests.processes.document_world", "state"))

    def kill_after(self, passages: int) -> None:
        """Kills a worker once it has stored that many passages more than there were when it began, or some of them again."""
        worker = self.start("manage.py", "worker")
        end = time.monotonic() + LONGEST_SECONDS
        seen = self.database.count("chat_passage")
        grown = 0
        while grown < passages:
            assert time.monotonic() < end, "it took too long"
            assert worker.poll() is None
            now = self.database.count("chat_passage")
            grown += max(0, now - seen)
            seen = now
            time.sleep(0.01)
        worker.send_signal(signal.SIGKILL)
        worker.wait(10)

    def work_to_the_end(self, workers: int) -> None:
        """Until nothing waits, also what a worker that was killed still holds for a moment."""
        end = time.monotonic() + LONGEST_SECONDS
        going = [self.start("manage.py", "worker") for _ in range(workers)]
        try:
            while self.database.count("chat_work"):
                assert time.monotonic() < end, "it took too long"
                time.sleep(0.1)
        finally:
            for worker in going:
                worker.terminate()
        # One that has not come up when the others are done has no handler yet.
        assert {worker.wait(30) for worker in going} <= {0, -signal.SIGTERM}


def check(state: dict[str, Any], documents: int) -> None:
    assert state["states"] == ["ready"] * documents
    assert state["as_read_alone"] == [True] * documents
    assert state["records"] == state["passages"] > 0
    assert state["left"] == 0
    assert state["is_whole"]


def test_a_worker_killed_in_the_middle_of_a_long_document_loses_and_doubles_nothing(tmp_path):
    world = World(tmp_path, 1, PAGES)
    for passages in (1, 60):
        world.kill_after(passages)
    world.work_to_the_end(1)
    check(world.state(), 1)


@pytest.mark.long
def test_two_workers_of_which_one_is_killed_read_each_document_once(tmp_path):
    world = World(tmp_path, 4, 20)
    other = world.start("manage.py", "worker")
    world.kill_after(30)
    world.work_to_the_end(1)
    other.terminate()
    other.wait(30)
    check(world.state(), 4)


@pytest.mark.long
def test_a_worker_that_is_told_to_end_leaves_a_document_to_the_next_one(tmp_path):
    world = World(tmp_path, 1, PAGES)
    worker = world.start("manage.py", "worker")
    end = time.monotonic() + LONGEST_SECONDS
    while not world.database.count("chat_passage"):
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.01)
    told_at = time.monotonic()
    worker.terminate()
    assert worker.wait(30) == 0
    assert time.monotonic() - told_at < 10
    assert world.state()["states"] == ["reading"]
    world.work_to_the_end(1)
    check(world.state(), 1)
