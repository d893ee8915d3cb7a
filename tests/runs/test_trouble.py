"""What happens around a run when the database or a viewer is in trouble."""

import asyncio
import threading
from unittest import skipIf
from unittest.mock import patch

import psycopg
from django.db import OperationalError, connection, connections

from chat.models import Run
from chat.runs import beat, launch, live, stop
from chat.runs.bridge import hop
from tests.fakes import ScriptedProvider, scripted
from tests.runs.test_beat import until
from tests.runs.test_execute import RunCase


def end_all_connections() -> None:
    """What a restart of PostgreSQL does to its clients."""
    values = connections["default"].get_connection_params()
    where = {name: values[name] for name in ("host", "port", "user", "dbname") if values.get(name)}
    with psycopg.connect(**where, autocommit=True) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def fill_pool(size: int) -> None:
    """Leaves so many connections waiting in the pool, as a busy hour does."""
    meeting = threading.Barrier(size)

    def use() -> None:
        connection.ensure_connection()
        meeting.wait(10)
        connection.close()

    users = [threading.Thread(target=use) for _ in range(size)]
    for user in users:
        user.start()
    for user in users:
        user.join()


class TroubleTests(RunCase):
    async def test_beat_goes_on_after_an_unexpected_error(self) -> None:
        look, failures = beat._look, [RuntimeError("boom")]

        def fails_once(*args: object) -> beat.Findings:
            if failures:
                raise failures.pop()
            return look(*args)

        gate = asyncio.Event()
        with patch.multiple(beat, BEAT_SECONDS=0.01, _look=fails_once), scripted(ScriptedProvider(["写到一半", gate])):
            with self.assertLogs("chat.runs.beat", "ERROR"):
                started = await launch.start(self.order())
                async with asyncio.timeout(5):
                    while (await Run.objects.aget(pk=started.run_id)).output != "写到一半":
                        await asyncio.sleep(0.005)
            gate.set()
            await launch.wait(started.run_id)

    async def test_run_of_this_process_stops_before_the_database_answers(self) -> None:
        def is_away(*_args: object) -> bool:
            raise OperationalError("database is locked")

        with scripted(ScriptedProvider(["写到一半", asyncio.Event()])):
            started = await launch.start(self.order())
            await until(lambda: bool(live.get(started.run_id).text))
            with patch.object(stop, "_mark", is_away), self.assertRaises(OperationalError):
                await stop.stop(self.user, started.run_id)
            await asyncio.wait_for(launch.wait(started.run_id), 5)
        assert (await Run.objects.aget(pk=started.run_id)).status == "cancelled"

    @skipIf(connection.vendor == "sqlite", "SQLite has no connections to lose")
    async def test_run_survives_the_loss_of_all_connections(self) -> None:
        self.addCleanup(connection.close_pool)  # which may still hold dead ones
        fill_pool(12)
        gate = asyncio.Event()
        with patch.object(beat, "BEAT_SECONDS", 0.05), scripted(ScriptedProvider(["写到一半", gate, "，完。"])):
            started = await launch.start(self.order())
            await until(lambda: bool(live.get(started.run_id).text))
            await asyncio.get_running_loop().run_in_executor(None, end_all_connections)
            gate.set()
            await asyncio.wait_for(launch.wait(started.run_id), 20)
        await until(lambda: live.get(started.run_id) is None)
        await beat.shutdown()
        await hop(connection.close_pool)  # which may still hold dead ones
        run = await hop(Run.objects.get, pk=started.run_id)
        assert (run.status, run.output) == ("completed", "写到一半，完。")
