"""Real web processes: killed in mid-answer, told to end, and two of them over one database."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.processes.databases import migrated
from tests.servers import ServerMissing, free_port, redis

pytestmark = [pytest.mark.process, pytest.mark.mock]
ROOT = Path(__file__).resolve().parents[2]
NUMBERS = "".join(f"【{number:03}】" for number in range(1, 121))


def wait_until(is_so: Callable[[], bool], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.05)


class World:
    """A data folder with the demo schools on the scripted model server, and the processes over it."""

    def __init__(self, folder: Path, model_url: str, stack: contextlib.ExitStack, **variables: str) -> None:
        self.stack, self.folder = stack, folder
        dropped = ("DJANGO_SETTINGS_MODULE", "DATABASE_URL", "REDIS_URL", "OLLAMA_URL", "OLLAMA_MODEL")
        self.environment = {name: value for name, value in os.environ.items() if name not in dropped} | {
            "DATA_DIR": str(folder),
            "OPENAI_BASE_URL": f"{model_url}/v1",
            "OPENAI_MODEL": "mock/delay=40",
            "DEMO_PASSWORD": "only-for-this-test",
            "SECRET_KEY": "",
            "HEARTBEAT_STALE_SECONDS": "3",
            **variables,
        }
        migrated().copy(folder)
        self.manage("demo")
        self.token = self.manage("api_token", "teacher").split()[-1]

    def manage(self, *words: str) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *words], cwd=ROOT, env=self.environment, check=True, capture_output=True, text=True
        )
        return done.stdout

    def start(self, command: str, *words: str) -> subprocess.Popen[bytes]:
        log = self.stack.enter_context((self.folder / f"{command}.log").open("ab"))
        process = subprocess.Popen([sys.executable, "manage.py", command, *words], cwd=ROOT, env=self.environment, stdout=log, stderr=log)

        def end() -> None:
            process.kill()
            process.wait()

        self.stack.callback(end)
        return process

    def web(self) -> "Web":
        port = free_port()
        web = Web(self.start("web", f"--port={port}"), f"http://127.0.0.1:{port}", self.token)
        wait_until(web.answers)
        return web


class Web:
    """One web process, as an API caller sees it."""

    def __init__(self, process: subprocess.Popen[bytes], url: str, token: str) -> None:
        self.process, self.url = process, url
        self.headers = {"authorization": f"Bearer {token}"}

    def answers(self) -> bool:
        with contextlib.suppress(httpx.HTTPError):
            return httpx.get(f"{self.url}/healthz").status_code == 200
        return False

    def get(self, path: str) -> Any:  # noqa: ANN401
        return httpx.get(f"{self.url}{path}", headers=self.headers, timeout=20).json()

    def agent(self) -> str:
        return self.get("/agents")["agents"][0]["id"]

    def post(self, path: str, **body: object) -> httpx.Response:
        return httpx.post(f"{self.url}{path}", json=body, headers=self.headers, timeout=60)

    def stream(self, key: str, **body: object) -> "Stream":
        return Stream(f"{self.url}/agents/{self.agent()}/run/stream", self.headers | {"idempotency-key": key}, body)

    def run(self, thread_id: str) -> dict[str, Any]:
        return self.get(f"/threads/{thread_id}/runs")["runs"][-1]


class Stream(threading.Thread):
    """A reader of one event stream in the background."""

    def __init__(self, url: str, headers: dict[str, str], body: dict[str, object]) -> None:
        super().__init__(daemon=True)
        self.url, self.headers, self.body = url, headers, body
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.start()

    def run(self) -> None:
        name = ""
        with (
            contextlib.suppress(httpx.HTTPError),
            httpx.stream("POST", self.url, json=self.body, headers=self.headers, timeout=60) as response,
        ):
            for line in response.iter_lines():
                if line.startswith("event: "):
                    name = line[7:]
                elif line.startswith("data: "):
                    self.events.append((name, json.loads(line[6:])))

    @property
    def started(self) -> dict[str, Any]:
        wait_until(lambda: bool(self.events))
        return self.events[0][1]

    @property
    def text(self) -> str:
        return "".join(values["text"] for name, values in self.events if name == "delta")

    def is_exact(self) -> bool:
        """Whether the deltas join without a gap or a repetition."""
        end = 0
        for name, values in self.events:
            if name == "delta":
                if values["offset"] != end:
                    return False
                end += len(values["text"])
        return True


@pytest.fixture
def stack() -> Iterator[contextlib.ExitStack]:
    with contextlib.ExitStack() as stack:
        yield stack


@pytest.fixture
def numbers(mock_model: Any) -> Any:  # noqa: ANN401
    mock_model.state.script = mock_model.state.script.__class__([{"match": "后一问$", "reply": "好。"}, {"match": "", "reply": NUMBERS}])
    return mock_model


def test_killed_web_process_leaves_the_partial_text_and_the_thread_goes_on(
    tmp_path: Path, numbers: Any, stack: contextlib.ExitStack
) -> None:
    world = World(tmp_path, numbers.url, stack)
    world.start("worker")
    web = world.web()
    stream = web.stream("k1", input="数一数")
    thread_id = stream.started["thread_id"]
    wait_until(lambda: len(web.run(thread_id)["output"]) > 50)
    web.process.send_signal(signal.SIGKILL)
    web.process.wait()
    web = world.web()
    wait_until(lambda: web.run(thread_id)["status"] == "failed")
    run = web.run(thread_id)
    assert run["error"]["code"] == "interrupted"
    assert len(run["output"]) > 50 and NUMBERS.startswith(run["output"])
    answer = web.post(f"/agents/{web.agent()}/run", input="后一问", thread_id=thread_id).json()
    assert (answer["status"], answer["output"]) == ("completed", "好。")
    assert "‹助手› (该轮未成功完成，已跳过)" in numbers.chats[-1]["messages"][-1]["content"]


def test_web_process_that_is_told_to_end_stores_its_runs_as_interrupted(tmp_path: Path, numbers: Any, stack: contextlib.ExitStack) -> None:
    world = World(tmp_path, numbers.url, stack)
    web = world.web()
    stream = web.stream("k1", input="数一数")
    wait_until(lambda: len(stream.text) > 20)
    web.process.terminate()
    web.process.wait(15)
    run = world.web().run(stream.started["thread_id"])
    assert (run["status"], run["error"]["code"]) == ("failed", "interrupted")
    assert NUMBERS.startswith(run["output"]) and len(run["output"]) >= len(stream.text)


@pytest.mark.parametrize("has_redis", [False, True], ids=["database", "redis"])
def test_viewer_of_another_process_sees_the_whole_answer_and_can_stop_it(
    tmp_path: Path, numbers: Any, stack: contextlib.ExitStack, has_redis: bool
) -> None:
    variables = {}
    if has_redis:
        try:
            variables["REDIS_URL"] = stack.enter_context(redis())
        except ServerMissing as missing:
            if os.environ.get("CI"):
                pytest.fail(str(missing))
            pytest.skip(str(missing))
    world = World(tmp_path, numbers.url, stack, **variables)
    one, other = world.web(), world.web()
    first = one.stream("k1", input="数一数")
    wait_until(lambda: len(first.text) > 20)
    joined = other.stream("k1", input="数一数")
    joined.join(30)
    first.join(30)
    assert joined.started["run_id"] == first.started["run_id"]
    assert joined.text == first.text == NUMBERS
    assert joined.is_exact() and joined.events[-1][0] == "completed"
    pieces = sum(name == "delta" for name, _ in joined.events)
    assert pieces > 10 if has_redis else pieces > 3

    second = one.stream("k2", input="再数一数")
    wait_until(lambda: len(second.text) > 20)
    assert other.post(f"/runs/{second.started['run_id']}/stop").status_code == 200
    second.join(10)
    assert second.events[-1][0] == "cancelled"
    wait_until(lambda: numbers.requests[-1]["outcome"] == "client_closed", 3)
    assert one.run(second.started["thread_id"])["output"] == second.text
    time.sleep(7 if has_redis else 0)  # longer than the layer waits for a message
    assert "in trouble" not in (tmp_path / "web.log").read_text()
