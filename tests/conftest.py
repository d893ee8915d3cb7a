"""Set-up shared by all tests."""

import importlib.util
import os
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from chat.memory.external.figures import METER
from chat.runs import live
from chat.text import tokens
from tests.openviking_server.in_force import in_force
from tests.openviking_server.server import Server


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where CI is set everything is installed, so a test that is left out because something is missing has failed."""
    report = yield
    if report.skipped and os.environ.get("CI") and isinstance(report.longrepr, tuple) and "needs " in report.longrepr[2]:
        report.outcome, report.longrepr = "failed", f"left out: {report.longrepr[2]}"
    return report


@pytest.fixture(scope="session", autouse=True)
def token_ranks() -> None:
    """Counts exactly where the ranks are on disk, as the product does."""
    if (settings.TIKTOKEN_DIR / tokens.RANKS_NAME).is_file():
        tokens.load_ranks(settings.TIKTOKEN_DIR)


@pytest.fixture(autouse=True)
def no_runs_left() -> Iterator[None]:
    """Runs that a test left going end with its loop; the next test must not meet them."""
    yield
    for table in (live._runs, live._viewers, live._listeners):
        table.clear()


@pytest.fixture(autouse=True)
def nothing_counted() -> None:
    """What an earlier test counted about a memory backend and did not store is none of the next one's."""
    METER._sums.clear()


def shared_folder() -> Path | None:
    """The folder with the scripted model server and the test data, when it lies beside the repository."""
    folder = Path(os.environ.get("SHARED_DIR") or Path(__file__).resolve().parents[2] / "shared")
    return folder if (folder / "bench" / "load" / "mock_provider.py").is_file() else None


def mock_provider_class() -> Any:
    """The scripted model server, a context manager; the test that needs it is skipped where it is not there."""
    folder = shared_folder()
    if folder is None:
        if os.environ.get("CI"):
            pytest.fail("The scripted model server is missing: set SHARED_DIR.")
        pytest.skip("needs the scripted model server (SHARED_DIR)")
    spec = importlib.util.spec_from_file_location("mock_provider", folder / "bench" / "load" / "mock_provider.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault("mock_provider", module)
    spec.loader.exec_module(module)
    return module.MockProvider


@pytest.fixture
def mock_model() -> Iterator[Any]:
    """A running model server on loopback, scripted by the test; see its README under bench/load."""
    with mock_provider_class()() as mock:
        yield mock


@pytest.fixture
def openviking() -> Iterator[Server]:
    """A memory server on loopback (tests/openviking_server): `base_url`, `key`, `account`; `faults.add("delay", "search/find",
    seconds=3)`; `state.messages()`, `.memories()`, `.users()`, `.tasks()`; `seen`, the requests; `stop` and `start`."""
    with Server() as server:
        yield server


@pytest.fixture
def openviking_in_force(openviking: Server) -> Iterator[Server]:
    """The same server, with the product set to use it (MEMORY_MANAGER=openviking)."""
    with in_force(openviking):
        yield openviking
