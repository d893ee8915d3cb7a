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
