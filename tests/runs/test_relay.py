"""The relay between processes at its end."""

import asyncio
from unittest.mock import patch

from chat.runs import relay


class ForgetfulLayer:
    """A channel layer of which one cancellation is lost in `receive`, as asyncio.wait_for loses it now and then."""

    def __init__(self) -> None:
        self.is_waiting = asyncio.Event()
        self.is_forgotten = False

    async def new_channel(self, _prefix: str) -> str:
        return "web!channel"

    async def group_send(self, _group: str, _message: dict[str, object]) -> None:
        """What other tests left to be sent goes nowhere."""

    async def receive(self, _channel: str) -> dict[str, str]:
        self.is_waiting.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if self.is_forgotten:
                raise
            self.is_forgotten = True
        return await self.receive(_channel)


def test_relay_ends_when_a_cancellation_was_forgotten():
    async def whole() -> None:
        layer = ForgetfulLayer()
        with patch.object(relay, "get_channel_layer", lambda: layer):
            task = asyncio.create_task(relay._serve())
            await layer.is_waiting.wait()
            task.cancel()
            await asyncio.wait({task}, timeout=5)
            assert task.done() and asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(whole())
