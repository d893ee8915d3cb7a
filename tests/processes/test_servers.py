"""The servers of `python -m tests.servers` end with it, however it ends."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.servers import is_listening

pytestmark = pytest.mark.process
ROOT = Path(__file__).resolve().parents[2]
COMMAND = "import os, time; print(os.environ['REDIS_URL'], os.getpid(), flush=True); time.sleep(60)"


def test_servers_and_the_command_end_when_they_are_terminated():
    if shutil.which("redis-server") is None:
        pytest.skip("needs redis-server")
    given = {name: value for name, value in os.environ.items() if name != "REDIS_URL"} | {"DATABASE_URL": "sqlite://:memory:"}
    command = [sys.executable, "-m", "tests.servers", sys.executable, "-c", COMMAND]
    with subprocess.Popen(command, cwd=ROOT, env=given, stdout=subprocess.PIPE, text=True) as process:
        url, command_id = process.stdout.readline().split()
        port = urlsplit(url).port
        assert is_listening(port)
        process.terminate()
        assert process.wait(20) == 128 + signal.SIGTERM
    assert not is_listening(port)
    with pytest.raises(ProcessLookupError):
        os.kill(int(command_id), 0)
