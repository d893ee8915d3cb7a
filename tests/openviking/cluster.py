"""Two web processes and two workers on PostgreSQL and Redis beside a memory server; each can be killed and is started again."""

import itertools
import json
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.processes.memory_processes import ROOT, Processes
from tests.servers import ServerMissing, free_port, servers

WEBS, WORKERS = ("web0", "web1"), ("worker0", "worker1")
SETTLE_SECONDS = 90.0


class Cluster(Processes):
    """`speakers` are who talks (cluster_world.make); `ask` puts a question to a web process that lives."""

    def __init__(self, folder: Path, server: Any, given: dict[str, str]) -> None:
        self.ports = {name: free_port() for name in WEBS}
        super().__init__(folder, server, 1, given)
        place = folder / "memory.json"
        place.write_text(json.dumps(json.loads(place.read_text()) | {"unclear_wait_seconds": 2, "retrieval": {"timeout_seconds": 5}}))
        self.speakers = self.world("make", server.account)

    def world(self, *words: str) -> Any:
        return json.loads(self.run("-m", "tests.openviking.cluster_world", *words))

    def start(self, name: str) -> None:
        words = ["web", f"--port={self.ports[name]}"] if name in WEBS else ["worker"]
        with (self.folder / f"{name}.log").open("ab") as log:
            command = [sys.executable, "manage.py", *words]
            self._going[name] = subprocess.Popen(command, cwd=ROOT, env=self.variables, stdout=log, stderr=log)

    def answers(self) -> bool:
        return all(self._answers_at(port) for port in self.ports.values())

    def _answers_at(self, port: int) -> bool:
        try:
            return httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=5).status_code == 200
        except httpx.HTTPError:
            return False

    def settled(self) -> dict[str, Any]:
        """What there is when the workers have done all that was to do."""
        end = time.monotonic() + SETTLE_SECONDS
        while (state := self.world("state", self.server.account))["going"]:
            assert time.monotonic() < end, (state["left"], self.log())
            time.sleep(0.5)
        return state


class Talker(threading.Thread):
    """A conversation that goes on over both web processes in turn; what failed is said again, as a page does."""

    def __init__(self, of: Cluster, speaker: dict[str, Any], name: str) -> None:
        super().__init__(daemon=True)
        self.of, self.speaker, self.about, self.stop = of, speaker, name, threading.Event()
        self.acknowledged: list[str] = []
        self.said: list[str] = []
        self.thread_id = self.run_id = ""

    def run(self) -> None:
        ports = itertools.cycle(self.of.ports.values())
        with httpx.Client(timeout=20) as client:
            for number in itertools.count():
                self.say(client, ports, f"We decided that the {self.speaker['word']} class {self.about} meets as number {number}.")
                if self.stop.is_set():
                    return

    def say(self, client: httpx.Client, ports: Iterator[int], text: str) -> None:
        self.said.append(text)
        body = {"input": text} | ({"thread_id": self.thread_id} if self.thread_id else {})
        key = f"{self.speaker['word']}-{self.about}-{len(self.said)}"
        headers = {"authorization": f"Bearer {self.speaker['token']}", "idempotency-key": key}
        while True:
            try:
                response = client.post(f"http://127.0.0.1:{next(ports)}/agents/{self.speaker['agent']}/run", json=body, headers=headers)
            except httpx.HTTPError:
                time.sleep(0.1)
                continue
            if response.status_code == 200:
                told = response.json()
                self.thread_id, self.run_id = told["thread_id"], told["run_id"]
                if told["status"] == "completed":
                    self.acknowledged.append(text)
                return
            time.sleep(0.1)


def remembered(of: Cluster, speaker: dict[str, Any]) -> str:
    """What memory tells in a new conversation; asked again while it is paused after the kills."""
    end = time.monotonic() + SETTLE_SECONDS
    for number in itertools.count():
        asking = Talker(of, speaker, f"later{number}")
        with httpx.Client(timeout=20) as client:
            asking.say(client, itertools.cycle(of.ports.values()), f"When does the {speaker['word']} class meet?")
        if (told := of.world("told", asking.run_id)) or time.monotonic() > end:
            return told
    raise AssertionError


@contextmanager
def talking(of: Cluster, speakers: list[dict[str, Any]], conversations: int, name: str) -> Iterator[list[Talker]]:
    """So many conversations of each speaker at once, for the length of a `with`; each is heard before and after it."""
    talkers = [Talker(of, speaker, f"{name}{number}") for speaker in speakers for number in range(conversations)]
    for talker in talkers:
        talker.start()
    of.wait(lambda: all(talker.said[1:] for talker in talkers))
    yield talkers
    for talker in talkers:
        talker.stop.set()
    for talker in talkers:
        talker.join(60)
        assert not talker.is_alive()


def kill_some(of: Cluster, order: list[str], seconds: tuple[float, float], seed: int) -> None:
    chance = random.Random(seed)
    for name in order:
        time.sleep(chance.uniform(*seconds))
        of.kill(name)


@contextmanager
def cluster(folder: Path, server: Any) -> Iterator[Cluster]:
    with ExitStack() as stack:
        try:
            given = stack.enter_context(servers())
        except ServerMissing as missing:
            pytest.skip(str(missing))
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("DATABASE_URL", given["DATABASE_URL"])
            made = Cluster(folder, server, {"REDIS_URL": given["REDIS_URL"]})
        try:
            for name in (*WEBS, *WORKERS):
                made.start(name)
            made.wait(made.answers)
            yield made
        finally:
            made.end()
