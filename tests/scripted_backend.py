"""A memory backend that the test scripts: it keeps its memory outside, asks teachers, lists, searches and forgets."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self
from unittest.mock import patch

from django.test import override_settings

from chat.memory import backends
from chat.memory.backends.base import (
    BackendError,
    Capabilities,
    Health,
    MemoryItem,
    MemoryScope,
    Services,
)
from chat.memory.backends.noop.manager import NoopManager
from chat.memory.external import chosen

NAME = "openviking"
PLACE = "memory.example.org"
SENDS = Capabilities(
    title="OpenViking", place=PLACE, is_external=True, sends_text=True, can_search=True, can_forget_all=True, forgets_with_thread=False
)


class ScriptedManager(NoopManager):
    """`items` are what a search gives; `failure` is raised by each verb that asks; `gate` is waited for first; `health` is told."""

    capabilities = SENDS

    def __init__(self) -> None:
        self.items: list[MemoryItem] = []
        self.failure: BackendError | None = None
        self.gate: asyncio.Event | None = None
        self.health = Health(is_usable=True, version="0.5.2")
        self.searches: list[tuple[MemoryScope, str]] = []
        self.forgotten: list[MemoryScope] = []
        self.looks = 0
        self.is_closed = False

    @classmethod
    def from_configuration(cls, configuration: Mapping[str, Any], services: Services) -> Self:
        return cls()

    async def warm(self) -> Health:
        self.looks += 1
        await self._pass()
        return self.health

    async def search(self, scope: MemoryScope, query: str, *, limit: int, category: str = "") -> list[MemoryItem]:
        self.searches.append((scope, query))
        await self._pass()
        return [one for one in self.items if query in one.content][:limit]

    async def forget(self, scope: MemoryScope, thread_id: str = "") -> bool:
        await self._pass()
        self.forgotten.append(scope)
        return True

    async def close(self) -> None:
        self.is_closed = True

    async def _pass(self) -> None:
        if self.gate is not None:
            await self.gate.wait()
        if self.failure is not None:
            raise self.failure


@contextmanager
def scripted_backend(manager: ScriptedManager | None = None) -> Iterator[ScriptedManager]:
    """Lets `manager` be the installation's backend."""
    made = manager or ScriptedManager()
    real = backends.manager_class

    class Made(ScriptedManager):
        @classmethod
        def from_configuration(cls, configuration: Mapping[str, Any], services: Services) -> Any:  # noqa: ANN401
            return made

    def class_of(name: str) -> type:
        return Made if name == NAME else real(name)

    with patch.object(chosen, "manager_class", class_of), override_settings(MEMORY_MANAGER=NAME):
        chosen.forget_managers()
        yield made
    chosen.forget_managers()


def item(content: str, *, category: str = "preferences", score: float = 0.8, source: str = "") -> MemoryItem:
    where = source or f"viking://user/df_{'a' * 40}/memories/{category}/{abs(hash(content))}.md"
    return MemoryItem(id=where, content=content, category=category, score=score, source=where)
