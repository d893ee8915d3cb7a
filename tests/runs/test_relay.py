"""The relay between processes at its end."""

import asyncio
from unittest.mock import patch

from chat.runs import relay


class ForgetfulLayer:
    """A channel layer that loses so many cancellations in `receive`, as asyncio.wait_for loses one now and then."""

    def __init__(self, forgets: int = 1) -> None:
        self.is_waiting, self.has_forgotten = asyncio.Event(), asyncio.Event()
        self.forgets = forgets

    async def new_channel(self, _prefix: str) -> str:
        return "web!channel"

    async def group_send(self, _group: str, _message: dict[str, object]) -> None:
        """What other tests left to be sent goes nowhere."""

    async def receive(self, _channel: str) -> dict[str, str]:
        self.is_waiting.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if not self.forgets:
                raise
            self.forgets -= 1
            self.has_forgotten.set()
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


def test_relay_that_is_cancelled_again_while_it_ends_leaves_no_receiver_behind():
    """As when a process shuts down and its loop then ends, which waits for whatever has not ended."""

    async def whole() -> None:
        layer = ForgetfulLayer(forgets=2)
        with patch.object(relay, "get_channel_layer", lambda: layer):
            task = asyncio.create_task(relay._serve())
            await layer.is_waiting.wait()
            task.cancel()
            await layer.has_forgotten.wait()
            task.cancel()
            await asyncio.wait({task}, timeout=5)
            left = asyncio.all_tasks() - {asyncio.current_task()}
            for one in left:  # else this loop would wait for it too
                while not one.done():
                    one.cancel()
                    await asyncio.wait({one}, timeout=0.1)
            assert task.done() and not left

    asyncio.run(whole())
