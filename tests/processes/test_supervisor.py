"""The parent of web and worker, with small programs in their place."""

import asyncio
import os
import signal
import time
from pathlib import Path

import pytest

from chat import supervisor
from chat.supervisor import Program, Supervisor

pytestmark = pytest.mark.process


def script(folder: Path, text: str) -> str:
    path = folder / "program.py"
    path.write_text(text)
    return str(path)


async def supervise(program: str, lines: list[str], until: str) -> None:
    """Runs the program under a supervisor until it has said `until`, then stops with a signal, as a person does."""

    def say(line: str) -> None:
        lines.append(line)
        if until in line:
            os.kill(os.getpid(), signal.SIGTERM)

    await asyncio.wait_for(Supervisor([Program("web", [])], program, say).run(), 30)


async def test_a_program_that_crashes_again_and_again_waits_longer_each_time(tmp_path, monkeypatch):
    monkeypatch.setattr(supervisor, "BACKOFF_FIRST_SECONDS", 0.1)
    lines: list[str] = []
    await supervise(script(tmp_path, "raise SystemExit(3)"), lines, "0.4 seconds")
    assert lines == [f"web ended with code 3; it starts again in {delay} seconds." for delay in ("0.1", "0.2", "0.4")]


async def test_a_program_that_does_not_end_is_killed(tmp_path, monkeypatch):
    monkeypatch.setattr(supervisor, "STOP_SECONDS", 0.5)
    stubborn = (
        "import os, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nos.kill(os.getppid(), signal.SIGTERM)\ntime.sleep(60)"
    )
    started = time.monotonic()
    await supervise(script(tmp_path, stubborn), [], "never")
    assert time.monotonic() - started < 20


REFUSES_BESIDE = """
import pathlib, signal, sys, time
name, folder = sys.argv[1], pathlib.Path(__file__).parent
with (folder / name).open("a") as starts:
    starts.write("x")
if name == "web":
    while not (folder / "worker").exists():
        time.sleep(0.02)
    raise SystemExit(78)
time.sleep(60)
"""


async def test_a_program_that_refuses_to_start_ends_all_at_once(tmp_path):
    parent = Supervisor([Program("web", ["web"]), Program("worker", ["worker"])], script(tmp_path, REFUSES_BESIDE), [].append)
    assert await asyncio.wait_for(parent.run(), 30) == ["web"]
    assert [(tmp_path / name).read_text() for name in ("web", "worker")] == ["x", "x"]


async def test_a_program_that_had_started_is_started_again_also_when_it_is_refused_then(tmp_path, monkeypatch):
    monkeypatch.setattr(supervisor, "BACKOFF_FIRST_SECONDS", 0.1)
    crashes_then_refuses = (
        "import pathlib\nmark = pathlib.Path(__file__).with_name('mark')\n"
        "code = 78 if mark.exists() else 3\nmark.touch()\nraise SystemExit(code)"
    )
    lines: list[str] = []
    await supervise(script(tmp_path, crashes_then_refuses), lines, "0.4 seconds")
    ends = ((3, "0.1"), (78, "0.2"), (78, "0.4"))
    assert lines == [f"web ended with code {code}; it starts again in {delay} seconds." for code, delay in ends]
