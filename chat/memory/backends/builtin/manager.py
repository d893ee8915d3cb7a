"""The built-in backend, as the panel and the erasing of a person see it; its layers write and read by themselves."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, ParamSpec, Self, TypeVar

from channels.db import database_sync_to_async

from chat.memory.backends.base import (
    Added,
    BackendClosed,
    BackendError,
    BackendMisconfigured,
    Capabilities,
    ContextBudget,
    FollowUp,
    Health,
    MemoryContext,
    MemoryItem,
    MemoryManager,
    MemoryMessage,
    MemoryScope,
    Services,
)
from chat.memory.backends.builtin import records

P = ParamSpec("P")
T = TypeVar("T")

CONTEXT_ITEMS: Final = 8
CONTEXT_ITEM_CHARS: Final = 400


class TooSlow(BackendError):
    """The database did not answer in time."""

    code = "memory_timeout"


class BuiltinManager(MemoryManager):
    capabilities = Capabilities(
        title="builtin",
        needs_confirmation=True,
        can_search=True,
        can_edit=True,
        can_forget_one=True,
        can_forget_all=True,
        forgets_with_thread=True,
    )

    def __init__(self) -> None:
        self._is_closing = False

    @classmethod
    def from_configuration(cls, configuration: Mapping[str, Any], services: Services) -> Self:
        if configuration:
            raise BackendMisconfigured(f"{sorted(configuration)[0]}: the built-in backend has no such field; it takes no configuration.")
        return cls()

    async def warm(self) -> Health:
        return Health(is_usable=True)

    async def add(self, scope: MemoryScope, thread_id: str, messages: Sequence[MemoryMessage]) -> Added:
        """Lets the layers look at the thread: they know its messages themselves, and keep each run once."""
        if self._is_closing:
            raise BackendClosed
        await _work(records.mark, scope, thread_id)
        return Added()

    async def follow_up(self, scope: MemoryScope, thread_id: str) -> FollowUp:
        return FollowUp()

    async def settled(self, scope: MemoryScope, thread_id: str, task_ids: Sequence[str]) -> None:
        return

    async def search(self, scope: MemoryScope, query: str, *, limit: int, category: str = "") -> list[MemoryItem]:
        return await _work(records.found, scope, query, limit, category)

    async def get_context(self, scope: MemoryScope, query: str, budget: ContextBudget) -> MemoryContext:
        if not query.strip():
            return MemoryContext()
        try:
            async with asyncio.timeout(budget.seconds):
                items = await self.search(scope, query, limit=CONTEXT_ITEMS)
        except TimeoutError:
            raise TooSlow from None
        return _within(items, budget.chars)

    async def forget(self, scope: MemoryScope, thread_id: str = "") -> bool:
        if thread_id:
            await _work(records.forget_thread, scope, thread_id)
        else:
            await _work(records.forget_scope, scope)
        return True

    async def flush(self, seconds: float) -> bool:
        self._is_closing = True
        return True

    async def close(self) -> None:
        self._is_closing = True


async def _work(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    return await database_sync_to_async(function, thread_sensitive=False)(*args, **kwargs)


def _within(items: Sequence[MemoryItem], chars: int) -> MemoryContext:
    """The best items that fit, each once and cut to its share."""
    kept: list[MemoryItem] = []
    for item in items:
        content = " ".join(item.content.split())
        if len(content) > CONTEXT_ITEM_CHARS:
            content = f"{content[: CONTEXT_ITEM_CHARS - 1]}…"
        one = MemoryItem(item.id, content, item.category, item.score, item.source)
        is_double = any(one.content == other.content for other in kept)
        if not is_double and len(MemoryContext((*kept, one)).text) <= chars:
            kept.append(one)
    return MemoryContext(tuple(kept))
