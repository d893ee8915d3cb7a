"""A run from its order to its stored end, with a scripted model."""

import asyncio
import json

import pytest
from django.test import TransactionTestCase

from chat.models import Run, RunLedger, Work
from chat.providers.base import Delta, ProviderOverloaded, StreamBroken, ToolCall, Usage
from chat.runs import launch, live
from chat.runs.events import RunEnded, RunStarted, TextAdded
from chat.runs.start import Order
from chat.runs.stop import stop
from tests import builders
from tests.fakes import ScriptedProvider, scripted


class RunCase(TransactionTestCase):
    """A teacher with an assistant whose model is scripted."""

    def setUp(self) -> None:
        self.user = builders.teacher()
        school = builders.school_of(self.user)
        self.agent = builders.agent(school, provider=builders.provider(school, kind="openai", base_url="http://127.0.0.1:1/v1"))

    def order(self, text: str = "出一份试卷", **fields: object) -> Order:
        return Order(**{"user_id": self.user.pk, "agent_id": self.agent.pk, "input": text} | fields)

    async def run_to_end(self, model: ScriptedProvider, **fields: object) -> Run:
        with scripted(model):
            started = await launch.start(self.order(**fields))
            await launch.wait(started.run_id)
        return await Run.objects.aget(pk=started.run_id)


class ExecuteTests(RunCase):
    async def test_answer_is_stored_with_its_tokens_and_cost(self) -> None:
        await self.agent.provider.__class__.objects.aupdate(input_price=2, output_price=8)
        run = await self.run_to_end(ScriptedProvider(["一、", "选择题", Delta(usage=Usage(1_000, 500), finish="stop")]))
        assert (run.status, run.output) == ("completed", "一、选择题")
        assert (run.input_tokens, run.output_tokens, run.is_estimate) == (1_000, 500, False)
        assert float(run.cost) == pytest.approx(0.006)

    async def test_missing_usage_is_an_estimate_and_marked(self) -> None:
        run = await self.run_to_end(ScriptedProvider(["一、选择题"]))
        assert run.is_estimate and run.input_tokens > 0 and run.output_tokens > 0

    async def test_end_and_dirty_mark_are_written_together(self) -> None:
        run = await self.run_to_end(ScriptedProvider())
        assert await Work.objects.filter(kind="thread", subject_id=run.thread_id).acount() == 1

    async def test_request_equals_the_stored_ledger(self) -> None:
        model = ScriptedProvider()
        run = await self.run_to_end(model)
        row = await RunLedger.objects.aget(pk=run.pk)
        system, user = ("\n".join(s["text"] for s in row.segments if s["role"] == role) for role in ("system", "user"))
        assert model.requests[0].messages == [{"role": "system", "content": system}, {"role": "user", "content": user}]

    async def test_broken_stream_keeps_the_partial_text(self) -> None:
        run = await self.run_to_end(ScriptedProvider(["写到", "一半", StreamBroken()]))
        assert (run.status, run.error_code, run.output) == ("failed", "stream_broken", "写到一半")

    async def test_failure_of_the_service_is_a_code_and_no_text(self) -> None:
        run = await self.run_to_end(ScriptedProvider([ProviderOverloaded(status=500)]))
        assert (run.status, run.error_code, run.output) == ("failed", "provider_overloaded", "")

    async def test_unexpected_error_ends_the_run(self) -> None:
        with self.assertLogs("chat.runs.execute", "ERROR"):
            run = await self.run_to_end(ScriptedProvider(["一", RuntimeError("boom")]))
        assert (run.status, run.error_code, run.output) == ("failed", "internal_error", "一")

    async def test_stop_closes_the_stream_and_keeps_the_partial_text(self) -> None:
        gate = asyncio.Event()
        model = ScriptedProvider(["写到一半", gate, "不会来"])
        with scripted(model):
            started = await launch.start(self.order())
            while not live.get(started.run_id).text:
                await asyncio.sleep(0)
            assert await stop(self.user, started.run_id)
            await launch.wait(started.run_id)
        run = await Run.objects.aget(pk=started.run_id)
        assert (run.status, run.output, model.closed) == ("cancelled", "写到一半", 1)

    async def test_nobody_else_can_stop_a_run(self) -> None:
        gate = asyncio.Event()
        with scripted(ScriptedProvider(["甲", gate, "乙"])):
            started = await launch.start(self.order())
            stranger = self.user.__class__(pk=self.user.pk + 1_000)
            assert not await stop(stranger, started.run_id)
            gate.set()
            await launch.wait(started.run_id)
        assert (await Run.objects.aget(pk=started.run_id)).output == "甲乙"

    async def test_verdict_of_the_sweep_stands_and_the_text_is_kept(self) -> None:
        gate = asyncio.Event()
        with scripted(ScriptedProvider(["甲", gate, "乙"])):
            started = await launch.start(self.order())
            await Run.objects.filter(pk=started.run_id).aupdate(status="failed", error_code="interrupted", finished_at="2026-01-01T00:00Z")
            gate.set()
            await launch.wait(started.run_id)
        run = await Run.objects.aget(pk=started.run_id)
        assert (run.status, run.error_code, run.output) == ("failed", "interrupted", "甲乙")
        assert run.output_tokens > 0 and run.finished_at.month == 1

    async def test_viewers_are_told_everything_once_and_in_order(self) -> None:
        events: list[object] = []
        first = await self.run_to_end(ScriptedProvider(["一"]))
        end = live.subscribe(first.thread_id, events.append)
        await self.run_to_end(ScriptedProvider(["二、", "填空题\n\n", "三、"]), thread_id=first.thread_id)
        end()
        texts = [event for event in events if isinstance(event, TextAdded)]
        assert isinstance(events[0], RunStarted) and isinstance(events[-1], RunEnded)
        assert "".join(event.text for event in texts) == "二、填空题\n\n三、"
        assert [event.start for event in texts] == [sum(len(e.text) for e in texts[:n]) for n in range(len(texts))]
        assert events[-1].run.status == "completed" and live.live_runs(first.thread_id) == []


