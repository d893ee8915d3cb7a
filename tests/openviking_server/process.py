"""The server as a process of its own: killed with SIGKILL, started again on the same port with what it had written down."""

import json
import os
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

from tests.openviking_server.faults import Kind
from tests.openviking_server.server import CONTROL, KEY, Seen, Server
from tests.servers import free_port, is_listening

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 20


class ServerProcess:
    """`with ServerProcess(folder) as openviking:` has the same `base_url`, `key`, `account`, `faults`, `state` and `seen` as
    `Server`; `kill` and `start` besides."""

    account = Server.account

    def __init__(self, folder: Path, *, extraction_seconds: float = 0.0, late_seconds: float = 0.0) -> None:
        self.key, self.port, self.file = KEY, free_port(), folder / "openviking.jsonl"
        self.seconds = (str(extraction_seconds), str(late_seconds))
        self._process: subprocess.Popen[bytes] | None = None
        self.faults, self.state = RemoteFaults(self), RemoteState(self)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def seen(self) -> list[Seen]:
        """What came since the last start."""
        return [Seen(*one) for one in self.ask("seen")]

    def start(self) -> None:
        command = [sys.executable, "-m", "tests.openviking_server", str(self.port), str(self.file), *self.seconds]
        self._process = subprocess.Popen(command, cwd=ROOT, env=dict(os.environ))
        end = time.monotonic() + START_SECONDS
        while not is_listening(self.port):
            if self._process.poll() is not None or time.monotonic() > end:
                raise RuntimeError("The memory server did not start.")
            time.sleep(0.02)

    def kill(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()
        self._process = None

    def ask(self, verb: str, **told: Any) -> Any:
        request = urllib.request.Request(f"{self.base_url}{CONTROL}{verb}", json.dumps(told).encode(), method="POST")
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=10) as response:
            return json.load(response)

    def __enter__(self) -> "ServerProcess":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


class RemoteFaults:
    def __init__(self, server: ServerProcess) -> None:
        self._server = server

    def add(self, kind: Kind, where: str = "", **more: Any) -> None:
        self._server.ask("faults", kind=kind, where=where, **more)

    def clear(self) -> None:
        self._server.ask("clear")


class RemoteState:
    def __init__(self, server: ServerProcess) -> None:
        self._server = server

    def users(self) -> list[str]:
        return self._server.ask("users")

    def sessions(self, user: str = "") -> list[str]:
        return self._server.ask("sessions", user=user)

    def messages(self, session: str = "", user: str = "") -> list[str]:
        return self._server.ask("messages", session=session, user=user)

    def live(self, session: str = "") -> list[str]:
        return self._server.ask("live", session=session)

    def memories(self, user: str = "") -> list[str]:
        return self._server.ask("memories", user=user)

    def tasks(self) -> list[str]:
        return self._server.ask("tasks")
