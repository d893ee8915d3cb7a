"""Is the process up, and can it work?"""

from contextlib import AbstractContextManager
from datetime import timedelta
from unittest.mock import patch

from django.db import OperationalError, connections
from django.test import AsyncClient, TransactionTestCase, override_settings
from django.utils import timezone

from chat.models import Work, WorkerBeat

BROKEN_LAYER = {"default": {"BACKEND": "tests.api.test_health.BrokenLayer"}}


class BrokenLayer:
    """A channel layer whose server is away."""

    def __init__(self, **config: object) -> None:
        pass

    async def send(self, channel: str, message: dict) -> None:
        raise ConnectionRefusedError("no server")


def database_away() -> AbstractContextManager[object]:
    """Every query fails as it does when the server does not answer."""
    return patch.object(type(connections["default"]), "cursor", side_effect=OperationalError("away"))


class HealthTests(TransactionTestCase):
    async def test_process_is_up_without_any_query(self) -> None:
        with database_away():
            response = await AsyncClient().get("/healthz")
        assert (response.status_code, response.json()) == (200, {"status": "ok"})


class ReadyTests(TransactionTestCase):
    async def ready(self, status: int) -> dict:
        response = await AsyncClient().get("/readyz")
        assert response.status_code == status, response.content
        return response.json()

    async def seen_worker(self, seconds_ago: float) -> None:
        await WorkerBeat.objects.acreate(worker=f"w{seconds_ago}", beat_at=timezone.now() - timedelta(seconds=seconds_ago))

    async def test_all_is_well(self) -> None:
        await self.seen_worker(1)
        await self.seen_worker(9_000)
        body = await self.ready(200)
        assert 1 <= body.pop("worker_age_seconds") < 30
        assert body == {"status": "ok", "database": "ok", "channel_layer": "ok", "backlog": 0}

    async def test_without_any_worker_it_is_degraded(self) -> None:
        body = await self.ready(200)
        assert (body["status"], body["worker_age_seconds"]) == ("degraded", None)

    async def test_with_a_worker_that_went_away_it_is_degraded(self) -> None:
        await self.seen_worker(600)
        body = await self.ready(200)
        assert body["status"] == "degraded" and body["worker_age_seconds"] >= 600

    async def test_backlog_counts_threads_waiting_or_under_way(self) -> None:
        now = timezone.now()
        await Work.objects.acreate(kind="thread", subject_id="th_a", due_at=now)
        await Work.objects.acreate(kind="thread", subject_id="th_b", due_at=now, lease="w", lease_until=now + timedelta(minutes=1))
        await Work.objects.acreate(kind="other", subject_id="x", due_at=now)
        assert (await self.ready(200))["backlog"] == 2

    async def test_without_the_database_it_is_unavailable(self) -> None:
        with database_away(), self.assertLogs("chat.api.health", "ERROR"):
            body = await self.ready(503)
        assert body == {
            "status": "unavailable",
            "database": "unavailable",
            "channel_layer": "ok",
            "worker_age_seconds": None,
            "backlog": None,
        }

    @override_settings(CHANNEL_LAYERS=BROKEN_LAYER)
    async def test_without_the_channel_layer_it_is_unavailable(self) -> None:
        with self.assertLogs("chat.api.health", "ERROR"):
            body = await self.ready(503)
        assert (body["status"], body["database"], body["channel_layer"]) == ("unavailable", "ok", "unavailable")
