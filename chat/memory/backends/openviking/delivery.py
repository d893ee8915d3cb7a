"""A conversation goes to the server: batches, commits and the mark of how far it is (seed 002 §7.3).

The server takes the same batch twice as two. So a batch is noted in the mark before it goes and again when it was taken; when it
is not known what became of it, the number of messages that the session has ever had tells. The mark is written over the version
that was read only, so of two processes one goes on. A commit may be repeated.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from chat.memory.backends.base import (
    Added,
    CommitTask,
    Extraction,
    FollowUp,
    MemoryScope,
    Sending,
    Services,
    Watermark,
    WatermarkMoved,
)
from chat.memory.backends.openviking import events
from chat.memory.backends.openviking.client import OpenVikingClient
from chat.memory.backends.openviking.errors import (
    Details,
    OpenVikingError,
    OpenVikingNotFoundError,
    OpenVikingRejectedError,
    OpenVikingUnclearError,
)
from chat.memory.backends.openviking.messages import OpenVikingMessage, batches
from chat.memory.backends.openviking.models import Session
from chat.memory.backends.openviking.scope import Identity

IDS_MOST: Final = 400
TASKS_MOST: Final = 200
# The server keeps a task for a day, a failed one for a week: one that has not ended in two days never tells an end.
TASK_OLDEST_SECONDS: Final = 48 * 3_600
SETTLED_ATTEMPTS: Final = 4
TEXT_REFUSED_STATUSES: Final = frozenset({400, 413, 422})


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation by our names and by the server's."""

    scope: MemoryScope
    thread_id: str
    identity: Identity
    session_id: str


