"""An answer that has begun is read at intervals."""

import asyncio
import ssl

import httpcore
import pytest

from chat.providers.base import Endpoint
from chat.providers.openai import OpenAI
from chat.providers.pace import PacedStream
from tests.providers.builders import request


class Tap(httpcore.AsyncNetworkStream):
    """Always has something; notes when it was asked."""

    def __init__(self) -> None:
        self.asked_at: list[float] = []

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self.asked_at.append(asyncio.get_running_loop().time())
        return b"piece"

    async def start_tls(self, ssl_context, server_hostname=None, timeout=None):
        return self


async def test_a_paced_connection_rests_between_two_reads_and_another_does_not():
    tap = Tap()
    stream = PacedStream(tap)
    stream.interval_seconds = 0.02
    for _ in range(2):
        await stream.read(100)
    stream.interval_seconds = 0
    await stream.read(100)
    first, second, third = tap.asked_at
    assert second - first >= 0.02 > third - second


async def test_an_encrypted_connection_is_read_as_it_comes():
    """A read of it gives one record, so that resting between reads would hold back all the others."""
    tap = Tap()
    stream = PacedStream(tap)
    stream.interval_seconds = 0.02
    assert await stream.start_tls(ssl.create_default_context()) is tap


@pytest.mark.mock
async def test_pieces_of_an_answer_are_read_together(mock_model):
    to = Endpoint("openai", f"{mock_model.url}/v1", model="mock/tokens=12,delay=10")
    loop = asyncio.get_running_loop()
    came_at = []
    async for delta in OpenAI().stream(to, request()):
        if delta.text:
            came_at.append(loop.time())
    gaps = [later - earlier for earlier, later in zip(came_at, came_at[1:], strict=False)]
    assert sum(gap < 0.005 for gap in gaps) > len(gaps) / 2  # most pieces come together with the one before