class ToolTests(RunCase):
    """The tool loop."""

    async def call_then_answer(self, arguments: str, **fields: object) -> tuple[ScriptedProvider, Run]:
        call = Delta(tool_calls=(ToolCall("c1", "thread_read", arguments),), finish="tool_calls")
        model = ScriptedProvider(["我看一下。", call], ["看过了。"])
        return model, await self.run_to_end(model, **fields)

    async def test_thread_read_gives_the_text_of_an_earlier_round(self) -> None:
        first = await self.run_to_end(ScriptedProvider(["蓝鲸二叉树"]))
        model, run = await self.call_then_answer(json.dumps({"run_id": first.pk}), thread_id=first.thread_id)
        assert "蓝鲸二叉树" in model.requests[1].messages[-1]["content"]
        assert (run.output, run.tool_calls[0]["is_ok"]) == ("我看一下。\n\n看过了。", True)

    async def test_thread_read_does_not_reach_into_another_thread(self) -> None:
        other = await self.run_to_end(ScriptedProvider(["蓝鲸二叉树"]))
        model, run = await self.call_then_answer(json.dumps({"run_id": other.pk}))
        assert "蓝鲸" not in model.requests[1].messages[-1]["content"]
        assert run.tool_calls[0]["is_ok"] is False

    async def test_broken_arguments_are_a_result_and_the_run_goes_on(self) -> None:
        model, run = await self.call_then_answer('{"run_id": ')
        assert "JSON" in model.requests[1].messages[-1]["content"]
        assert run.status == "completed"

    async def test_after_eight_rounds_no_tool_is_offered(self) -> None:
        call = Delta(tool_calls=(ToolCall("c1", "thread_read", "{}"),), finish="tool_calls")
        model = ScriptedProvider([call])
        run = await self.run_to_end(model)
        assert len(model.requests) == 9
        assert model.requests[7].tools and not model.requests[8].tools
        assert len(run.tool_calls) == 8
