"""The parent of web and worker: starts them, restarts a crashed one, ends both (RUNTIME 10).

A child whose first start ends with REFUSED cannot start as it is set up: then all ends, as starting it again would not help.
"""

import asyncio
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from django.core.management.base import CommandError

REFUSED: Final = os.EX_CONFIG  # the exit code of a process that names what has to be put right before it can start
STOP_SECONDS = 12  # from SIGTERM to SIGKILL
BACKOFF_FIRST_SECONDS = 0.5
BACKOFF_MOST_SECONDS = 30.0
STEADY_SECONDS = 30.0  # a child that ran this long starts again without delay


class StartRefused(CommandError):
    """The process cannot start as it is set up, or as what it needs stands; the message names it."""

    def __init__(self, message: str) -> None:
        super().__init__(message, returncode=REFUSED)


@dataclass(frozen=True, slots=True)
class Program:
    """A child: its name, and the arguments after `manage.py`."""

    name: str
    arguments: Sequence[str]


class Supervisor:
    """Keeps programs running until SIGTERM or SIGINT. `say` is told in a line what happens."""

    def __init__(self, programs: Sequence[Program], manage: str, say: Callable[[str], None]) -> None:
        self.programs = programs
        self.manage = manage
        self.say = say
        self._stopping = asyncio.Event()
        self._refused: list[str] = []

    async def run(self) -> list[str]:
        """Returns the names of the programs that refused to start; none after a signal."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stopping.set)
        # Only this process has the writing end, so the children read the end of it when this process is gone.
        reading, writing = os.pipe()
        try:
            await asyncio.gather(*(self._keep(program, reading) for program in self.programs))
        finally:
            os.close(writing)
            os.close(reading)
        return self._refused

    async def _keep(self, program: Program, pipe: int) -> None:
        delay, is_first = BACKOFF_FIRST_SECONDS, True
        while not self._stopping.is_set():
            started = time.monotonic()
            process = await asyncio.create_subprocess_exec(
                sys.executable, self.manage, *program.arguments, f"--parent-pipe={pipe}", pass_fds=(pipe,), start_new_session=True
            )
            if not await self._ended_by_itself(process):
                await stop_process(process)
            elif is_first and process.returncode == REFUSED:
                self._refused.append(program.name)
                self._stopping.set()
            else:
                if time.monotonic() - started > STEADY_SECONDS:
                    delay = BACKOFF_FIRST_SECONDS
                self.say(f"{program.name} {describe_exit(process.returncode)}; it starts again in {delay:g} seconds.")
                await self._pause(delay)
                delay = min(delay * 2, BACKOFF_MOST_SECONDS)
            is_first = False

    async def _ended_by_itself(self, process: asyncio.subprocess.Process) -> bool:
        """Waits for the process or for the signal to stop, whichever comes first."""
        waits = [asyncio.create_task(process.wait()), asyncio.create_task(self._stopping.wait())]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()
        return not self._stopping.is_set()

    async def _pause(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), seconds)


def describe_exit(code: int | None) -> str:
    if code is not None and code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"ended with code {code}"


async def stop_process(process: asyncio.subprocess.Process) -> None:
    """Asks the process to end, and after the limit kills all of its group."""
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    try:
        await asyncio.wait_for(process.wait(), STOP_SECONDS)
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


def end_with_parent(pipe: int) -> None:
    """In a child: ends this process when the parent is gone, by SIGTERM and after the limit at once."""

    def watch() -> None:
        while os.read(pipe, 1):
            pass
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(STOP_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, name="parent", daemon=True).start()
