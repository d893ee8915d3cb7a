"""A database of a test's own with the processes that work on it, and workers that can be killed at any moment."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

from tests.processes.databases import new_database

ROOT = Path(__file__).resolve().parents[2]


class World:
    """What `module` makes in a new database, and its other verbs. `variables` go into the environment of all its processes."""

    module: ClassVar[str]

    def __init__(self, folder: Path, *made_of: str, **variables: str) -> None:
        self.database = new_database(folder / "database")
        given = {name: value for name, value in os.environ.items() if name not in ("REDIS_URL", "TEST_DATA_DIR")}
        self.variables = given | {
            "DATA_DIR": str(folder),
            "DATABASE_URL": self.database.url,
            "DJANGO_SETTINGS_MODULE": "memoryapp.settings",
            "SECRET_KEY": "only-for-tests",
            "LEASE_SECONDS": "1",
            "LOG_LEVEL": "ERROR",
            **variables,
        }
        self.say("make", *made_of)

    def start(self, *command: str, **options: Any) -> subprocess.Popen[str]:
        return subprocess.Popen([sys.executable, *command], env=self.variables, cwd=ROOT, text=True, stdout=subprocess.PIPE, **options)

    def run(self, *command: str) -> str:
        done = self.start(*command)
        told = done.communicate(timeout=150)[0]
        assert done.returncode == 0, command
        return told

    def begin(self, *verb: str, **options: Any) -> subprocess.Popen[str]:
        return self.start("-m", self.module, *verb, **options)

    def say(self, *verb: str) -> str:
        return self.run("-m", self.module, *verb)

    def state(self) -> dict[str, Any]:
        return json.loads(self.say("state"))


class Workers:
    """Workers that are forked from one process, so that a new one is at work at once."""

    def __init__(self, world: World, number: int) -> None:
        self.host = world.begin("workers", stdin=subprocess.PIPE)
        self.made = 0
        self.pids = [self.fork() for _ in range(number)]

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
