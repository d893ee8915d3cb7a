"""The socket of a page: joining, offsets, sending, stopping, and what it refuses."""

import asyncio
import json
from contextlib import asynccontextmanager
from typing import Any
from unittest.mock import patch

from asgiref.sync import sync_to_async
from channels.routing import URLRouter
from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import AnonymousUser, User
from django.contrib.sessions.backends.base import SessionBase
from django.test import Client
from django.utils import timezone

from chat import consumers
from chat.models import Preference, Run, Thread
from chat.providers.base import Delta, StreamBroken
from chat.routing import websocket_urlpatterns
from chat.runs import launch, live
from chat.runs.events import News
from tests import builders
from tests.fakes import ScriptedProvider, scripted
from tests.runs.test_execute import RunCase

APPLICATION = URLRouter(websocket_urlpatterns)


class Page:
    """A browser's side of the socket; `shown` is what a page would show of each run."""

    def __init__(self, communicator: WebsocketCommunicator) -> None:
        self.communicator = communicator
        self.frames: list[dict[str, Any]] = []

    async def say(self, **frame: object) -> None:
        await self.communicator.send_json_to(frame)

    async def hear(self, kind: str, **wanted: object) -> dict[str, Any]:
        """The next frame of the kind that has the wanted values."""
        while True:
            frame = json.loads(await self.communicator.receive_from(timeout=5))
            self.frames.append(frame)
            if frame["type"] == kind and all(frame.get(name) == value for name, value in wanted.items()):
                return frame

    async def hear_end(self) -> dict[str, Any]:
        while True:
            frame = await self.hear("run")
            if 'data-status="running"' not in frame["html"] and 'data-status="queued"' not in frame["html"]:
                return frame

    async def join(self, **seen: object) -> None:
        await self.say(**{"action": "sync", "after": 0, "open": []} | seen)
        await self.hear("fragment", target="status")

    def steps(self) -> list[tuple[int, int]]:
        return [(frame["at"], frame["to"]) for frame in self.frames if frame["type"] in ("delta", "block")]


def session_of(user: User | AnonymousUser) -> SessionBase:
    client = Client()
    if isinstance(user, User):
        client.force_login(user)
    return client.session


class SocketCase(RunCase):
    def setUp(self) -> None:
        super().setUp()
        self.thread = builders.thread(self.user, self.agent)

    async def connect(self, path: str, user: User | AnonymousUser | None = None) -> tuple[WebsocketCommunicator, bool, int | None]:
        communicator = WebsocketCommunicator(APPLICATION, path)
        communicator.scope["user"] = user or self.user
        communicator.scope["session"] = await sync_to_async(session_of)(user or self.user)
        accepted, code = await communicator.connect(timeout=5)
        return communicator, accepted, code

    @asynccontextmanager
    async def page(self, thread: Thread | None = None):
        communicator, accepted, _code = await self.connect(f"/ws/threads/{(thread or self.thread).pk}/")
        assert accepted
        yield Page(communicator)
        await communicator.disconnect()


