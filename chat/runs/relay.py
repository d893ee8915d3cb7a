"""Relay: running text to other web processes, over a channel layer that crosses processes (DESIGN §3.2).

Batches go at most every BATCH_SECONDS to the group of the run's thread and carry everything behind the last
checkpoint, so a receiver that missed one, or has only the stored text, has no gap. Without such a layer the beat alone
carries the text, once a second.
"""

import asyncio
import contextvars
import logging
import os
import secrets

from channels.layers import BaseChannelLayer, get_channel_layer
from django.conf import settings
from django.db import DatabaseError
from redis.exceptions import RedisError

from chat.runs import live, mirror
from chat.runs.events import Event, RunEnded, TextAdded

log = logging.getLogger(__name__)
BATCH_SECONDS = 0.25
RETRY_SECONDS = 5.0
_ORIGIN = f"{os.getpid()}-{secrets.token_hex(4)}"

_task: asyncio.Task[None] | None = None
_changed: dict[str, str] = {}  # run id → thread id of runs with text that was not sent yet


def ensure_running() -> None:
    """Starts the relay of this loop, where a channel layer crosses processes."""
    global _task
    if not settings.REDIS_URL:
        return
    loop = asyncio.get_running_loop()
    if _task is None or _task.done() or _task.get_loop() is not loop:
        live.set_relay(_note)
        _task = loop.create_task(_serve(), context=contextvars.Context())


def stop() -> None:
    if _task is not None:
        _task.cancel()


def _note(event: Event) -> None:
    going = live.get(event.run_id)
    is_own = going is not None and going.task is not None
    if is_own and isinstance(event, TextAdded) or isinstance(event, RunEnded):
        _changed[event.run_id] = event.thread_id


def group_of(thread_id: str) -> str:
    return f"thread.{thread_id}"


async def _serve() -> None:
    """Sends and receives for as long as the process lives; a layer in trouble is tried again, the beat goes on meanwhile."""
    task = asyncio.current_task()
    assert task is not None
    while not task.cancelling():
        layer = get_channel_layer()
        channel = await layer.new_channel("web")
        receiver = asyncio.create_task(_receive(layer, channel))
        joined: set[str] = set()
        try:
            while not (receiver.done() or task.cancelling()):
                await _join(layer, channel, joined)
                await _send(layer)
                await asyncio.sleep(BATCH_SECONDS)
            if receiver.done():
                receiver.result()
        except (OSError, TimeoutError, RedisError, DatabaseError) as error:
            if task.cancelling():
                break  # a read that was cancelled can come back as a timeout
            log.warning("The relay between processes is in trouble (%s); trying again", type(error).__name__)
        finally:
            await _end(receiver)
        await asyncio.sleep(RETRY_SECONDS)


async def _end(receiver: asyncio.Task[None]) -> None:
    """Cancels until it is done: redis-py sends with asyncio.wait_for, which can forget a cancellation before Python 3.12.

    A cancellation that comes meanwhile waits until then: nobody else would cancel the receiver again, and a loop that ends
    cancels each task once and then waits for all of them, for ever.
    """
    is_cancelled = False
    while not receiver.done():
        receiver.cancel()
        try:
            await asyncio.wait({receiver}, timeout=BATCH_SECONDS)
        except asyncio.CancelledError:
            is_cancelled = True
    if not receiver.cancelled():
        receiver.exception()  # looked at, so that asyncio does not report it
    if is_cancelled:
        raise asyncio.CancelledError


async def _join(layer: BaseChannelLayer, channel: str, joined: set[str]) -> None:
    watched = set(live.watched_threads())
    for thread_id in watched - joined:
        await layer.group_add(group_of(thread_id), channel)
    for thread_id in joined - watched:
        await layer.group_discard(group_of(thread_id), channel)
    joined.clear()
    joined |= watched


async def _send(layer: BaseChannelLayer) -> None:
    while _changed:
        run_id, thread_id = _changed.popitem()
        going = live.get(run_id)
        message = {"type": "run.news", "origin": _ORIGIN, "thread": thread_id, "run": run_id, "start": 0, "text": ""}
        if going is not None:
            message |= {"start": going.stored_length, "text": going.text[going.stored_length :]}
        await layer.group_send(group_of(thread_id), message)


async def _receive(layer: BaseChannelLayer, channel: str) -> None:
    while True:
        message = await layer.receive(channel)
        if message["origin"] == _ORIGIN:
            continue
        going = live.get(message["run"])
        if going is None or not message["text"] or not going.catch_up(message["start"], message["text"]):
            await mirror.adopt(message["thread"])  # a new run, an end or a gap: what is stored says more
            going = live.get(message["run"])
            if going is not None:
                going.catch_up(message["start"], message["text"])
