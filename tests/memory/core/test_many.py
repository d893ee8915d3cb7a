"""Several tabs, several workers, restarts: the lists stay what they are."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from tests.memory.core.many import FIVE, confirm_at_once
from tests.processes.databases import new_database

ROOT = Path(__file__).resolve().parents[3]


def check_tabs(found: dict[str, Any]) -> None:
    assert found["outcomes"] == {"done": 31}
    assert (found["facts"], found["evicted"], found["by_nobody"]) == ({"confirmed": 30, "archived": 1}, 1, 0)
    assert (found["candidates"], found["upto"]) == ({"confirmed": 31, "pending": 5}, 5)
    assert (found["undo"], found["after"]) == ("done", {"confirmed": 30})


@pytest.mark.django_db(transaction=True)
def test_thirty_one_confirmations_at_once_leave_thirty():
    if connection.vendor == "sqlite":
        pytest.skip("in memory there is one connection; the test with a file does this")
    check_tabs(confirm_at_once())


@pytest.fixture
def run(tmp_path):
    """Runs a command of `many` in a process of its own on a new database."""
    given = {name: value for name, value in os.environ.items() if name not in ("REDIS_URL", "TEST_DATA_DIR")}
    database = new_database(tmp_path / "database")
    variables = given | {
        "DATABASE_URL": database.url,
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "LOG_LEVEL": "ERROR",
        "LEASE_SECONDS": "2",
    }

    def start(*command: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.memory.core.many", *command], env=variables, cwd=ROOT, text=True, stdout=subprocess.PIPE
        )

    def run(*command: str) -> Any:
        process = start(*command)
        output, _ = process.communicate(timeout=100)
        assert process.returncode == 0
        return json.loads(output)

    run.start = start
    run("tables")
    return run


@pytest.mark.process
def test_thirty_one_confirmations_at_once_leave_thirty_in_a_file(run):
    check_tabs(run("tabs"))


@pytest.mark.process
def test_five_things_learnt_fifty_times_are_five(run):
    """Two workers, which are killed and started again, and at last one that finishes."""
    run("talk", "5", "50")
    for number in range(3):
        both = [run.start("work", f"w{number}{name}") for name in "ab"]
        for process in both:
            try:
                process.wait(3 + number)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()
    for _ in range(10):
        run("work", "last")
        found = run("lists")
        if not found["left"]:
            break
    assert [text for text, _ in found["candidates"]] == sorted(FIVE)
    assert {seen for _, seen in found["candidates"]} == {50}
    assert (found["facts"], found["proposed"], found["decisions"], found["left"]) == (0, 5, 0, 0)