class JoinTests(SocketCase):
    async def test_anonymous_visitor_is_refused(self) -> None:
        assert await self.refusal(f"/ws/threads/{self.thread.pk}/", AnonymousUser()) == consumers.ANONYMOUS

    async def test_foreign_and_missing_threads_are_refused_alike(self) -> None:
        colleague = await sync_to_async(builders.teacher)(await sync_to_async(builders.school_of)(self.user))
        codes = {await self.refusal(path, colleague) for path in (f"/ws/threads/{self.thread.pk}/", "/ws/threads/th_missing/")}
        assert codes == {consumers.NOT_FOUND}

    async def test_foreign_assistant_is_refused(self) -> None:
        stranger = await sync_to_async(builders.teacher)()
        assert await self.refusal(f"/ws/?agent={self.agent.pk}", stranger) == consumers.NOT_FOUND

    async def refusal(self, path: str, user: User | AnonymousUser) -> int | None:
        _communicator, accepted, code = await self.connect(path, user)
        assert not accepted
        return code

    async def test_joining_in_mid_run_shows_the_text_so_far_and_then_the_rest(self) -> None:
        gate = asyncio.Event()
        with scripted(ScriptedProvider(["第一段。\n\n第二", gate, "段。"])):
            async with self.page() as first:
                await first.join()
                started = await launch.start(self.order(thread_id=self.thread.pk))
                await first.hear("block")
                async with self.page() as late:
                    await late.join()
                    joined = next(frame for frame in late.frames if frame["type"] == "run")
                    assert "<p>第一段。</p>" in joined["html"] and joined["to"] == 8
                    gate.set()
                    ends = [await page.hear_end() for page in (first, late)]
                    assert late.steps() == [(8, 10)]
                    assert ends[0]["html"] == ends[1]["html"]
                    assert "<p>第二段。</p>" in ends[0]["html"]
            await launch.wait(started.run_id)

    async def test_steps_meet_end_to_end(self) -> None:
        async with self.page() as page:
            await page.join()
            with patch("chat.runs.live.COALESCE_SECONDS", 0), scripted(ScriptedProvider([f"第{n}题。\n\n" for n in range(20)])):
                await launch.start(self.order(thread_id=self.thread.pk))
                end = await page.hear_end()
        steps = page.steps()
        assert [at for at, _to in steps] == [0] + [to for _at, to in steps[:-1]]
        assert steps[-1][1] == end["to"]

    async def test_open_formula_is_held_back_until_it_is_closed(self) -> None:
        gate = asyncio.Event()
        with scripted(ScriptedProvider(["面积是 $\\frac{1}", gate, "{2}$ 平方米"])):
            async with self.page() as page:
                await page.join()
                await launch.start(self.order(thread_id=self.thread.pk))
                held = await page.hear("delta")
                gate.set()
                await page.hear_end()
        assert (held["html"], held["to"]) == ("面积是 ", 13)

    async def test_text_of_the_model_is_escaped(self) -> None:
        with scripted(ScriptedProvider(["<script>alert(1)</script>"])):
            async with self.page() as page:
                await page.join()
                await launch.start(self.order(thread_id=self.thread.pk))
                delta = await page.hear("delta")
                end = await page.hear_end()
        assert "<script" not in delta["html"] + end["html"]

    async def test_reasoning_and_tools_are_told_apart_from_the_answer(self) -> None:
        with scripted(ScriptedProvider([Delta(reasoning="想一想"), "好。"])):
            async with self.page() as page:
                await page.join()
                await launch.start(self.order(thread_id=self.thread.pk))
                thought = await page.hear("reasoning")
                await page.hear_end()
        assert (thought["at"], thought["to"], thought["html"]) == (0, 3, "想一想")

    async def test_run_of_another_process_is_followed(self) -> None:
        run = await sync_to_async(builders.run)(self.thread, output="写到", status="running")
        with patch("chat.runs.beat.BEAT_SECONDS", 0.01):
            async with self.page() as page:
                await page.join()
                await Run.objects.filter(pk=run.pk).aupdate(output="写到一半")
                step = await page.hear("delta")
                await Run.objects.filter(pk=run.pk).aupdate(status="completed", finished_at=timezone.now())
                await page.hear_end()
        assert (step["at"], step["to"], step["html"]) == (2, 4, "一半")


class SyncTests(SocketCase):
    async def ids(self, page: Page, **seen: object) -> list[str]:
        await page.join(**seen)
        return [frame["run"] for frame in page.frames if frame["type"] == "run"]

    async def test_only_newer_rounds_are_told(self) -> None:
        runs = [await sync_to_async(builders.run)(self.thread) for _number in range(3)]
        async with self.page() as page:
            assert await self.ids(page, after=1) == [run.pk for run in runs[1:]]

    async def test_round_that_was_going_is_told_as_it_ended(self) -> None:
        run = await sync_to_async(builders.run)(self.thread, output="写完了")
        async with self.page() as page:
            assert await self.ids(page, after=1, open=[run.pk]) == [run.pk]

    async def test_round_that_was_replaced_meanwhile_is_told(self) -> None:
        old = await sync_to_async(builders.run)(self.thread)
        new = await sync_to_async(builders.run)(self.thread, replaces=old)
        async with self.page() as page:
            assert await self.ids(page, first=1, after=1, shown=[old.pk]) == [new.pk]

    async def test_words_come_in_the_language_of_the_viewer(self) -> None:
        await sync_to_async(builders.run)(self.thread, status="failed", error_code="provider_timeout", output="")
        await Preference.objects.acreate(user=self.user, language="en")
        async with self.page() as page:
            await page.join()
        told = next(frame for frame in page.frames if frame["type"] == "run")
        assert "The model service did not answer in time." in told["html"] and "Your question is kept." in told["html"]


