"""A memory server, a web process and a worker, all of which can be killed, with teachers who go on talking."""

import contextlib
import json
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx

from tests.openviking_server.in_force import KEY_VARIABLE, configuration
from tests.processes.databases import new_database
from tests.servers import free_port

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 60


class Processes:
    """What a school runs: `kill("web")`, `kill("worker")`, `kill("server")`, each started again at once."""

    def __init__(self, folder: Path, server: Any, teachers: int, more: Mapping[str, str] | None = None) -> None:
        folder.mkdir()
        self.folder, self.server, self.port = folder, server, free_port()
        place = folder / "memory.json"
        told = {"startup_policy": "warn", "unclear_wait_seconds": 0.5, "retrieval": {"timeout_seconds": 0.5}}
        place.write_text(json.dumps(configuration(server, **told)))
        given = {name: value for name, value in os.environ.items() if name not in ("REDIS_URL", "TEST_DATA_DIR")}
        self.variables = given | {
            "DATA_DIR": str(folder),
            "DATABASE_URL": new_database(folder / "database").url,
            "DJANGO_SETTINGS_MODULE": "memoryapp.settings",
            "SECRET_KEY": "only-for-tests",
            "MEMORY_MANAGER": "openviking",
            "MEMORY_BACKEND_CONFIG": str(place),
            KEY_VARIABLE: server.key,
            "LEASE_SECONDS": "2",
            "HEARTBEAT_STALE_SECONDS": "2",
            "RUNS_PER_MINUTE": "600",
            "DEMO_DELAY_SECONDS": "0.005",
            "LOG_LEVEL": "WARNING",
            **(more or {}),
        }
        self._going: dict[str, subprocess.Popen[bytes]] = {}
        self.kills: dict[str, int] = {}
        made = json.loads(self.run("-m", "tests.processes.openviking_world", "make", str(teachers)))
        self.agent, self.tokens = made["agent"], made["tokens"]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def run(self, *command: str) -> str:
        return subprocess.run(
            [sys.executable, *command], env=self.variables, cwd=ROOT, text=True, check=True, stdout=subprocess.PIPE, timeout=150
        ).stdout

    def start(self, name: str) -> None:
        words = ["web", f"--port={self.port}"] if name == "web" else ["worker"]
        with (self.folder / f"{name}.log").open("ab") as log:
            self._going[name] = subprocess.Popen(
                [sys.executable, "manage.py", *words], cwd=ROOT, env=self.variables, stdout=log, stderr=log
            )

    def kill(self, name: str) -> None:
        """SIGKILL, and the same again."""
        self.kills[name] = self.kills.get(name, 0) + 1
        if name == "server":
            self.server.kill()
            self.server.start()
            return
        self._going[name].kill()
        self._going[name].wait()
        self.start(name)

    def answers(self) -> bool:
        with contextlib.suppress(httpx.HTTPError):
            return httpx.get(f"{self.url}/healthz", timeout=5).status_code == 200
        return False

    def wait(self, is_so: Callable[[], bool]) -> None:
        end = time.monotonic() + START_SECONDS
        while not is_so():
            assert time.monotonic() < end, self.log()
            time.sleep(0.05)

    def log(self) -> str:
        return "\n".join(path.read_text(errors="replace")[-2000:] for path in self.folder.glob("*.log"))

    def ended(self) -> dict[str, Any]:
        """Ends the processes, does what they left with the memory server up, and tells what there is."""
        self.end()
        time.sleep(2.5)  # the leases and heartbeats of the killed
        return json.loads(self.run("-m", "tests.processes.openviking_world", "end", self.server.account))

    def end(self) -> None:
        for process in self._going.values():
            process.kill()
            process.wait()
        self._going.clear()


@contextlib.contextmanager
def processes(folder: Path, server: Any, teachers: int) -> Iterator[Processes]:
    made = Processes(folder, server, teachers)
    try:
        for name in ("web", "worker"):
            made.start(name)
        made.wait(made.answers)
        yield made
    finally:
        made.end()


class Talker(threading.Thread):
    """A teacher who says one thing after another in one conversation until told to stop; what failed is said again, as a page does."""

    def __init__(self, of: Processes, token: str, name: str) -> None:
        super().__init__(daemon=True)
        self.of, self.token, self.word, self.stop = of, token, name, threading.Event()
        self.acknowledged: list[str] = []
        self.thread_id = ""

    def run(self) -> None:
        number = 0
        with httpx.Client(timeout=20) as client:
            while not self.stop.is_set():
                text = f"We decided that {self.word} number {number} is on Monday."
                body = {"input": text} | ({"thread_id": self.thread_id} if self.thread_id else {})
                headers = {"authorization": f"Bearer {self.token}", "idempotency-key": f"{self.word}-{number}"}
                try:
                    response = client.post(f"{self.of.url}/agents/{self.of.agent}/run", json=body, headers=headers)
                except httpx.HTTPError:
                    time.sleep(0.1)
                    continue
                told = response.json()
                if response.status_code == 200:
                    self.thread_id = told["thread_id"]
                    if told["status"] == "completed":
                        self.acknowledged.append(text)
                    number += 1
                time.sleep(0.05)


def talk_among_kills(of: Processes, order: list[str], seconds: tuple[float, float], seed: int) -> list[Talker]:
    """Everybody talks while one process after another is killed; ends when all have been heard once more."""
    chance = random.Random(seed)
    talkers = [Talker(of, token, f"meeting{number}") for number, token in enumerate(of.tokens)]
    for talker in talkers:
        talker.start()
    of.wait(lambda: all(talker.acknowledged for talker in talkers))
    for name in order:
        time.sleep(chance.uniform(*seconds))
        of.kill(name)
    heard = [len(talker.acknowledged) for talker in talkers]
    of.wait(lambda: all(len(talker.acknowledged) > before for talker, before in zip(talkers, heard, strict=True)))
    for talker in talkers:
        talker.stop.set()
    for talker in talkers:
        talker.join(30)
    return talkers
