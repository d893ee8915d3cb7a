"""Once a second, in each web process that has runs or viewers (RUNTIME 3).

One transaction writes text and heartbeat of all its runs and reads stop marks; one query each finds the runs of other
processes that are watched here, and the threads that changed for users with open sockets. Runs whose process is gone
are swept here as well as by the worker.
"""

import asyncio
import contextlib
import contextvars
import logging
import time
from collections import defaultdict, deque
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from chat.memory.external.figures import METER
from chat.models import CoreEvent, Preference, Run, Thread, WorkerBeat
from chat.providers.http import close_clients
from chat.runs import live, mirror, relay
from chat.runs.bridge import hop
from chat.runs.events import News
from chat.runs.sweep import RunSweeper

log = logging.getLogger(__name__)
BEAT_SECONDS = 1.0
SWEEP_SECONDS = 5.0
SHUTDOWN_SECONDS = 8.0
WORKER_AWAY_SECONDS = 30
IDLE_BEATS = 5  # a viewer may come between a look at the runs and its subscription
NEWS_OVERLAP_SECONDS = 2.0  # a change may be committed a little after its own time
NEWS_OVERLAP_BEATS = 3  # and an event a little after one with a higher number
# As plain SQL: building an update for each run by the ORM takes ten times as long as all else that a beat does.
PUT_TEXT: Final = "UPDATE chat_run SET output = %s, reasoning = %s WHERE id = %s AND status IN (%s, %s)"

_task: asyncio.Task[None] | None = None


@dataclass(slots=True)
class Checkpoint:
    """What one beat writes of one run of this process; `text` is None when nothing came since the last beat."""

    run_id: str
    text: str | None
    reasoning: str


@dataclass(slots=True)
class Findings:
    """What one beat has read."""

    ended_elsewhere: set[str] = field(default_factory=set)
    stopped: set[str] = field(default_factory=set)
    foreign: list[Run] = field(default_factory=list)
    changed: list[tuple[int, str, datetime]] = field(default_factory=list)  # user, thread, its updated_at
    pinged: list[tuple[int, datetime]] = field(default_factory=list)  # user, the news_at of their preference
    is_worker_away: bool = False
    newest_event: int = 0  # of core memory
    remembering: set[int] = field(default_factory=set)  # users whose core memory changed


def ensure_running() -> None:
    """Starts the beat of this loop when it does not run; it ends by itself when there is nothing to do."""
    global _task
    loop = asyncio.get_running_loop()
    if _task is None or _task.done() or _task.get_loop() is not loop:
        _task = loop.create_task(_beat(), context=contextvars.Context())
    relay.ensure_running()


async def watch(thread_id: str) -> None:
    """Makes the runs of other processes in this thread visible here, before a viewer subscribes."""
    ensure_running()
    await mirror.adopt(thread_id)


async def shutdown() -> None:
    """Ends this process's runs as interrupted, within a limit, then the beat and the model clients."""
    end_at = time.monotonic() + SHUTDOWN_SECONDS
    if starting := live.starting():  # what is being stored becomes a run first, and ends like the others
        await asyncio.wait(starting, timeout=SHUTDOWN_SECONDS / 2)
    tasks = [going.task for going in live.own_runs() if going.task is not None]
    for going in live.own_runs():
        going.cancel("shutdown")
    if tasks:
        await asyncio.wait(tasks, timeout=max(0.0, end_at - time.monotonic()))
    if _task is not None and not _task.done():
        _task.cancel()
    relay.stop()
    await close_clients()
    if METER.has_more:
        with contextlib.suppress(DatabaseError):
            await hop(METER.store)


@dataclass(slots=True)
class _Memory:
    """What one beat knows of the one before."""

    since: datetime = field(default_factory=timezone.now)
    sweeper: RunSweeper = field(default_factory=RunSweeper)
    swept_at: float = 0.0  # of time.monotonic
    is_worker_away: bool | None = None
    told: dict[str, datetime] = field(default_factory=dict)  # thread → the updated_at that its user was told of
    newest_events: deque[int] = field(default_factory=lambda: deque(maxlen=NEWS_OVERLAP_BEATS))  # of core memory, at the last beats
    pinged: dict[int, datetime] = field(default_factory=dict)  # user → the news_at that they were told of


async def _beat() -> None:
    memory = _Memory()
    idle_beats = 0
    # Nothing is awaited between the look that ends the beat and its end: a run that comes later finds it ended and starts a new one.
    while (idle_beats := 0 if _has_work() else idle_beats + 1) <= IDLE_BEATS:
        live.drop_unwatched_mirrors()
        now = timezone.now()
        points, mirrored = _checkpoints(), [one.run_id for one in live.mirrors()]
        # Broad, as the worker's loop is: a beat that ends would take the heartbeat of all runs of this process with it.
        try:
            findings = await hop(_look, points, live.watched_threads(), mirrored, live.listening_users(), memory)
            if time.monotonic() - memory.swept_at > SWEEP_SECONDS:
                await hop(_sweep, memory.sweeper)
                memory.swept_at = time.monotonic()
            memory.since = now - timedelta(seconds=NEWS_OVERLAP_SECONDS)
            memory.newest_events.append(findings.newest_event)
            _act(points, findings)
            _tell(findings, memory)
        except Exception:
            log.exception("A beat failed; the next one follows")
        await asyncio.sleep(BEAT_SECONDS)