class SendTests(SocketCase):
    async def test_message_is_acknowledged_and_shown(self) -> None:
        with scripted(ScriptedProvider(["好。"])):
            async with self.page() as page:
                await page.join()
                await page.say(action="send", key="k1", input="出一份 <试卷>", mode="")
                shown = await page.hear("run")
                sent = await page.hear("sent", key="k1")
                await page.hear_end()
        assert sent["run"] == shown["run"]
        assert "出一份 &lt;试卷&gt;" in shown["html"]

    async def test_same_key_twice_is_one_run(self) -> None:
        with scripted(ScriptedProvider(["好。"])):
            async with self.page() as page:
                await page.join()
                for _time in range(2):
                    await page.say(action="send", key="k1", input="出一份试卷", mode="")
                runs = [(await page.hear("sent", key="k1"))["run"] for _time in range(2)]
        assert runs[0] == runs[1]
        assert await Run.objects.acount() == 1

    async def test_refused_message_is_answered_with_its_key_and_words(self) -> None:
        async with self.page() as page:
            await page.say(action="send", key="k1", input="  ", mode="")
            error = await page.hear("error", key="k1")
        assert error["code"] == "input_empty" and error["message"]
        assert await Run.objects.acount() == 0

    async def test_stop_is_not_behind_a_send(self) -> None:
        gate = asyncio.Event()
        with scripted(ScriptedProvider(["写到一半", gate])):
            async with self.page() as page:
                await page.join()
                await page.say(action="send", key="k1", input="出一份试卷", mode="")
                await page.hear("delta")
                run_id = (await page.hear("sent"))["run"]
                await page.say(action="stop", run=run_id)
                end = await page.hear_end()
        assert 'data-status="cancelled"' in end["html"] and "写到一半" in end["html"]

    async def test_second_tab_stops_the_run(self) -> None:
        gate = asyncio.Event()
        model = ScriptedProvider(["写到一半", gate])
        with scripted(model):
            async with self.page() as first, self.page() as second:
                await first.join()
                started = await launch.start(self.order(thread_id=self.thread.pk))
                await second.join()
                await second.say(action="stop", run=started.run_id)
                ends = [await page.hear_end() for page in (first, second)]
        assert all("写到一半" in end["html"] for end in ends)
        assert model.closed == 1

    async def test_run_of_a_colleague_cannot_be_stopped(self) -> None:
        colleague = await sync_to_async(builders.teacher)(await sync_to_async(builders.school_of)(self.user))
        run = await sync_to_async(lambda: builders.run(builders.thread(colleague, self.agent), status="running"))()
        async with self.page() as page:
            for run_id in (run.pk, "run_missing"):
                await page.say(action="stop", run=run_id)
                assert (await page.hear("error"))["code"] == "not_found"
        assert (await Run.objects.aget(pk=run.pk)).stop_requested_at is None

    async def test_failed_run_says_what_happened_and_keeps_the_text(self) -> None:
        await Preference.objects.acreate(user=self.user, language="en")
        with scripted(ScriptedProvider(["一、", StreamBroken()])):
            async with self.page() as page:
                await page.join()
                await page.say(action="send", key="k1", input="出一份试卷", mode="")
                end = await page.hear_end()
        assert "broke in the middle" in end["html"] and "<p>一、</p>" in end["html"] and 'data-form="retry"' in end["html"]

    async def test_retry_takes_the_place_of_the_failed_run(self) -> None:
        failed = await sync_to_async(builders.run)(self.thread, status="failed", error_code="stream_broken")
        with scripted(ScriptedProvider(["好。"])):
            async with self.page() as page:
                await page.join()
                await page.say(action="send", key="k1", input=failed.input, mode="", replaces=failed.pk)
                end = await page.hear_end()
        assert f'data-slot="{failed.slot}"' in end["html"] and end["run"] != failed.pk

    async def test_assistant_used_last_is_remembered(self) -> None:
        with scripted(ScriptedProvider(["好。"])):
            async with self.page() as page:
                await page.join()
                await page.say(action="send", key="k1", input="出一份试卷", mode="")
                await page.hear_end()
        async with asyncio.timeout(5):
            while not await Preference.objects.filter(user=self.user, agent=self.agent).aexists():
                await asyncio.sleep(0.005)


