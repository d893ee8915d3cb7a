"""`manage.py up` as a person runs it: web and worker under one parent, on a free port and with a data folder of its own."""

import contextlib
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from chat.supervisor import REFUSED, STOP_SECONDS
from tests.processes.databases import migrated
from tests.servers import free_port

pytestmark = pytest.mark.process

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "only-for-this-test"
START_SECONDS = 60


def wait_until(is_so: Callable[[], bool], seconds: float = START_SECONDS) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if is_so():
            return True
        time.sleep(0.1)
    return False


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@dataclass
class App:
    process: subprocess.Popen[str]
    url: str
    log: Path

    def child(self, name: str) -> int | None:
        """The process id of web or worker."""
        with contextlib.suppress(FileNotFoundError):
            for pid in Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split():
                words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                if name.encode() in words:
                    return int(pid)
        return None

    def children(self) -> list[int]:
        return [pid for pid in (self.child("web"), self.child("worker")) if pid]

    def answers(self) -> bool:
        with contextlib.suppress(httpx.HTTPError):
            return httpx.get(f"{self.url}/healthz", timeout=2).status_code == 200
        return False

    def is_complete(self) -> bool:
        return len(self.children()) == 2 and self.answers()


def environment(data: Path) -> dict[str, str]:
    """This one without what would change the app: another database, model or log-in."""
    dropped = (
        "DJANGO_SETTINGS_MODULE",
        "DATABASE_URL",
        "REDIS_URL",
        "OPENAI_BASE_URL",
        "OPENAI_MODEL",
        "OLLAMA_URL",
        "OLLAMA_MODEL",
        "DEMO",
    )
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    return kept | {"DATA_DIR": str(data), "DEMO_PASSWORD": PASSWORD, "SECRET_KEY": ""}


@contextlib.contextmanager
def running_app(folder: Path, **variables: str) -> Iterator[App]:
    port, log = free_port(), folder / "log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "up", f"--port={port}"],
            cwd=ROOT,
            env=environment(folder / "data") | variables,
            stdout=output,
            stderr=subprocess.STDOUT,
            text=True,
        )
    running = App(process, f"http://127.0.0.1:{port}", log)
    try:
        assert wait_until(running.is_complete), log.read_text()
        yield running
    finally:
        left = running.children()
        process.terminate()
        try:
            process.wait(STOP_SECONDS + 5)
        except subprocess.TimeoutExpired:
            process.kill()
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    migrated().copy(tmp_path / "data")
    with running_app(tmp_path) as running:
        yield running


def log_in(app: App) -> httpx.Response:
    with httpx.Client(base_url=app.url, follow_redirects=True) as browser:
        page = browser.get("/accounts/login/")
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
        assert token is not None
        fields = {"username": "teacher", "password": PASSWORD, "csrfmiddlewaretoken": token[1]}
        return browser.post("/accounts/login/", data=fields, headers={"Referer": app.url})


def test_a_teacher_of_the_demo_school_logs_in(app: App):
    page = log_in(app)
    assert page.status_code == 200
    assert "/chat/" in str(page.url)


def test_a_killed_web_process_comes_back(app: App):
    killed = app.child("web")
    os.kill(killed, signal.SIGKILL)
    assert wait_until(lambda: app.child("web") not in (None, killed) and app.answers()), app.log.read_text()


def test_sigterm_ends_both_within_the_limit(app: App):
    children = app.children()
    app.process.send_signal(signal.SIGTERM)
    assert app.process.wait(STOP_SECONDS + 3) == 0
    assert not [pid for pid in children if is_alive(pid)]