class Delivery:
    """One `add`: what it knows of the conversation while it goes on."""

    def __init__(self, client: OpenVikingClient, services: Services, talk: Talk, messages: Sequence[OpenVikingMessage]) -> None:
        self._client, self._services, self._talk, self._messages = client, services, talk, messages
        self._mark = Watermark()
        self._total = 0
        # All of what is handed over at once stays in sight, so that the same call may be repeated.
        self._ids_most = max(IDS_MOST, len(messages))

    async def run(self) -> Added:
        """Brings the conversation to the server and lets it work on it. Raises BackendError; what was done stays noted."""
        self._mark = await self._services.watermarks.load(self._talk.scope, self._talk.thread_id)
        if not (self._mark.sending or self._uncommitted() or self._new()):
            return Added()
        session = await self._client.ensure_session(self._talk.identity, self._talk.session_id)
        self._total = session.total
        await self._settle_unclear(session)
        await self._take_back_lost(session)
        task_id = await self._commit()  # apart from what comes now, so that each task is about its own messages
        sent = 0
        for batch in batches(self._new()):
            await self._send(batch)
            sent += len(batch)
        return Added(sent, await self._commit() or task_id)

    def _new(self) -> list[OpenVikingMessage]:
        known = {*self._mark.submitted, *self._mark.committed}
        return [message for message in self._messages if message.id not in known]

    def _uncommitted(self) -> tuple[str, ...]:
        committed = set(self._mark.committed)
        return tuple(one for one in self._mark.submitted if one not in committed)

    async def _settle_unclear(self, session: Session) -> None:
        """Decides whether the batch of which no answer came has arrived. Raises OpenVikingUnclearError while it may be on its way."""
        sending = self._mark.sending
        if not sending:
            return
        if session.total >= sending.known_total + len(sending.message_ids):
            await self._save(replace(self._mark, sending=None, submitted=(*self._mark.submitted, *sending.message_ids)))
            return
        waited = abs((datetime.now(UTC) - sending.at).total_seconds())
        if waited < self._client.configuration.unclear_wait_seconds:
            raise OpenVikingUnclearError(Details("add"))
        await self._save(replace(self._mark, sending=None))

    async def _take_back_lost(self, session: Session) -> None:
        """A session with fewer messages than wait in it has been lost there, so they go again."""
        waiting = self._uncommitted()
        if session.total < len(waiting):
            events.degraded(self._services.meter, "session_lost", result_count=len(waiting))
            await self._save(replace(self._mark, submitted=tuple(one for one in self._mark.submitted if one not in set(waiting))))

    async def _send(self, batch: Sequence[OpenVikingMessage]) -> None:
        ids = tuple(message.id for message in batch)
        await self._save(replace(self._mark, sending=Sending(ids, self._total, datetime.now(UTC))))
        try:
            await self._client.add_messages(self._talk.identity, self._talk.session_id, [message.body for message in batch])
        except OpenVikingError as error:
            # Not 403 or 404, which are about whom the messages are from and where they go to.
            error.refuses_text = isinstance(error, OpenVikingRejectedError) and error.details.status in TEXT_REFUSED_STATUSES
            if error.is_refused:
                await self._save(replace(self._mark, sending=None))
            raise
        self._total += len(ids)
        await self._save(replace(self._mark, sending=None, submitted=(*self._mark.submitted, *ids)))

    async def _commit(self) -> str:
        """Lets the server work on what it has and gives the task, "" when there is nothing to work on or no task is known."""
        waiting = self._uncommitted()
        if not waiting:
            return ""
        try:
            commit = await self._client.commit_session(self._talk.identity, self._talk.session_id)
        except OpenVikingNotFoundError:
            commit = None
        if commit is None:  # deleted since it was looked at; the next time tells that it was lost
            raise OpenVikingUnclearError(Details("commit"))
        task_id = commit.task_id if commit.is_accepted else await self._find_earlier_task()
        task = CommitTask(task_id, waiting, datetime.now(UTC))
        await self._save(
            replace(
                self._mark,
                committed=(*self._mark.committed, *waiting),
                tasks=(*self._mark.tasks, task)[-TASKS_MOST:],
                last_task_id=task_id or self._mark.last_task_id,
                last_archive=commit.archive_uri or self._mark.last_archive,
            )
        )
        return task_id

    async def _find_earlier_task(self) -> str:
        """The task of a commit whose answer was lost: the newest of the session when we do not know it already."""
        tasks = await self._client.list_tasks(self._talk.identity, self._talk.session_id)
        known = {self._mark.last_task_id, *(task.task_id for task in self._mark.tasks)}
        if tasks and tasks[0].task_id not in known:
            return tasks[0].task_id
        events.degraded(self._services.meter, "task_unknown")
        return ""

    async def _save(self, mark: Watermark) -> None:
        mark = replace(mark, submitted=mark.submitted[-self._ids_most :], committed=mark.committed[-self._ids_most :])
        self._mark = await self._services.watermarks.save(self._talk.scope, self._talk.thread_id, mark)


async def follow_up(client: OpenVikingClient, services: Services, talk: Talk) -> FollowUp:
    """What became of the tasks of a conversation; a task that was cancelled has made nothing of its messages, as one that failed."""
    mark = await services.watermarks.load(talk.scope, talk.thread_id)
    ended, pending = [], 0
    for task in mark.tasks:
        found = await client.get_task(talk.identity, task.task_id) if task.task_id else None
        if found is None or (found.is_active and (datetime.now(UTC) - task.at).total_seconds() > TASK_OLDEST_SECONDS):
            ended.append(Extraction(task.task_id, "lost", task.message_ids))
        elif found.is_active:
            pending += 1
        elif found.status == "completed":
            ended.append(Extraction(task.task_id, "completed", task.message_ids, found.remembered))
        else:
            ended.append(Extraction(task.task_id, "failed", task.message_ids))
    return FollowUp(tuple(ended), pending)


async def settle(services: Services, talk: Talk, task_ids: Sequence[str]) -> None:
    """Takes tasks out of the mark; read again when somebody else writes it meanwhile. Raises WatermarkMoved when that goes on."""
    for attempt in range(SETTLED_ATTEMPTS):
        mark = await services.watermarks.load(talk.scope, talk.thread_id)
        rest = tuple(task for task in mark.tasks if task.task_id not in task_ids)
        if len(rest) == len(mark.tasks):
            return
        try:
            await services.watermarks.save(talk.scope, talk.thread_id, replace(mark, tasks=rest))
            return
        except WatermarkMoved:
            if attempt == SETTLED_ATTEMPTS - 1:
                raise
