"""Both servers: the one on loopback in the quick suite, the real one where it is asked for."""

from collections.abc import Iterator

import pytest

from tests.openviking.real import RealServer, real_server
from tests.openviking_server.server import Server

REAL = pytest.param("real", marks=[pytest.mark.openviking, pytest.mark.timeout(1200)])


@pytest.fixture(scope="session")
def _real() -> Iterator[RealServer]:
    """One real server for all tests; each takes users of its own."""
    with real_server() as server:
        yield server


@pytest.fixture(params=["loopback", REAL])
def memory_server(request: pytest.FixtureRequest) -> Iterator[Server | RealServer]:
    """A server that answers as OpenViking 0.5.2 does: ours, and the real one under `make test-openviking`."""
    if request.param == "real":
        yield request.getfixturevalue("_real")
        return
    with Server() as server:
        yield server
