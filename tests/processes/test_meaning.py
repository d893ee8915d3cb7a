"""Workers that make vectors are killed at any moment: none is lost, none doubled, and the rest is made."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.memory.meaning.embeddings_server import EmbeddingsServer, slow
from tests.processes.databases import new_database

pytestmark = [pytest.mark.process, pytest.mark.timeout(240)]
ROOT = Path(__file__).resolve().parents[2]
KILLS = 3


class World:
    def __init__(self, folder: Path, url: str) -> None:
        given = {name: value for name, value in os.environ.items() if name not in ("REDIS_URL", "TEST_DATA_DIR")}
        self.variables = given | {
            "DATA_DIR": str(folder),
            "DATABASE_URL": new_database(folder / "database").url,
            "DJANGO_SETTINGS_MODULE": "memoryapp.settings",
            "SECRET_KEY": "only-for-tests",
            "LEASE_SECONDS": "1",
            "LOG_LEVEL": "ERROR",
        }
        self.run("-m", "tests.processes.meaning_world", "make", url)

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, *command], env=self.variables, cwd=ROOT)

    def run(self, *command: str) -> bytes:
        return subprocess.run([sys.executable, *command], env=self.variables, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout

    def state(self) -> dict[str, object]:
        return json.loads(self.run("-m", "tests.processes.meaning_world", "state"))


def until(ready, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < end, "what was waited for did not come"
        time.sleep(0.01)


def test_workers_that_are_killed_lose_and_double_no_vector(tmp_path):
    with EmbeddingsServer() as server:
        world = World(tmp_path, server.url)
        server.fault = slow(0.1)
        for kill in range(1, KILLS + 1):
            workers = [world.start("manage.py", "worker") for _ in range(2)]
            try:
                until(lambda wanted=kill: len(server.requests) >= wanted)  # in the middle of a call, or just behind one
            finally:
                for worker in workers:
                    worker.send_signal(signal.SIGKILL)
                    worker.wait(10)
        server.fault = None
        time.sleep(1.1)  # the lease of a worker that was killed runs out
        world.run("manage.py", "worker", "--once")
        state = world.state()
    numbers = list(range(1, 41))
    assert [state[name] for name in ("present", "made", "items")] == [numbers] * 3
    assert (state["vectors"], state["left"]) == (40, 0)