class BadFrameTests(SocketCase):
    async def test_what_is_no_action_is_answered_with_an_error_and_nothing_else(self) -> None:
        bad = [
            "{",
            "[]",
            "null",
            '{"action": "dance"}',
            '{"action": "send", "key": 5, "input": "x"}',
            '{"action": "send", "key": "k", "input": ["x"]}',
            '{"action": "send", "key": "k", "input": "x", "mode": "\\u0000"}',
            '{"action": "stop", "run": {"$ne": ""}}',
            '{"action": "sync", "after": "1", "open": []}',
            '{"action": "sync", "after": 1, "open": [1]}',
            "[" * 100_000,
        ]
        async with self.page() as page:
            for text in bad:
                await page.communicator.send_to(text_data=text)
                assert (await page.hear("error"))["code"] == "bad_frame", text
            await page.communicator.send_to(bytes_data=b"\x00")
            assert (await page.hear("error"))["code"] == "bad_frame"
        assert await Run.objects.acount() == 0

    async def test_frame_over_one_mebibyte_is_refused(self) -> None:
        async with self.page() as page:
            await page.say(action="send", key="k", input="题" * 400_000, mode="")
            assert (await page.hear("error"))["code"] == "frame_too_large"
        assert await Run.objects.acount() == 0

    async def test_page_without_a_thread_takes_no_messages(self) -> None:
        communicator, accepted, _code = await self.connect(f"/ws/?agent={self.agent.pk}")
        assert accepted
        page = Page(communicator)
        await page.say(action="send", key="k", input="出一份试卷", mode="")
        assert (await page.hear("error", key="k"))["code"] == "bad_frame"
        await communicator.disconnect()

    async def test_page_that_cannot_keep_up_is_closed(self) -> None:
        with patch.object(consumers, "OUTBOX_EVENTS", 3):
            communicator, _accepted, _code = await self.connect(f"/ws/threads/{self.thread.pk}/")
        for _number in range(5):
            live.publish_news(News(self.user.pk, frozenset(), True))
        async with asyncio.timeout(5):
            while (message := await communicator.receive_output(timeout=5))["type"] != "websocket.close":
                pass
        assert message["code"] == consumers.TOO_SLOW


class NewsTests(SocketCase):
    async def test_new_title_reaches_the_open_page(self) -> None:
        with patch("chat.runs.beat.BEAT_SECONDS", 0.01):
            async with self.page() as page:
                await page.join()
                await Thread.objects.filter(pk=self.thread.pk).aupdate(title="新标题", updated_at=timezone.now())
                fragment = await page.hear("fragment", target="thread-title")
        assert "新标题" in fragment["html"]

    async def test_thread_of_another_tab_moves_up_in_the_list(self) -> None:
        other = await sync_to_async(builders.thread)(self.user, self.agent, title="班会发言")
        with patch("chat.runs.beat.BEAT_SECONDS", 0.01):
            async with self.page() as page:
                await page.join()
                await Thread.objects.filter(pk=self.thread.pk).aupdate(updated_at=timezone.now())
                fragment = await page.hear("fragment", target="threads-recent")
        assert fragment["html"].index(self.thread.pk) < fragment["html"].index(other.pk)

    async def test_worker_that_goes_away_is_said(self) -> None:
        async with self.page() as page:
            await page.join()
            for is_away, mark in ((False, "ok"), (True, "away")):
                live.publish_news(News(self.user.pk, frozenset(), is_away))
                assert f'data-worker="{mark}"' in (await page.hear("fragment", target="status"))["html"]
