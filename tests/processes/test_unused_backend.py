"""Without MEMORY_MANAGER=openviking nothing of it is imported."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes.databases import new_database

pytestmark = [pytest.mark.process, pytest.mark.timeout(120)]
ROOT = Path(__file__).resolve().parents[2]


def modules(folder: Path, **variables: str) -> list[str]:
    dropped = ("REDIS_URL", "TEST_DATA_DIR", "MEMORY_MANAGER", "MEMORY_BACKEND_CONFIG")
    given = {name: value for name, value in os.environ.items() if name not in dropped}
    own = {
        "DATA_DIR": str(folder),
        "DATABASE_URL": new_database(folder / "database").url,
        "DJANGO_SETTINGS_MODULE": "memoryapp.settings",
        "SECRET_KEY": "only-for-tests",
        "ALLOWED_HOSTS": "*",
        "DEMO_DELAY_SECONDS": "0",
    }
    told = subprocess.run(
        [sys.executable, "-m", "tests.processes.unused_backend"],
        env=given
        | own
        | {"DJANGO_SETTINGS_MODULE": "memoryapp.settings", "SECRET_KEY": "only-for-tests", "ALLOWED_HOSTS": "*"}
        | variables,
        cwd=ROOT,
        check=True,
        text=True,
        stdout=subprocess.PIPE,
        timeout=110,
    ).stdout
    return json.loads(told.splitlines()[-1])


@pytest.mark.parametrize("name", ["builtin", "noop"])
def test_a_whole_turn_and_the_panel_import_no_other_backend(tmp_path, name):
    found = modules(tmp_path, MEMORY_MANAGER=name)
    assert {one.split(".")[3] for one in found} == {"base", name}
