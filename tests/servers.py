"""Private PostgreSQL and Redis for one command: `python -m tests.servers pytest …`.

Each listens on a free port of this machine, keeps its files in a temporary folder and ends with the command, also when
SIGTERM ends that before its time. A server
whose address is given by DATABASE_URL or REDIS_URL is used instead. Where a program is missing the command is left
out, which is a failure when CI is set.
"""

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import psycopg

START_SECONDS = 30
POSTGRES_FOLDERS = "/usr/lib/postgresql"


class ServerMissing(Exception):
    """A server's program is not installed."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def postgres_program(name: str) -> str:
    """The path of one of PostgreSQL's programs; Debian keeps them off the PATH."""
    found = shutil.which(name) or next((str(path) for path in sorted(Path(POSTGRES_FOLDERS).glob(f"*/bin/{name}"), reverse=True)), None)
    if found is None:
        raise ServerMissing(f"needs PostgreSQL ({name})")
    return str(Path(found).resolve())


def until(ready: Callable[[], bool], process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while not ready():
        if process.poll() is not None or time.monotonic() > end:
            raise RuntimeError(f"A server did not start:\n{log.read_text(errors='replace')}")
        time.sleep(0.1)


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def accepts(database_url: str) -> bool:
    try:
        psycopg.connect(database_url, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


@contextlib.contextmanager
def started(command: list[str], folder: Path, ready: Callable[[], bool], *, user: str | None = None) -> Iterator[None]:
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, cwd=folder, start_new_session=True, user=user)
    try:
        until(ready, process, log)
        yield
    finally:
        process.send_signal(signal.SIGINT)  # PostgreSQL's fast shutdown, and an ordinary end for Redis
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextlib.contextmanager
def postgres() -> Iterator[str]:
    """The DATABASE_URL of a PostgreSQL that is thrown away at the end."""
    initdb, server = postgres_program("initdb"), postgres_program("postgres")
    # PostgreSQL refuses to run as root.
    user = "postgres" if os.geteuid() == 0 else None
    if user and not any(entry.pw_name == user for entry in pwd.getpwall()):
        raise ServerMissing("needs a user postgres, or not to run as root")
    with tempfile.TemporaryDirectory(prefix="pg-") as name:
        folder, port = Path(name), free_port()
        if user:
            shutil.chown(folder, user)
        data = folder / "data"
        options = ["--username=test", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]
        subprocess.run([initdb, f"--pgdata={data}", *options], check=True, stdout=subprocess.DEVNULL, cwd=folder, user=user)
        fast = [f"-c{one}=off" for one in ("fsync", "synchronous_commit", "full_page_writes")]
        command = [server, f"-D{data}", f"-p{port}", f"-k{folder}", "-clisten_addresses=127.0.0.1", "-cmax_connections=300", *fast]
        url = f"postgres://test@127.0.0.1:{port}/postgres"
        with started(command, folder, lambda: accepts(url), user=user):
            yield url


@contextlib.contextmanager
def redis() -> Iterator[str]:
    """The REDIS_URL of a Redis that keeps nothing."""
    program = shutil.which("redis-server")
    if program is None:
        raise ServerMissing("needs redis-server")
    with tempfile.TemporaryDirectory(prefix="redis-") as name:
        folder, port = Path(name), free_port()
        command = [program, f"--port {port}", "--bind 127.0.0.1", '--save ""', f"--dir {folder}"]
        with started(command, folder, lambda: is_listening(port)):
            yield f"redis://127.0.0.1:{port}/0"


@contextlib.contextmanager
def servers() -> Iterator[dict[str, str]]:
    """The two variables, of given servers where there are any."""
    with contextlib.ExitStack() as stack:
        yield {
            "DATABASE_URL": os.environ.get("DATABASE_URL") or stack.enter_context(postgres()),
            "REDIS_URL": os.environ.get("REDIS_URL") or stack.enter_context(redis()),
        }


def end(number: int, _frame: FrameType | None) -> None:
    """Leaves in good order, so that the servers end too. Once: `timeout` sends its signal to the process and to its group."""
    signal.signal(number, signal.SIG_IGN)
    sys.exit(128 + number)


def main(command: list[str]) -> int:
    signal.signal(signal.SIGTERM, end)
    try:
        with servers() as variables:
            return subprocess.run(command, env=os.environ | variables).returncode
    except ServerMissing as missing:
        sys.stderr.write(f"Left out: {' '.join(command)}: {missing}\n")
        return 1 if os.environ.get("CI") else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
