"""OpenViking as a memory backend: its server extracts and searches, nothing is extracted here (seed 002 §9)."""

import asyncio
import time
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, Self, TypeVar
from weakref import WeakKeyDictionary, WeakValueDictionary

import httpx

from chat.memory.backends.base import (
    Added,
    BackendClosed,
    BackendError,
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
from chat.memory.backends.openviking import delivery, events, forgetting, reading
from chat.memory.backends.openviking.client import OpenVikingClient
from chat.memory.backends.openviking.config import Configuration
from chat.memory.backends.openviking.errors import Details, OpenVikingScopeError, OpenVikingTimeoutError
from chat.memory.backends.openviking.messages import outgoing, query_of
from chat.memory.backends.openviking.scope import Identity, checked_category, identity_of, prober_of, session_of

SUPPORTED_VERSION: Final = "0.5.2"  # whose answers were recorded; another one may differ in any of them
EXTRACTION_MOST_SECONDS: Final = 30.0
_POLL_SECONDS: Final = 0.5
_FLUSH_POLL_SECONDS: Final = 0.02

Given = TypeVar("Given")


class OpenVikingManager(MemoryManager):
    """One object for each process. What it keeps itself is connections and locks; how far a conversation is stands in the watermarks."""

    capabilities = Capabilities(
        title="OpenViking", place="OpenViking", is_external=True, sends_text=True, can_search=True, can_forget_all=True
    )

    def __init__(self, configuration: Configuration, services: Services, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self.configuration = configuration
        self.capabilities = Capabilities(
            title="OpenViking", place=configuration.place, is_external=True, sends_text=True, can_search=True, can_forget_all=True
        )
        self.read_seconds = configuration.retrieval.timeout_seconds
        self.flush_seconds = configuration.limits.flush_seconds
        self.late_seconds = configuration.unclear_wait_seconds
        self.drops_writes = configuration.write_policy == "log_and_drop"
        self._services = services
        self._client = OpenVikingClient(configuration, services.meter, transport)
        self._locks: WeakKeyDictionary[asyncio.AbstractEventLoop, WeakValueDictionary[str, asyncio.Lock]] = WeakKeyDictionary()
        self._is_closing = False
        self._writes: set[object] = set()

    @classmethod
    def from_configuration(cls, configuration: Mapping[str, Any], services: Services) -> Self:
        return cls(Configuration.of(configuration, services.secret), services)

    def summary(self) -> dict[str, object]:
        return self.configuration.masked()

    async def warm(self) -> Health:
        try:
            found = await self._client.health(prober_of(self.configuration.account))
        except BackendError as error:
            events.degraded(self._services.meter, "start", error=error, error_type=error.code)
            if self.configuration.startup_policy == "fail_fast":
                raise
            return Health(is_usable=False, code=error.code)
        if found.version != SUPPORTED_VERSION:
            events.unsupported(found.version, SUPPORTED_VERSION)
        return Health(is_usable=True, version=found.version)

    async def add(self, scope: MemoryScope, thread_id: str, messages: Sequence[MemoryMessage]) -> Added:
        with self._writing():
            talk = self._talk(scope, thread_id)
            going = outgoing(messages, self._services.redact)
            async with self._lock(talk.session_id):
                added = await self._noting("write", delivery.Delivery(self._client, self._services, talk, going).run())
        if added.task_id and self.configuration.wait_for_extraction:
            await self._wait_for(talk.identity, added.task_id)
        return added

    async def follow_up(self, scope: MemoryScope, thread_id: str) -> FollowUp:
        return await delivery.follow_up(self._client, self._services, self._talk(scope, thread_id))

    async def settled(self, scope: MemoryScope, thread_id: str, task_ids: Sequence[str]) -> None:
        talk = self._talk(scope, thread_id)
        async with self._lock(talk.session_id):
            await delivery.settle(self._services, talk, task_ids)

    async def search(self, scope: MemoryScope, query: str, *, limit: int, category: str = "") -> list[MemoryItem]:
        identity = self._identity(scope)
        if category:
            checked_category(category)
        asked = query_of(query, self._services.redact)
        if limit < 1:
            return []
        if not asked:
            return await self._noting("read", reading.list_all(self._client, identity, limit=limit, category=category))
        return await self._noting("read", reading.find(self._client, identity, asked, limit=limit, category=category))

    async def get_context(self, scope: MemoryScope, query: str, budget: ContextBudget) -> MemoryContext:
        identity, retrieval = self._identity(scope), self.configuration.retrieval
        asked = query_of(query, self._services.redact) or retrieval.injection_query
        items = await self._noting("read", self._find_within(identity, asked, budget.seconds))
        chars = min(budget.chars, retrieval.max_injection_chars)
        return reading.packed(items, chars=chars, item_chars=retrieval.max_item_chars)

    async def forget(self, scope: MemoryScope, thread_id: str = "") -> bool:
        if thread_id:
            talk = self._talk(scope, thread_id)
            async with self._lock(talk.session_id):
                return await forgetting.forget_session(self._client, talk.identity, talk.session_id)
        return await forgetting.forget_user(self._client, self._identity(scope))

    async def flush(self, seconds: float) -> bool:
        self._is_closing = True
        until = time.monotonic() + seconds
        while self._writes and time.monotonic() < until:
            await asyncio.sleep(min(_FLUSH_POLL_SECONDS, seconds))
        if self._writes:
            events.degraded(self._services.meter, "flush", result_count=len(self._writes))
        return not self._writes

    async def close(self) -> None:
        self._is_closing = True
        await self._client.close()

    async def _find_within(self, identity: Identity, query: str, seconds: float) -> list[MemoryItem]:
        try:
            async with asyncio.timeout(min(seconds, self.read_seconds)):
                return await reading.find(self._client, identity, query, limit=self.configuration.retrieval.top_k)
        except TimeoutError:
            pass  # raised below, without its chain
        raise OpenVikingTimeoutError(Details("find"))

    async def _wait_for(self, identity: Identity, task_id: str) -> None:
        """Waits for the end of a task, at most so long as it is worth; how it ended is asked by `follow_up`."""
        until = time.monotonic() + EXTRACTION_MOST_SECONDS
        while time.monotonic() < until and not self._is_closing:
            try:
                task = await self._client.get_task(identity, task_id)
            except BackendError:
                return
            if task is None or not task.is_active:
                return
            await asyncio.sleep(_POLL_SECONDS)

    async def _noting(self, what: str, work: Coroutine[Any, Any, Given]) -> Given:
        """Gives what `work` gives; when it fails, says that memory is degraded."""
        try:
            return await work
        except BackendError as error:
            events.degraded(self._services.meter, what, error=error, error_type=error.code)
            raise

    @contextmanager
    def _writing(self) -> Iterator[None]:
        if self._is_closing:
            raise BackendClosed
        write = object()
        self._writes.add(write)
        try:
            yield
        finally:
            self._writes.discard(write)

    def _talk(self, scope: MemoryScope, thread_id: str) -> delivery.Talk:
        identity = self._identity(scope)
        try:
            session_id = session_of(self.configuration.account, scope, thread_id)
        except OpenVikingScopeError as error:
            raise self._refused(error) from None
        return delivery.Talk(scope, thread_id, identity, session_id)

    def _identity(self, scope: MemoryScope) -> Identity:
        try:
            return identity_of(self.configuration.account, scope)
        except OpenVikingScopeError as error:
            raise self._refused(error) from None

    def _refused(self, error: OpenVikingScopeError) -> OpenVikingScopeError:
        events.degraded(self._services.meter, "scope", error=error)
        return error

    def _lock(self, session_id: str) -> asyncio.Lock:
        """One for each session and loop: a conversation goes in order, different ones at the same time."""
        locks = self._locks.setdefault(asyncio.get_running_loop(), WeakValueDictionary())
        lock = locks.get(session_id)
        if lock is None:
            locks[session_id] = lock = asyncio.Lock()
        return lock
