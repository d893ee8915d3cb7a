"""A real OpenViking as a process of its own, with the stand-in models of SHARED_DIR; it can be killed and started again.

`serve.sh` of SHARED_DIR installs it once into OPENVIKING_DIR; a data folder and a port of its own are this module's.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.conftest import shared_folder
from tests.servers import free_port

INSTALL_SECONDS = 900
START_SECONDS = 120
STOP_SECONDS = 20
KEY = "test-root-key"
ACCOUNT = "test-account"


class RealServer:
    """`base_url`, `key` and `account` as the loopback server has them; `kill` and `start`; what a user has, by `get`."""

    key, account = KEY, ACCOUNT

    def __init__(self, program: Path, folder: Path, models_url: str) -> None:
        self.program, self.folder, self.models_url, self.port = program, folder, models_url, free_port()
        self._process: subprocess.Popen[bytes] | None = None
        (folder / "home").mkdir()
        (folder / "ov.conf").write_text(json.dumps(self._configuration()))

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _configuration(self) -> dict[str, Any]:
        model = {"provider": "openai", "api_base": self.models_url, "api_key": "stub"}
        return {
            "storage": {"workspace": str(self.folder / "data"), "vectordb": {"backend": "local"}, "agfs": {"backend": "local"}},
            "embedding": {"max_retries": 0, "dense": model | {"model": "stub-embed", "dimension": 256, "input": "text"}},
            "vlm": model | {"model": "stub-chat", "max_retries": 0, "timeout": 30},
            "server": {"host": "127.0.0.1", "port": self.port, "auth_mode": "trusted", "root_api_key": KEY},
            "log": {"level": "WARNING", "output": "stdout"},
        }

    def start(self) -> None:
        quiet = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        env = quiet | {"HOME": str(self.folder / "home"), "NO_PROXY": "*", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
        with (self.folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                [self.program, "--config", str(self.folder / "ov.conf")], cwd=self.folder, env=env, stdout=log, stderr=log
            )
        until(self._is_ready, self._process, START_SECONDS)

    def _is_ready(self) -> bool:
        return self.ask("GET", "/ready")[0] == 200

    def kill(self) -> None:
        """SIGKILL, at once."""
        if self._process:
            self._process.kill()
            self._process.wait()
        self._process = None

    def ask(self, method: str, path: str, *, user: str = "", body: Any = None) -> tuple[int, Any]:
        """Status 0 where nothing answers."""
        return ask(self, method, path, user=user, body=body)


def ask(server: Any, method: str, path: str, *, user: str = "", body: Any = None) -> tuple[int, Any]:
    """A plain request of a test to either server: status and body; status 0 where nothing answers."""
    headers = {"X-API-Key": server.key, "Content-Type": "application/json"}
    if user:
        headers |= {"X-OpenViking-Account": server.account, "X-OpenViking-User": user}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{server.base_url}{path}", data, headers, method=method)
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"null")
    except OSError:
        return 0, None


def count(server: Any, user: str, session: str) -> int:
    """How many messages ever arrived in a session; 0 when there is none."""
    status, told = ask(server, "GET", f"/api/v1/sessions/{quote(session)}", user=user)
    return told["result"]["total_message_count"] if status == 200 else 0


def until(ready: Any, process: subprocess.Popen[bytes] | None, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not ready():
        if (process and process.poll() is not None) or time.monotonic() > end:
            raise RuntimeError("The server did not start.")
        time.sleep(0.1)


def installed() -> Path:
    """The program, put into OPENVIKING_DIR by serve.sh where it is not there yet."""
    folder, shared = os.environ.get("OPENVIKING_DIR", ""), shared_folder()
    if not folder:
        pytest.skip("is asked for by `make test-openviking`")
    place = Path(folder).resolve()
    program = place / "venv" / "bin" / "openviking-server"
    if list((place / "venv").glob(".openviking-*")):
        return program
    if shared is None:
        pytest.skip("needs SHARED_DIR to install OpenViking")
    with subprocess.Popen([shared / "openviking" / "serve.sh", place], stdout=subprocess.DEVNULL) as process:
        try:
            until((place / "server.env").exists, process, INSTALL_SECONDS)
        finally:
            process.terminate()
    return program


@contextlib.contextmanager
def models() -> Iterator[str]:
    """The models that the server asks."""
    shared = shared_folder()
    if shared is None:
        pytest.skip("needs the stand-in models (SHARED_DIR)")
    port = free_port()
    process = subprocess.Popen([sys.executable, shared / "openviking" / "stub_models.py", "--port", str(port)], stdout=subprocess.DEVNULL)
    try:
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(STOP_SECONDS)


@contextlib.contextmanager
def real_server() -> Iterator[RealServer]:
    program = installed()
    with tempfile.TemporaryDirectory(prefix="openviking-", ignore_cleanup_errors=True) as folder, models() as url:
        server = RealServer(program, Path(folder), url)
        server.start()
        try:
            yield server
        finally:
            server.kill()
