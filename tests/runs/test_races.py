"""Moments in which two things happen to a run at once."""

import asyncio
import threading
from unittest.mock import patch

from django.db import OperationalError
from django.utils import timezone

from chat.memory.meaning.ask import Plan
from chat.models import Run
from chat.runs import beat, execute, finish, launch, live, start
from chat.runs.bridge import hop
from chat.runs.events import RunEnded
from chat.runs.start import Order
from tests.fakes import ScriptedProvider, scripted
from tests.runs.test_beat import until
from tests.runs.test_execute import RunCase


class RaceTests(RunCase):
    async def stored(self, run_id: str) -> Run:
        return await Run.objects.aget(pk=run_id)

    async def test_run_that_starts_during_the_last_beat_has_a_heartbeat_too(self) -> None:
        gate = asyncio.Event()
        with patch.multiple(beat, BEAT_SECONDS=0.2, IDLE_BEATS=1), scripted(ScriptedProvider(["写到一半", gate, "完"])):
            beat.ensure_running()
            started = await launch.start(self.order())
            async with asyncio.timeout(2):
                while (await self.stored(started.run_id)).status != "running":
                    await asyncio.sleep(0.01)
            gate.set()
            await launch.wait(started.run_id)

    async def test_run_that_is_stopped_before_its_first_step_ends(self) -> None:
        with scripted(ScriptedProvider()):
            started = await hop(start.start_run, self.order())
            launch._launch(started.prepared)
            live.get(started.run_id).cancel("stop")
            await launch.wait(started.run_id)
        assert (await self.stored(started.run_id)).status == "cancelled"
        assert live.get(started.run_id) is None

    async def test_end_is_stored_when_the_database_was_away_for_a_moment(self) -> None:
        failures = [OperationalError("database is locked"), OperationalError("the connection is lost")]

        def finish_run(*args: object) -> Run:
            if failures:
                raise failures.pop()
            return finish.finish_run(*args)

        with patch.object(execute, "finish_run", finish_run), scripted(ScriptedProvider(["一、选择题"])):
            started = await launch.start(self.order())
            await launch.wait(started.run_id)
        run = await self.stored(started.run_id)
        assert (run.status, run.output) == ("completed", "一、选择题")

    async def test_run_that_ends_during_a_beat_is_not_shown_again(self) -> None:
        events: list[object] = []
        gate = asyncio.Event()
        with scripted(ScriptedProvider(["一", gate])):
            started = await launch.start(self.order())
            end = live.subscribe(started.thread_id, events.append)
            live.get(started.run_id).is_ending = True
            points = beat._checkpoints()
            findings = await hop(beat._look, points, [started.thread_id], [], [], timezone.now())
            gate.set()
            await launch.wait(started.run_id)
            beat._act(points, findings)
        end()
        assert isinstance(events[-1], RunEnded) and live.live_runs(started.thread_id) == []

    async def test_run_that_is_being_stored_at_the_shutdown_ends_as_interrupted(self) -> None:
        gate = threading.Event()

        def start_or_plan(order: Order) -> start.Started | Plan:
            gate.wait(5)
            return start.start_or_plan(order)

        with patch.object(launch, "start_or_plan", start_or_plan), scripted(ScriptedProvider(["一", asyncio.Event()])):
            starting = asyncio.ensure_future(launch.start(self.order()))
            await until(lambda: bool(live.starting()))
            end = asyncio.ensure_future(beat.shutdown())
            await asyncio.sleep(0)
            gate.set()
            await end
        run = await self.stored((await starting).run_id)
        assert (run.status, run.error_code) == ("failed", "interrupted")

    async def test_caller_who_goes_away_leaves_no_run_without_its_task(self) -> None:
        with scripted(ScriptedProvider(["一"])):
            caller = asyncio.ensure_future(launch.start(self.order()))
            await asyncio.sleep(0)  # its first step
            caller.cancel()
            await asyncio.wait([caller, *live.starting()])
            run = await Run.objects.aget()
            await launch.wait(run.pk)
        assert caller.cancelled() and (await self.stored(run.pk)).status == "completed"