def _sweep(sweeper: RunSweeper) -> None:
    sweeper.sweep()
    METER.store()


def _has_work() -> bool:
    return bool(live.own_runs() or live.watched_threads() or live.listening_users())


def _checkpoints() -> list[Checkpoint]:
    """Of all runs of this process. One that is just ending has a heartbeat too: its end may have to wait for the database."""
    points = []
    for going in live.own_runs():
        text = going.text if going.length != going.stored_length else None
        points.append(Checkpoint(going.run_id, text, going.reasoning if text is not None else ""))
    return points


def _look(points: list[Checkpoint], threads: list[str], mirrored: list[str], users: list[int], memory: _Memory) -> Findings:
    """The database's part of a beat: one transaction of writes, then the reads."""
    findings = Findings()
    now = timezone.now()
    own = [point.run_id for point in points]
    if own:
        _write(points, own, now, findings)
    findings.foreign = mirror.stored(threads, own, mirrored)
    if users:
        threads_of = Thread.objects.filter(user_id__in=users, updated_at__gt=memory.since)
        findings.changed = list(threads_of.values_list("user_id", "pk", "updated_at"))
        pinged = Preference.objects.filter(user_id__in=users, news_at__gt=memory.since)
        findings.pinged = [(user_id, at) for user_id, at in pinged.values_list("user_id", "news_at") if at is not None]
        findings.is_worker_away = is_worker_away()
        findings.newest_event = CoreEvent.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
        known = memory.newest_events[0] if memory.newest_events else findings.newest_event
        if findings.newest_event > known:  # seldom, so the usual beat reads one key
            events = CoreEvent.objects.filter(pk__gt=known, user_id__in=users)
            findings.remembering = set(events.values_list("user_id", flat=True))
    return findings


def _write(points: list[Checkpoint], own: list[str], now: datetime, findings: Findings) -> None:
    """Writes text and heartbeat of the runs that still go, and sees which others have ended, and which shall stop."""
    texts = [(point.text, point.reasoning, point.run_id, *Run.GOING) for point in points if point.text is not None]
    with transaction.atomic():
        runs = Run.objects.filter(pk__in=own)
        runs.going().update(status=Run.Status.RUNNING, heartbeat_at=now)
        with connection.cursor() as cursor:
            cursor.executemany(PUT_TEXT, texts)
        known = list(runs.values_list("pk", "status", "stop_requested_at"))
    findings.ended_elsewhere = set(own) - {key for key, status, _ in known if status in Run.GOING}
    findings.stopped = {key for key, _, stop_requested_at in known if stop_requested_at is not None}


def is_worker_away() -> bool:
    """Whether no worker has given a sign of life lately."""
    return not WorkerBeat.objects.filter(beat_at__gt=timezone.now() - timedelta(seconds=WORKER_AWAY_SECONDS)).exists()


def _act(points: list[Checkpoint], findings: Findings) -> None:
    for point in points:
        going = live.get(point.run_id)
        if going is not None and point.text is not None and point.run_id not in findings.ended_elsewhere:
            going.stored_length = len(point.text)
    for run_id in findings.stopped:
        _cancel(run_id, "stop")
    for run_id in findings.ended_elsewhere:
        _cancel(run_id, "verdict")
    for run in findings.foreign:
        mirror.take(run)


def _tell(findings: Findings, memory: _Memory) -> None:
    changed: dict[int, set[str]] = defaultdict(set)
    for user_id, thread_id, updated_at in findings.changed:
        if memory.told.get(thread_id) != updated_at:
            changed[user_id].add(thread_id)
    memory.told = {thread_id: updated_at for _user, thread_id, updated_at in findings.changed}
    pinged = {user_id for user_id, at in findings.pinged if memory.pinged.get(user_id) != at}
    memory.pinged = dict(findings.pinged)
    has_turned = memory.is_worker_away is not None and findings.is_worker_away != memory.is_worker_away
    memory.is_worker_away = findings.is_worker_away
    for user_id in live.listening_users():
        has_memory, has_more = user_id in findings.remembering, user_id in pinged
        if user_id in changed or has_memory or has_more or has_turned:
            is_away = findings.is_worker_away if has_turned else None
            live.publish_news(News(user_id, frozenset(changed[user_id]), is_away, has_memory=has_memory, has_more=has_more))


def _cancel(run_id: str, reason: str) -> None:
    going = live.get(run_id)
    if going is not None:
        going.cancel(reason)
