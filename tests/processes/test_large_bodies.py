"""What the real web server does with a body that is too large: it answers before the body has come in."""

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers import free_port

pytestmark = pytest.mark.process
ROOT = Path(__file__).resolve().parents[2]
LIMIT = 6 * 1024 * 1024  # of DOCUMENT_MAX_MB=1
HEAD = b"POST /knowledge/upload/ HTTP/1.1\r\nHost: 127.0.0.1\r\n"
CHUNK = b"10000\r\n" + b"x" * 65_536 + b"\r\n"


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A web process that needs no database: what it refuses here comes to no page."""
    folder, port = tmp_path_factory.mktemp("web"), free_port()
    environment = {name: value for name, value in os.environ.items() if name not in ("DJANGO_SETTINGS_MODULE", "DATABASE_URL", "REDIS_URL")}
    environment |= {"DATA_DIR": str(folder), "DOCUMENT_MAX_MB": "1", "SECRET_KEY": ""}
    with (folder / "log").open("wb") as log:
        command = [sys.executable, "manage.py", "web", f"--port={port}"]
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
        try:
            end = time.monotonic() + 60
            while not _listens(port):
                assert process.poll() is None and time.monotonic() < end, (folder / "log").read_text()
                time.sleep(0.1)
            yield port
        finally:
            process.terminate()
            process.wait(30)


def _listens(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def answer(connection: socket.socket) -> bytes:
    """What the server says first."""
    connection.settimeout(20)
    return connection.recv(65_536)


def test_body_that_is_said_to_be_too_large_is_refused_at_its_head(port: int):
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % (LIMIT + 1))
        said = answer(connection)
    assert said.startswith(b"HTTP/1.1 413") and b"6 MB" in said


def test_body_of_unknown_length_is_refused_when_it_has_become_too_large(port: int):
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
        for _ in range(LIMIT // 65_536 + 1):
            connection.sendall(CHUNK)  # and never the last one
        assert answer(connection).startswith(b"HTTP/1.1 413")


def test_body_within_the_limit_comes_to_the_page(port: int):
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(HEAD + b"Content-Type: text/plain\r\nContent-Length: %d\r\n\r\n" % LIMIT)
        connection.sendall(b"x" * LIMIT)
        said = answer(connection)
    assert said.startswith(b"HTTP/1.1 403")  # a form without its token
