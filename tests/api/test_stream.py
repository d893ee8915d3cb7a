"""A run as Server-Sent Events."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from django.core.asgi import get_asgi_application
from django.http import StreamingHttpResponse

from chat.api.stream import COMMENT, run_frames
from chat.models import Run, RunLedger, Thread
from chat.providers.base import Delta, ProviderUnreachable, ToolCall
from chat.runs import launch, live
from chat.runs.start import Started
from tests import builders
from tests.api.cases import ApiCase
from tests.fakes import ScriptedProvider, scripted

Event = tuple[str, dict[str, Any]]


def parsed(frame: bytes) -> Event:
    name, data, *rest = frame.decode().split("\n")
    assert rest == ["", ""]
    return name.removeprefix("event: "), json.loads(data.removeprefix("data: "))


def text_of(events: list[Event]) -> str:
    """The joined deltas; each must begin where the one before has ended."""
    text = ""
    for name, data in events:
        if name == "delta":
            assert data["offset"] == len(text)
            text += data["text"]
    return text


class StreamCase(ApiCase):
    async def open(self, text: str = "出一份数据结构试卷", key: str = "", **fields: Any) -> StreamingHttpResponse:
        return await self.post(f"/agents/{self.agent.pk}/run/stream", {"input": text} | fields, **({"Idempotency-Key": key} if key else {}))

    async def events(self, model: ScriptedProvider, **fields: Any) -> list[Event]:
        with scripted(model):
            response = await self.open(**fields)
            return [parsed(frame) async for frame in response]


class StreamTests(StreamCase):
    async def test_events_come_in_order_and_end_once(self) -> None:
        events = await self.events(ScriptedProvider(["一、", "选择题"]))
        names = [name for name, _ in events]
        assert names[:2] == ["started", "ledger"] and set(names[2:-1]) == {"delta"} and names[-1] == "completed"
        assert text_of(events) == events[-1][1]["output"] == "一、选择题"

    async def test_started_names_thread_and_run(self) -> None:
        events = await self.events(ScriptedProvider())
        run = await Run.objects.aget()
        assert events[0][1] == {"run_id": run.pk, "thread_id": run.thread_id}

    async def test_ledger_is_the_stored_one(self) -> None:
        events = await self.events(ScriptedProvider())
        ledger = await RunLedger.objects.aget()
        assert events[1][1]["ledger"]["segments"] == ledger.segments

    async def test_answer_is_not_buffered_on_its_way(self) -> None:
        with scripted(ScriptedProvider()):
            response = await self.open()
            assert response["Content-Type"].startswith("text/event-stream")
            assert (response["Cache-Control"], response["X-Accel-Buffering"]) == ("no-store", "no")
            assert [frame async for frame in response]

    async def test_second_run_sees_the_first(self) -> None:
        events = await self.events(ScriptedProvider(["一、选择题"]))
        model = ScriptedProvider(["换好了"])
        await self.events(model, text="简答题换两道", thread_id=events[0][1]["thread_id"])
        assert "一、选择题" in model.requests[0].messages[-1]["content"]

    async def test_failed_run_ends_with_its_reason(self) -> None:
        events = await self.events(ScriptedProvider([ProviderUnreachable()]))
        name, data = events[-1]
        assert (name, data["status"], data["error"]["code"]) == ("failed", "failed", "provider_unreachable")
        assert data["error"]["message"].startswith("The model service cannot be reached.")

    async def test_reasoning_and_tools_have_events_of_their_own(self) -> None:
        call = ToolCall("c1", "thread_read", '{"run_id": "run_none"}')
        model = ScriptedProvider([Delta(reasoning="想一想"), Delta(tool_calls=(call,), finish="tool_calls")], ["一、选择题"])
        events = await self.events(model)
        by_name = dict(events)
        assert by_name["reasoning"]["text"] == "想一想"
        assert (by_name["tool"]["name"], by_name["tool"]["arguments"]) == ("thread_read", '{"run_id": "run_none"}')
        assert text_of(events) == "一、选择题"

    async def test_lines_hold_against_any_line_break(self) -> None:
        text = "a\u2028b\x85c\r\nd\n\ndata: x\x0be 😀"
        events = await self.events(ScriptedProvider([text]))
        assert text_of(events) == (await Run.objects.aget()).output == text

    async def test_refusal_comes_before_the_stream(self) -> None:
        assert self.error_of(await self.open(mode="none"), 400) == "invalid_mode"


class ViewerTests(StreamCase):
    async def test_client_that_goes_away_does_not_stop_the_run(self) -> None:
        gate = asyncio.Event()
        with scripted(ScriptedProvider(["写到", gate, "完了"])):
            frames = aiter(await self.open())
            run_id = parsed(await anext(frames))[1]["run_id"]
            await frames.aclose()
            gate.set()
            await launch.wait(run_id)
        assert (await Run.objects.aget()).output == "写到完了"

    async def test_connection_that_is_lost_leaves_no_viewer_behind(self) -> None:
        body = json.dumps({"input": "出题"}).encode()
        headers = {"host": "testserver", "authorization": f"Bearer {self.token}", "content-type": "application/json"}
        headers["content-length"] = str(len(body))
        scope = {
            "type": "http", "method": "POST", "path": f"/agents/{self.agent.pk}/run/stream", "query_string": b"", "http_version": "1.1",
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }  # fmt: skip
        gate = asyncio.Event()
        with scripted(ScriptedProvider(["写到", gate, "完了"])):
            connection = ApplicationCommunicator(get_asgi_application(), scope)
            await connection.send_input({"type": "http.request", "body": body})
            while b"event: delta" not in (await connection.receive_output(5)).get("body", b""):
                pass
            run_id = live.own_runs()[0].run_id
            assert live.watched_threads()
            await connection.send_input({"type": "http.disconnect"})
            await connection.wait(5)
            assert not live.watched_threads()
            gate.set()
            await launch.wait(run_id)
        assert (await Run.objects.aget()).output == "写到完了"

    async def test_repeat_with_the_same_key_joins_the_run(self) -> None:
        gate = asyncio.Event()
        model = ScriptedProvider(["写到", gate, "完了"])
        with scripted(model):
            first = aiter(await self.open(key="k-1"))
            started = parsed(await anext(first))
            await self.run_with_text()
            second = aiter(await self.open(key="k-1"))
            joined = [parsed(await anext(second)) for _ in range(3)]
            gate.set()
            joined += [parsed(frame) async for frame in second]
            events = [started] + [parsed(frame) async for frame in first]
        assert joined[0] == started and len(model.requests) == 1
        assert (joined[2][1]["offset"], joined[2][1]["text"]) == (0, "写到")
        assert text_of(joined) == text_of(events) == "写到完了"

    async def test_repeat_after_the_end_tells_it_all_again(self) -> None:
        first = await self.events(ScriptedProvider(["一、", "选择题"]), key="k-1")
        again = await self.events(ScriptedProvider(["别的"]), key="k-1")
        assert [name for name, _ in again] == ["started", "ledger", "delta", "completed"]
        assert (text_of(again), again[-1]) == ("一、选择题", first[-1])

    async def test_slow_client_gets_few_long_deltas(self) -> None:
        gates = [asyncio.Event() for _ in range(3)]
        script = [step for number, gate in enumerate(gates) for step in (f"第{number}段", gate)]
        with scripted(ScriptedProvider(script)):
            frames = aiter(await self.open())
            run_id = parsed(await anext(frames))[1]["run_id"]
            for gate in gates:
                gate.set()
            await launch.wait(run_id)  # the client reads nothing meanwhile
            events = [("started", {})] + [parsed(frame) async for frame in frames]
        assert [name for name, _ in events] == ["started", "ledger", "delta", "completed"]
        assert text_of(events) == "第0段第1段第2段"

    async def test_stop_ends_the_stream_as_cancelled(self) -> None:
        with scripted(ScriptedProvider(["写到一半", asyncio.Event()])):
            frames = aiter(await self.open())
            run_id = parsed(await anext(frames))[1]["run_id"]
            await self.run_with_text()
            await self.post(f"/runs/{run_id}/stop")
            events = [parsed(frame) async for frame in frames]
        assert (events[-1][0], events[-1][1]["output"], events[-1][1]["error"]) == ("cancelled", "写到一半", None)


class SilenceTests(StreamCase):
    """What is shown of a run without a task in this process: the beat and the stored row."""

    def frames(self, run: Run) -> AsyncIterator[bytes]:
        started = Started(run.pk, run.thread_id, False)
        return run_frames(self.user, started, language="en", comment_seconds=0.01)

    async def test_silence_is_filled_with_comments(self) -> None:
        run = await sync_to_async(lambda: builders.run(builders.thread(self.user, self.agent), status="running", output="写到"))()
        frames = self.frames(run)
        assert [parsed(await anext(frames))[0] for _ in range(3)] == ["started", "ledger", "delta"]
        assert await anext(frames) == COMMENT
        assert live.watched_threads() == [run.thread_id]
        await frames.aclose()
        assert live.watched_threads() == []

    async def test_run_that_another_process_ends_ends_the_stream(self) -> None:
        run = await sync_to_async(lambda: builders.run(builders.thread(self.user, self.agent), status="running", output="写到"))()
        frames = self.frames(run)
        seen = [await anext(frames) for _ in range(3)]
        await Run.objects.filter(pk=run.pk).aupdate(status="completed", output="写到完了", finished_at=run.created_at)
        seen += [frame async for frame in frames]
        events = [parsed(frame) for frame in seen if frame != COMMENT]
        assert (text_of(events), events[-1][0]) == ("写到完了", "completed")

    async def test_thread_that_is_deleted_ends_the_stream(self) -> None:
        run = await sync_to_async(lambda: builders.run(builders.thread(self.user, self.agent), status="running"))()
        frames = self.frames(run)
        seen = [await anext(frames) for _ in range(2)]
        await Thread.objects.all().adelete()
        seen += [frame async for frame in frames]
        name, data = parsed(seen[-1])
        assert (name, data["error"]["code"]) == ("failed", "not_found")
