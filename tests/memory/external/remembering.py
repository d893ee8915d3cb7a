"""A scripted memory backend that is asked for what fits a question."""

import asyncio
from collections.abc import Callable

from chat.memory.backends.base import ContextBudget, MemoryContext, MemoryScope
from tests.scripted_backend import ScriptedManager

SECRET = "老师的手机是13812345678"


class Remembering(ScriptedManager):
    """Gives its items, or what `gives` makes, and keeps what it was asked. `is_deaf`: does not end when it is cancelled."""

    read_seconds = 30.0

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[MemoryScope, str, ContextBudget]] = []
        self.gives: object = None
        self.on_asked: Callable[[], object] = lambda: None
        self.is_deaf = False
        self.ended = asyncio.Event()

    async def get_context(self, scope: MemoryScope, query: str, budget: ContextBudget) -> MemoryContext:
        self.asked.append((scope, query, budget))
        self.on_asked()
        try:
            await self._pass()
        except asyncio.CancelledError:
            if not self.is_deaf:
                raise
            await self.gate.wait()
            raise RuntimeError(SECRET) from None
        finally:
            self.ended.set()
        return MemoryContext(tuple(self.items)) if self.gives is None else self.gives
