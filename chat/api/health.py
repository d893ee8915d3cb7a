"""Is the process up, and can it work (DESIGN §6)? Neither answer holds anything personal."""

import asyncio
import logging
import secrets
from dataclasses import dataclass

from channels.layers import get_channel_layer
from django.db import Error as DatabaseError
from django.db.models import Max
from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from redis.exceptions import RedisError

from chat.api.answers import json_answer
from chat.models import Work, WorkerBeat
from chat.runs.beat import WORKER_AWAY_SECONDS
from chat.runs.bridge import hop

CHANNEL_TIMEOUT_SECONDS = 2.0

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Backlog:
    """How the background stands: seconds since a worker was last seen (None: never), and threads with memory work waiting or under way."""

    worker_age_seconds: float | None
    threads: int

    @property
    def is_worker_away(self) -> bool:
        return self.worker_age_seconds is None or self.worker_age_seconds > WORKER_AWAY_SECONDS


def read_backlog() -> Backlog:
    """Two small queries. Raises a DatabaseError when the database does not answer."""
    seen_at = WorkerBeat.objects.aggregate(newest=Max("beat_at"))["newest"]
    age = None if seen_at is None else round(max(0.0, (timezone.now() - seen_at).total_seconds()), 1)
    return Backlog(age, Work.objects.filter(kind=Work.Kind.THREAD).count())


async def healthz(request: HttpRequest) -> JsonResponse:
    """The process answers; nothing else is asked."""
    return json_answer({"status": "ok"})


async def readyz(request: HttpRequest) -> JsonResponse:
    """200 when messages can be sent, `degraded` while no worker is seen; 503 when the database or the channel layer is away."""
    backlog = await _backlog()
    has_channels = await _channels_answer()
    is_ready = backlog is not None and has_channels
    status = "unavailable" if not is_ready else "degraded" if backlog is not None and backlog.is_worker_away else "ok"
    values = {
        "status": status,
        "database": "unavailable" if backlog is None else "ok",
        "channel_layer": "ok" if has_channels else "unavailable",
        "worker_age_seconds": backlog and backlog.worker_age_seconds,
        "backlog": backlog and backlog.threads,
    }
    return json_answer(values, status=200 if is_ready else 503)


async def _backlog() -> Backlog | None:
    try:
        return await hop(read_backlog)
    except DatabaseError:
        log.exception("The database does not answer")
        return None


async def _channels_answer() -> bool:
    """Sends a message through the channel layer and takes it out again."""
    layer = get_channel_layer()
    channel = f"readyz.{secrets.token_hex(8)}"
    try:
        async with asyncio.timeout(CHANNEL_TIMEOUT_SECONDS):
            await layer.send(channel, {"type": "readyz"})
            await layer.receive(channel)
    except (OSError, TimeoutError, RedisError):
        log.exception("The channel layer does not answer")
        return False
    return True