@pytest.mark.mock
def test_sigterm_ends_an_answer_as_interrupted_with_its_text(mock_model, tmp_path: Path):
    slow = {"OPENAI_BASE_URL": f"{mock_model.url}/v1", "OPENAI_MODEL": "mock/delay=100,tokens=600"}
    with running_app(tmp_path, **slow) as app:
        command = [sys.executable, "manage.py", "api_token", "teacher"]
        token = subprocess.run(
            command, cwd=ROOT, env=environment(tmp_path / "data"), capture_output=True, text=True, check=True
        ).stdout.strip()
        with httpx.Client(base_url=app.url, headers={"Authorization": f"Bearer {token}"}, timeout=30) as caller:
            agent = caller.get("/agents").json()["agents"][0]["id"]
            with caller.stream("POST", f"/agents/{agent}/run/stream", json={"input": "出一份试卷"}) as answer:
                assert any(line == "event: delta" for line in answer.iter_lines())
                app.process.send_signal(signal.SIGTERM)
                assert app.process.wait(STOP_SECONDS + 3) == 0
    with contextlib.closing(sqlite3.connect(tmp_path / "data" / "db.sqlite3")) as database:
        status, code, output = database.execute("SELECT status, error_code, output FROM chat_run").fetchone()
    assert (status, code) == ("failed", "interrupted")
    assert output


def test_ctrl_c_ends_both(app: App):
    children = app.children()
    app.process.send_signal(signal.SIGINT)
    assert app.process.wait(STOP_SECONDS + 3) == 0
    assert not [pid for pid in children if is_alive(pid)]


def test_children_end_when_their_parent_was_killed(app: App):
    children = app.children()
    app.process.kill()
    app.process.wait()
    assert wait_until(lambda: not [pid for pid in children if is_alive(pid)], STOP_SECONDS + 3)


def test_a_busy_port_is_named(app: App, tmp_path: Path):
    port = app.url.rsplit(":", 1)[1]
    second = subprocess.run(
        [sys.executable, "manage.py", "up", f"--port={port}"],
        cwd=ROOT,
        env=environment(tmp_path / "second"),
        capture_output=True,
        text=True,
    )
    assert second.returncode == 1
    assert f"Cannot listen on 127.0.0.1:{port}" in second.stderr


def test_without_the_demo_the_first_administrator_is_explained(tmp_path: Path):
    process = subprocess.Popen(
        [sys.executable, "manage.py", "up", f"--port={free_port()}"],
        cwd=ROOT,
        env=environment(tmp_path / "data") | {"DEMO": "0"},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        lines = [process.stdout.readline() for _ in range(2)]
    finally:
        process.terminate()
        process.communicate(timeout=STOP_SECONDS + 5)
    assert "createsuperuser" in lines[1]


def started_with_memory_at(port: int, folder: Path, **fields: object) -> subprocess.CompletedProcess[str]:
    """`up` with a memory backend, until it ends by itself."""
    configuration = folder / "memory.json"
    configuration.write_text(
        json.dumps({"base_url": f"http://127.0.0.1:{port}", "account": "our-school", "api_key_env": "MEMORY_KEY"} | fields)
    )
    variables = {"MEMORY_MANAGER": "openviking", "MEMORY_BACKEND_CONFIG": str(configuration), "MEMORY_KEY": "a-long-random-text"}
    return subprocess.run(
        [sys.executable, "manage.py", "up", f"--port={free_port()}"],
        cwd=ROOT,
        env=environment(folder / "data") | variables,
        capture_output=True,
        text=True,
        timeout=START_SECONDS,
    )


def test_a_memory_server_that_is_away_ends_the_start_once_and_is_named(tmp_path: Path):
    port = free_port()
    ended = started_with_memory_at(port, tmp_path)
    assert ended.returncode == REFUSED
    assert ended.stderr.count("cannot be used (memory_unreachable") == 1
    assert f"OpenViking at 127.0.0.1:{port}" in ended.stderr
    assert "starts again" not in ended.stdout + ended.stderr


def test_a_memory_backend_that_is_set_up_wrongly_ends_the_start_and_its_field_is_named(tmp_path: Path):
    ended = started_with_memory_at(free_port(), tmp_path, top_k=8)
    assert ended.returncode != 0
    assert ended.stderr.count("top_k") == 1
    assert "starts again" not in ended.stdout + ended.stderr
