"""The beat: checkpoints, stop marks and runs of other processes; the shutdown."""

import asyncio
from collections.abc import Callable
from datetime import timedelta

from asgiref.sync import sync_to_async
from django.utils import timezone

from chat.models import CoreEvent, Run, Thread
from chat.runs import beat, launch, live
from chat.runs.events import News, RunEnded, TextAdded
from tests import builders
from tests.fakes import ScriptedProvider, scripted
from tests.runs.test_execute import RunCase


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not condition():
            await asyncio.sleep(0.005)


class BeatTests(RunCase):
    def setUp(self) -> None:
        super().setUp()
        self.pace, beat.BEAT_SECONDS = beat.BEAT_SECONDS, 0.01

    def tearDown(self) -> None:
        beat.BEAT_SECONDS = self.pace
        super().tearDown()

    def foreign_run(self, **fields: object) -> Run:
        """A run whose task is in another process."""
        thread = builders.thread(self.user, self.agent)
        return builders.run(thread, "问", **{"output": "写到", "status": "running"} | fields)

    async def stored(self, run_id: str) -> Run:
        return await Run.objects.aget(pk=run_id)

    async def test_text_is_stored_while_the_run_goes(self) -> None:
        gate = asyncio.Event()
        with scripted(ScriptedProvider(["写到一半", gate, "完"])):
            started = await launch.start(self.order())
            async with asyncio.timeout(5):
                while (await self.stored(started.run_id)).output != "写到一半":
                    await asyncio.sleep(0.005)
            assert (await self.stored(started.run_id)).status == "running"
            gate.set()
            await launch.wait(started.run_id)
        assert (await self.stored(started.run_id)).output == "写到一半完"

    async def test_run_that_was_ended_elsewhere_keeps_its_text_while_another_is_written_on(self) -> None:
        gate, end = asyncio.Event(), asyncio.Event()
        with scripted(ScriptedProvider(["甲", gate, "乙", end], ["丙", gate, "丁", end])):
            ended, going = (await launch.start(self.order())).run_id, (await launch.start(self.order())).run_id
            await until(lambda: bool(live.get(ended).text and live.get(going).text))
            await Run.objects.filter(pk=ended).aupdate(
                status="failed", error_code="internal_error", output="别处写的", finished_at=timezone.now()
            )
            gate.set()
            async with asyncio.timeout(5):
                while (await self.stored(going)).output != "丙丁":
                    await asyncio.sleep(0.005)
            end.set()
            for run_id in (ended, going):
                await launch.wait(run_id)
        assert [(await self.stored(run_id)).output for run_id in (ended, going)] == ["别处写的", "丙丁"]

    async def test_stop_mark_of_another_process_stops_the_run(self) -> None:
        gate = asyncio.Event()
        with scripted(ScriptedProvider(["甲", gate, "乙"])):
            started = await launch.start(self.order())
            await Run.objects.filter(pk=started.run_id).aupdate(stop_requested_at=timezone.now())
            await asyncio.wait_for(launch.wait(started.run_id), 5)
        assert (await self.stored(started.run_id)).status == "cancelled"

    async def test_run_of_another_process_is_followed_to_its_end(self) -> None:
        run = await sync_to_async(self.foreign_run)()
        await beat.watch(run.thread_id)
        events: list[object] = []
        (mirror,) = live.live_runs(run.thread_id)
        end = live.subscribe(run.thread_id, events.append)
        assert mirror.text == "写到"
        await Run.objects.filter(pk=run.pk).aupdate(output="写到一半")
        await until(lambda: mirror.text == "写到一半")
        await Run.objects.filter(pk=run.pk).aupdate(output="写到一半了", status="completed", finished_at=timezone.now())
        await until(lambda: isinstance(events[-1], RunEnded))
        end()
        assert [event.text for event in events if isinstance(event, TextAdded)] == ["一半", "了"]
        assert live.live_runs(run.thread_id) == []

    async def test_users_with_open_pages_hear_of_changed_threads(self) -> None:
        thread = await sync_to_async(builders.thread)(self.user, self.agent)
        news: list[News] = []
        end = live.subscribe_user(self.user.pk, news.append)
        beat.ensure_running()
        await Thread.objects.filter(pk=thread.pk).aupdate(updated_at=timezone.now() + timedelta(seconds=1))
        await until(lambda: any(thread.pk in one.thread_ids for one in news))
        end()

    async def test_users_with_open_pages_hear_that_their_memory_changed_and_others_do_not(self) -> None:
        other = await sync_to_async(builders.teacher)()
        news: list[News] = []
        ends = [live.subscribe_user(user.pk, news.append) for user in (self.user, other)]
        beat.ensure_running()
        candidate = await sync_to_async(builders.candidate)(self.user, "我教高二")
        async with asyncio.timeout(5):
            while not news:
                await CoreEvent.objects.acreate(tenant_id=candidate.tenant_id, user=self.user, candidate=candidate, verb="seen")
                await asyncio.sleep(0.005)
        for end in ends:
            end()
        assert {(one.user_id, one.has_memory) for one in news} == {(self.user.pk, True)}

    async def test_shutdown_ends_the_runs_as_interrupted_with_their_text(self) -> None:
        gate = asyncio.Event()
        with scripted(ScriptedProvider(["写到一半", gate, "不会来"])):
            started = await launch.start(self.order())
            await until(lambda: bool(live.get(started.run_id).text))
            await beat.shutdown()
        run = await self.stored(started.run_id)
        assert (run.status, run.error_code, run.output) == ("failed", "interrupted", "写到一半")
