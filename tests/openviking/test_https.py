"""A server behind a proxy with HTTPS whose certificate was signed by an authority of the school's own (docs/openviking.md)."""

import os
from contextlib import contextmanager
from unittest.mock import patch

import pytest

from chat.memory.backends.base import BackendError, BackendMisconfigured, MemoryMessage, MemoryScope
from chat.memory.external import chosen
from tests.openviking.classroom import BACKEND, pause
from tests.openviking.https import Authority, proxied
from tests.openviking_server.in_force import in_force
from tests.openviking_server.server import Server

pytestmark = pytest.mark.django_db(transaction=True)
SCOPE = MemoryScope("tn_https", "7", "ag_1")
SAID = "We decided to read the marmot poem in May."


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path, "authority")


async def test_the_authority_is_named_by_a_variable(memory_server, authority):
    with behind(memory_server, authority.signed("localhost"), trusted=authority, retrieval={"timeout_seconds": 5}):
        manager = chosen.manager(BACKEND)
        assert (await manager.warm()).is_usable
        assert (await manager.add(SCOPE, "th_1", [MemoryMessage("m1", "user", SAID)])).sent == 1
        while not [item for item in await manager.search(SCOPE, "Which poem?", limit=5) if "marmot" in item.content]:
            await pause()
        await manager.close()


@pytest.mark.parametrize("scheme", ["https", "HTTPS"])
@pytest.mark.parametrize("trouble", ["unknown authority", "another host"])
async def test_nothing_goes_to_a_server_that_is_not_the_one_it_says(tmp_path, authority, scheme, trouble):
    trusted = authority if trouble == "another host" else Authority(tmp_path, "another")
    certificate = authority.signed("localhost" if trouble == "unknown authority" else "elsewhere.example")
    with Server() as server, behind(server, certificate, trusted=trusted, scheme=scheme, startup_policy="warn"):
        manager = chosen.manager(BACKEND)
        assert not (await manager.warm()).is_usable
        with pytest.raises(BackendError):
            await manager.add(SCOPE, "th_1", [MemoryMessage("m1", "user", SAID)])
        await manager.close()
        assert server.seen == []


@pytest.mark.parametrize("text", [None, "no certificate"])
def test_a_file_of_authorities_that_cannot_be_read_stops_the_start_by_its_name(tmp_path, text):
    place = tmp_path / "authorities.pem"
    if text is not None:
        place.write_text(text)
    with (
        Server() as server,
        in_force(server, base_url="https://localhost:1"),
        patch.dict(os.environ, {"SSL_CERT_FILE": str(place)}),
        pytest.raises(BackendMisconfigured, match="SSL_CERT_FILE"),
    ):
        chosen.manager(BACKEND)


@contextmanager
def behind(server, certificate, *, trusted, scheme="https", **more):
    """The product with a server behind a proxy that shows this certificate; `trusted` is whom the operator trusts."""
    with (
        proxied(server.base_url, certificate) as port,
        patch.dict(os.environ, {"SSL_CERT_FILE": str(trusted.file)}),
        in_force(server, base_url=f"{scheme}://localhost:{port}", **more),
    ):
        yield
