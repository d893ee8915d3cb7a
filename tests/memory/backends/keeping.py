"""Any backend that is there, as the product makes it, with conversations that it hears: what the contract is tried on."""

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

from asgiref.sync import sync_to_async

from chat.memory import backends
from chat.memory.backends.base import Added, MemoryItem, MemoryManager, MemoryMessage, MemoryScope, Services
from chat.memory.external.deliver import messages_of
from chat.memory.external.figures import Figures
from chat.memory.external.forgetting import scope_of
from chat.memory.external.watermarks import Watermarks
from chat.memory.recall import keep
from chat.models import Owner, Thread
from chat.text.redlines import redact
from tests import builders
from tests.memory.answering import FreeLease
from tests.openviking_server.in_force import configuration
from tests.openviking_server.server import Server


def needs_of(name: str, stack: ExitStack) -> dict[str, Any]:
    """The configuration that a backend needs here; starts what it talks to. Without an entry: none."""
    starts: dict[str, Callable[[ExitStack], dict[str, Any]]] = {"openviking": _openviking}
    return starts[name](stack) if name in starts else {}


def _openviking(stack: ExitStack) -> dict[str, Any]:
    return configuration(stack.enter_context(Server()))


class Kept:
    """A backend, and a school with two teachers and two assistants whose conversations it hears."""

    def __init__(self, name: str, stack: ExitStack) -> None:
        self.name = name
        self.needs = needs_of(name, stack)
        self.manager = self.make(self.needs)
        self.school = builders.tenant()
        self.users = [builders.teacher(self.school) for _ in range(2)]
        self.agents = [builders.agent(self.school) for _ in range(2)]

    def make(self, needs: dict[str, Any]) -> MemoryManager:
        services = Services(Watermarks(self.name), redact, Figures(), lambda variable: os.environ.get(variable, "test-root-key"))
        return backends.manager_class(self.name).from_configuration(needs, services)

    async def talk(self, user: int = 0, agent: int = 0) -> Thread:
        return await sync_to_async(builders.thread)(self.users[user], self.agents[agent])

    def scope(self, user: int = 0, agent: int = 0) -> MemoryScope:
        return scope_of(Owner(self.school.pk, self.users[user].pk, self.agents[agent].pk))

    async def hear(self, thread: Thread, *texts: str) -> Added:
        """Lets the backend hear rounds of the thread that have ended, as the product does, until it has worked on them."""
        runs = [await sync_to_async(builders.run)(thread, text, "Noted.", backend=self.backend) for text in texts]
        return await self.hand_over(thread, [message for run in runs for message in messages_of(run)])

    async def hand_over(self, thread: Thread, messages: Sequence[MemoryMessage]) -> Added:
        scope = scope_of(Owner(thread.tenant_id, thread.user_id, thread.agent_id))
        added = await self.manager.add(scope, thread.pk, messages)
        if not self.backend:
            await sync_to_async(keep.catch_up)(thread, FreeLease())
        await self.end_tasks(scope, thread)
        return added

    async def end_tasks(self, scope: MemoryScope, thread: Thread) -> None:
        while (found := await self.manager.follow_up(scope, thread.pk)).ended or found.pending:
            await self.manager.settled(scope, thread.pk, [one.task_id for one in found.ended])

    @property
    def backend(self) -> str:
        """What runs say that were made with it."""
        return self.name if self.manager.capabilities.is_external else ""

    async def all_of(self, scope: MemoryScope) -> list[MemoryItem]:
        return await self.manager.search(scope, "", limit=50)


def said(items: Sequence[MemoryItem]) -> str:
    return "\n".join(item.content for item in items)


def strangers_of(kept: Kept) -> list[MemoryScope]:
    """Scopes that differ from the first teacher's with the first assistant in one thing each."""
    own = kept.scope()
    return [
        kept.scope(user=1),
        kept.scope(agent=1),
        MemoryScope("tn_another", own.user_id, own.agent_id),
        MemoryScope(own.tenant_id, own.user_id),
    ]
