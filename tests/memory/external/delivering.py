"""A memory backend with a server of its own in the test, and threads that are delivered to it.

The server stores whatever it gets, as often as it gets it: what arrives twice is seen.
"""

import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from django.db import connection
from django.utils import timezone

from chat.memory.backends.base import Added, BackendError, CommitTask, Extraction, FollowUp, MemoryMessage, MemoryScope, Sending
from chat.memory.base import LayerTrouble
from chat.memory.external.deliver import catch_up
from chat.memory.external.permission import answer
from chat.memory.external.watermarks import Watermarks
from chat.models import Agent, Consent, LayerState, Owner, Run, Thread
from tests import builders
from tests.memory.answering import FreeLease
from tests.scripted_backend import NAME, ScriptedManager

Key = tuple[MemoryScope, str]


class Away(BackendError):
    code = "memory_unreachable"


class Unclear(BackendError):
    code = "memory_unclear"


class Refused(BackendError):
    code = "memory_rejected"
    is_retryable = False
    refuses_text = True


class Killed(BaseException):
    """The worker's process ends here."""


class Delivered(ScriptedManager):
    """Hands over as a careful backend does: the mark says what goes before it goes, and that it went.

    `ids_most` ids are kept in the mark; what says `refused` is never taken. `points` is what happens at a point of the way,
    once: "start", "loaded", "noted", "arrived", "submitted", "accepted", "end".
    """

    def __init__(self) -> None:
        super().__init__()
        self.store = Watermarks(NAME)
        self.live: dict[Key, list[MemoryMessage]] = defaultdict(list)
        self.archived: dict[Key, list[MemoryMessage]] = defaultdict(list)
        self.outcomes: dict[str, str] = {}
        self.points: dict[str, Callable[[], object]] = {}
        self.adds = 0
        self.unclear_wait = timedelta()
        self.ids_most = 400
        self.refused = ""
        self.threads_forgotten: list[str] = []
        self.is_slow_to_forget = False
        self.flushed: list[float] = []

    def arrived(self, thread: Thread) -> list[str]:
        """The ids of what the server has of the thread, as often as it has them."""
        return [message.id for kept in (self.archived, self.live) for key, said in kept.items() for message in said if key[1] == thread.pk]

    async def add(self, scope: MemoryScope, thread_id: str, messages: Sequence[MemoryMessage]) -> Added:
        self.adds += 1
        self._at("start")
        key = (scope, thread_id)
        mark = await self.store.load(scope, thread_id)
        self._at("loaded")
        if mark.sending is not None:
            has_arrived = len(self.live[key]) + len(self.archived[key]) > mark.sending.known_total
            if not has_arrived and datetime.now(UTC) - mark.sending.at < self.unclear_wait:
                raise Unclear
            submitted = (*mark.submitted, *mark.sending.message_ids) if has_arrived else mark.submitted
            mark = await self.store.save(scope, thread_id, replace(mark, sending=None, submitted=submitted))
        new = [message for message in messages if message.id not in mark.submitted]
        if self.refused and any(self.refused in message.content for message in new):
            raise Refused
        if new:
            total, ids = len(self.live[key]) + len(self.archived[key]), tuple(message.id for message in new)
            mark = await self.store.save(scope, thread_id, replace(mark, sending=Sending(ids, total, datetime.now(UTC))))
            self._at("noted")
            self.live[key] += new
            self._at("arrived")
            mark = await self.store.save(scope, thread_id, replace(mark, sending=None, submitted=(*mark.submitted, *ids)[-self.ids_most :]))
            self._at("submitted")
        waiting = tuple(one for one in mark.submitted if one not in mark.committed)
        task_id = ""
        if waiting:
            self.archived[key] += self.live.pop(key, [])
            self._at("accepted")
            task_id = f"task-{len(self.archived[key])}"
            task = CommitTask(task_id, waiting, datetime.now(UTC))
            await self.store.save(scope, thread_id, replace(mark, committed=mark.submitted, tasks=(*mark.tasks, task)))
        self._at("end")
        return Added(len(new), task_id)

    async def follow_up(self, scope: MemoryScope, thread_id: str) -> FollowUp:
        await self._pass()
        tasks = (await self.store.load(scope, thread_id)).tasks
        ended = [Extraction(one.task_id, self.outcomes[one.task_id], one.message_ids) for one in tasks if one.task_id in self.outcomes]
        return FollowUp(tuple(ended), len(tasks) - len(ended))

    async def settled(self, scope: MemoryScope, thread_id: str, task_ids: Sequence[str]) -> None:
        self._at("settled")
        mark = await self.store.load(scope, thread_id)
        await self.store.save(scope, thread_id, replace(mark, tasks=tuple(one for one in mark.tasks if one.task_id not in task_ids)))

    async def forget(self, scope: MemoryScope, thread_id: str = "") -> bool:
        await self._pass()
        if self.is_slow_to_forget:
            return False
        if thread_id:
            self.threads_forgotten.append(thread_id)
        else:
            self.forgotten.append(scope)
        for kept in (self.live, self.archived):
            for key in [key for key in kept if key[0] == scope and thread_id in ("", key[1])]:
                del kept[key]
        return True

    async def flush(self, seconds: float) -> bool:
        self.flushed.append(seconds)
        return True

    def _at(self, point: str) -> None:
        happens = self.points.pop(point, None)
        if happens is not None:
            happens()


def fails(error: BaseException) -> Callable[[], object]:
    def happen() -> None:
        raise error

    return happen


def in_thread(act: Callable[[], object]) -> None:
    """Lets another process do something, to its end: with a connection of its own."""

    def work() -> None:
        try:
            act()
        finally:
            connection.close()

    one = threading.Thread(target=work)
    one.start()
    one.join()


def talk(agent: Agent | None = None, *, is_agreed: bool = True, **fields: object) -> Thread:
    """A thread of a teacher who has agreed long ago."""
    agent = agent or builders.agent(builders.tenant())
    membership = agent.tenant.memberships.first()
    user = membership.user if membership else builders.teacher(agent.tenant)
    if is_agreed:
        agree(Owner(agent.tenant_id, user.pk, agent.pk))
    return builders.thread(user, agent, **fields)


def agree(owner: Owner, *, is_agreed: bool = True, ago: timedelta = timedelta(days=1)) -> None:
    answer(owner, NAME, is_agreed=is_agreed)
    if is_agreed:
        Consent.objects.filter(purpose="memory", user_id=owner.user_id).update(agreed_at=timezone.now() - ago)


def said(thread: Thread, text: str = "我们用人教版", **fields: object) -> Run:
    """A round that was made with the backend in force."""
    return builders.run(thread, text, "好的。", **{"backend": NAME} | fields)


def deliver(thread: Thread) -> str:
    """Catches the layer up once, as the worker does; the code of its trouble, "" for none."""
    try:
        catch_up(Thread.objects.select_related("agent").get(pk=thread.pk), FreeLease())
    except LayerTrouble as trouble:
        return trouble.code
    return ""


def ids(*runs: Run) -> list[str]:
    return [f"{run.pk}:{role}" for run in runs for role in ("user", "assistant")]


def cursor(thread: Thread) -> int:
    return LayerState.objects.filter(thread=thread, layer="external").values_list("upto_slot", flat=True).first() or 0
