"""The calls that there are (openviking 0.5.2), and the check that the server keeps people apart.

Before the first call of a process, after each failure of a connection and every few minutes `/health` must answer that the
server is in trusted mode and takes us for the one whom we name. In another mode all would share one store, with status 200.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar
from urllib.parse import quote
from weakref import WeakKeyDictionary

import httpx

from chat.memory.backends.base import Meter
from chat.memory.backends.openviking import events
from chat.memory.backends.openviking.calls import Call, Calls, result_of
from chat.memory.backends.openviking.config import Configuration
from chat.memory.backends.openviking.errors import (
    Details,
    OpenVikingIdentityError,
    OpenVikingNotFoundError,
    OpenVikingProtocolError,
    OpenVikingRejectedError,
)
from chat.memory.backends.openviking.models import (
    Commit,
    ServerHealth,
    Session,
    Task,
    Unreadable,
    check_added,
    files_of,
    hits_of,
    is_below,
    session_ids_of,
    tasks_of,
)
from chat.memory.backends.openviking.scope import Identity, checked_category

# A server that is started anew in another mode between two calls breaks no connection that we would notice.
VERIFIED_MOST_SECONDS: Final = 300.0
TASKS_MOST: Final = 200
FILES_MOST: Final = 5_000

Read = TypeVar("Read")


class OpenVikingClient:
    """All addresses, headers and bodies are made here. Every method raises BackendError."""

    def __init__(self, configuration: Configuration, meter: Meter, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self.configuration, self.meter = configuration, meter
        self._calls = Calls(configuration, meter, transport)
        self._verified_at: float | None = None
        self._verifying: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()

    async def close(self) -> None:
        await self._calls.close()

    async def health(self, identity: Identity) -> ServerHealth:
        """How the server is. Raises OpenVikingIdentityError when it does not keep people apart."""
        self._verified_at = None
        began = time.monotonic()

        def checked(answer: object) -> dict[str, object]:
            found = _read(ServerHealth.of, answer, "health")
            if found.auth_mode != "trusted" or (found.account, found.user) != (identity.account, identity.user):
                raise self._mistrusted("health")
            return {"version": found.version}

        told = await self._calls.send(Call("health", "GET", "/health"), identity, checked)
        self._verified_at = began
        return _read(ServerHealth.of, told, "health")

    async def ensure_session(self, identity: Identity, session_id: str) -> Session:
        """The session, made when there is none. Raises OpenVikingIdentityError when it is somebody else's."""
        call = Call("ensure", "GET", _session(session_id), query={"auto_create": "true"}, session_id=session_id)
        session = await self._ask(call, identity, Session.of)
        if (session.account, session.user) != (identity.account, identity.user):
            raise self._mistrusted("ensure")
        return session

    async def add_messages(self, identity: Identity, session_id: str, messages: Sequence[Mapping[str, Any]]) -> None:
        """Adds a batch, all of it or nothing, and never twice by itself; it is over within the time that an unclear one is waited for."""
        total = min(self.configuration.limits.total_seconds, self.configuration.unclear_wait_seconds)
        call = Call(
            *("add", "POST", f"{_session(session_id)}/messages/batch"),
            body={"messages": list(messages)},
            is_repeatable=False,
            session_id=session_id,
            total_seconds=total,
        )
        await self._ask(call, identity, lambda result: check_added(result, len(messages)), note=lambda _: {"result_count": len(messages)})

    async def commit_session(self, identity: Identity, session_id: str) -> Commit:
        """Lets the server work on what the session holds. May be repeated: what was taken is not taken again."""
        call = Call("commit", "POST", f"{_session(session_id)}/commit", body={"keep_recent_count": 0}, session_id=session_id)
        commit = await self._ask(call, identity, Commit.of, note=lambda found: {"task_id": found.task_id})
        self.meter.count("openviking_commit_total", status="accepted" if commit.is_accepted else "skipped")
        return commit

    async def get_task(self, identity: Identity, task_id: str) -> Task | None:
        """A task, None when the server knows it no more."""
        call = Call("task", "GET", f"/api/v1/tasks/{quote(task_id, safe='')}")
        try:
            return await self._ask(call, identity, Task.of, note=lambda found: {"task_id": task_id, "task_status": found.status})
        except OpenVikingNotFoundError:
            return None

    async def list_tasks(self, identity: Identity, session_id: str = "", status: str = "") -> list[Task]:
        """The latest tasks of a session, or of the user, newest first; only those in a state when one is named."""
        query = {"task_type": "session_commit", "limit": str(TASKS_MOST)}
        query |= {name: value for name, value in (("resource_id", session_id), ("status", status)) if value}
        call = Call("tasks", "GET", "/api/v1/tasks", query=query, session_id=session_id)
        return await self._ask(call, identity, tasks_of, note=lambda found: {"result_count": len(found)})

    async def cancel_task(self, identity: Identity, task_id: str) -> None:
        """Asks a task to stop; one that is over stays as it is."""
        try:
            await self._ask(Call("cancel", "POST", f"/api/v1/tasks/{quote(task_id, safe='')}/cancel"), identity, _anything)
        except OpenVikingRejectedError as error:
            if error.details.status not in (404, 412):
                raise

    async def find(self, identity: Identity, query: str, *, limit: int, category: str = "") -> list[object]:
        """What fits a query, unread and unfiltered: the caller keeps what is the user's own. Never sends a blank query or a filter."""
        body = {
            "query": query,
            "target_uri": identity.memories,
            "context_type": "memory",
            "level": 2,
            "limit": limit,
            "score_threshold": self.configuration.retrieval.score_threshold,
            "read_content": True,
            **({"tags": [f"memory_type={checked_category(category)}"]} if category else {}),
        }
        call = Call("find", "POST", "/api/v1/search/find", body=body)
        return await self._ask(call, identity, hits_of, note=lambda found: {"result_count": len(found)})

    async def list_memories(self, identity: Identity) -> list[str]:
        """The addresses of all files below the user's memories; none when there is no such folder.

        Not `fs/ls`: even recursive it goes three folders deep, and an event lies in four.
        """
        query = {"uri": identity.memories, "output": "original", "level_limit": "12", "node_limit": str(FILES_MOST)}
        try:
            call = Call("list", "GET", "/api/v1/fs/tree", query=query)
            return await self._ask(call, identity, files_of, note=lambda found: {"result_count": len(found)})
        except OpenVikingNotFoundError:
            return []

    async def read_memory(self, identity: Identity, uri: str) -> str:
        """The text of a memory of the user's own, "" when it is gone."""
        if not is_below(uri, identity.memories):
            raise self._mistrusted("read")
        try:
            return await self._ask(Call("read", "GET", "/api/v1/content/read", query={"uri": uri}), identity, _text)
        except OpenVikingNotFoundError:
            return ""

    async def list_sessions(self, identity: Identity) -> list[str]:
        """The user's sessions. Raises OpenVikingIdentityError when others are among them."""
        ids, foreign = await self._ask(
            Call("sessions", "GET", "/api/v1/sessions"),
            identity,
            lambda result: session_ids_of(result, identity),
            note=lambda found: {"result_count": len(found[0])},
        )
        if foreign:
            raise self._mistrusted("sessions")
        return ids

    async def delete_session(self, identity: Identity, session_id: str) -> None:
        try:
            await self._ask(Call("delete_session", "DELETE", _session(session_id), session_id=session_id), identity, _anything)
        except OpenVikingNotFoundError:
            return

    async def delete_memories(self, identity: Identity) -> None:
        query = {"uri": identity.memories, "recursive": "true", "wait": "true"}
        try:
            await self._ask(Call("delete_memories", "DELETE", "/api/v1/fs", query=query), identity, _anything)
        except OpenVikingNotFoundError:
            return

    async def _ask(
        self,
        call: Call,
        identity: Identity,
        read: Callable[[object], Read],
        *,
        note: Callable[[Read], dict[str, object]] | None = None,
    ) -> Read:
        await self._verify(identity)

        def noted(answer: object) -> dict[str, object]:
            found = _read(read, result_of(answer, call.operation), call.operation)
            return note(found) if note else {}

        answer = await self._calls.send(call, identity, noted)
        return _read(read, result_of(answer, call.operation), call.operation)

    async def _verify(self, identity: Identity) -> None:
        if self._is_verified():
            return
        async with self._verifying.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
            if not self._is_verified():
                await self.health(identity)

    def _is_verified(self) -> bool:
        at = self._verified_at
        return at is not None and at >= self._calls.failed_at and time.monotonic() - at < VERIFIED_MOST_SECONDS

    def _mistrusted(self, operation: str) -> OpenVikingIdentityError:
        error = OpenVikingIdentityError(Details(operation, 200))
        self._verified_at = None
        events.degraded(self.meter, "not_trusted", error=error, is_incident=True)
        return error


def _read(read: Callable[[object], Read], told: object, operation: str) -> Read:
    try:
        return read(told)
    except Unreadable:
        pass  # raised below, without the answer in its chain
    raise OpenVikingProtocolError(Details(operation, 200))


def _session(session_id: str) -> str:
    return f"/api/v1/sessions/{quote(session_id, safe='')}"


def _anything(result: object) -> None:
    return None


def _text(result: object) -> str:
    if not isinstance(result, str):
        raise Unreadable
    return result
