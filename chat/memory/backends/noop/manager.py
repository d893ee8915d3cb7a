"""A backend that remembers nothing: what stays is the running conversation, confirmed facts, notes and the knowledge base."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

from chat.memory.backends.base import (
    Added,
    BackendClosed,
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


class NoopManager(MemoryManager):
    capabilities = Capabilities(title="noop", is_external=True)
    _is_closing = False

    @classmethod
    def from_configuration(cls, configuration: Mapping[str, Any], services: Services) -> Self:
        if configuration:
            raise BackendMisconfigured(f"{sorted(configuration)[0]}: the backend noop has no such field; it takes no configuration.")
        return cls()

    async def warm(self) -> Health:
        return Health(is_usable=True)

    async def add(self, scope: MemoryScope, thread_id: str, messages: Sequence[MemoryMessage]) -> Added:
        if self._is_closing:
            raise BackendClosed
        return Added()

    async def follow_up(self, scope: MemoryScope, thread_id: str) -> FollowUp:
        return FollowUp()

    async def settled(self, scope: MemoryScope, thread_id: str, task_ids: Sequence[str]) -> None:
        return

    async def search(self, scope: MemoryScope, query: str, *, limit: int, category: str = "") -> list[MemoryItem]:
        return []

    async def get_context(self, scope: MemoryScope, query: str, budget: ContextBudget) -> MemoryContext:
        return MemoryContext()

    async def forget(self, scope: MemoryScope, thread_id: str = "") -> bool:
        return True

    async def flush(self, seconds: float) -> bool:
        self._is_closing = True
        return True

    async def close(self) -> None:
        self._is_closing = True
