"""Answers without measure: too long, too many tools, nothing at all, and what a database cannot hold."""

import asyncio
import json
from unittest.mock import patch

from chat.models import Agent
from chat.providers.base import Delta, ToolCall, Usage
from chat.providers.reading import usage_of
from chat.runs import execute
from tests.fakes import ScriptedProvider
from tests.runs.test_execute import RunCase


def calls(count: int, arguments: str = "{}", name: str = "thread_read") -> Delta:
    return Delta(tool_calls=tuple(ToolCall(f"c{number}", name, arguments) for number in range(count)), finish="tool_calls")


class LimitTests(RunCase):
    async def test_answer_without_end_is_ended_at_the_limit_and_keeps_its_text(self) -> None:
        model = ScriptedProvider(["字" * 1_000] * 1_000)
        run = await self.run_to_end(model)
        assert (run.status, run.error_code, len(run.output)) == ("failed", "answer_too_long", execute.ANSWER_MAX_CHARS)
        assert model.closed == 1

    async def test_thoughts_without_end_are_ended_too(self) -> None:
        run = await self.run_to_end(ScriptedProvider([Delta(reasoning="想" * 1_000)] * 1_000))
        assert (run.status, run.error_code) == ("failed", "answer_too_long")

    async def test_answer_that_takes_for_ever_is_ended(self) -> None:
        with patch.object(execute, "ANSWER_MAX_SECONDS", 0.05):
            run = await self.run_to_end(ScriptedProvider(["写到一半", asyncio.Event()]))
        assert (run.status, run.error_code, run.output) == ("failed", "provider_timeout", "写到一半")

    async def test_ten_thousand_thoughts_and_a_large_answer_are_stored_whole(self) -> None:
        run = await self.run_to_end(ScriptedProvider([*[Delta(reasoning="想")] * 10_000, *["长" * 100] * 3_000]))
        assert (run.status, len(run.reasoning), len(run.output)) == ("completed", 10_000, 300_000)

    async def test_only_so_many_tool_calls_of_one_answer_are_made(self) -> None:
        model = ScriptedProvider([calls(100)], ["好。"])
        run = await self.run_to_end(model)
        assert run.status == "completed"
        assert len(run.tool_calls) == execute.TOOL_CALLS_AT_ONCE == len(model.requests[1].messages[2]["tool_calls"])

    async def test_page_of_an_earlier_round_is_as_long_as_a_small_window_can_hold(self) -> None:
        await Agent.objects.aupdate(context_tokens=8_192)
        first = await self.run_to_end(ScriptedProvider(["第一题考查链表的插入与删除。" * 600]))
        model = ScriptedProvider([calls(1, json.dumps({"run_id": first.pk}))], ["好。"])
        await self.run_to_end(model, thread_id=first.thread_id)
        page = model.requests[1].messages[-1]["content"]
        assert len(page) > 1_000 and "已截短" not in page and "（后面还有 " in page

    async def test_last_answer_that_only_calls_tools_is_no_answer(self) -> None:
        run = await self.run_to_end(ScriptedProvider([calls(1)]))
        assert (run.status, run.error_code) == ("failed", "empty_answer")

    async def test_tool_call_with_characters_that_cannot_be_stored_does_not_cost_the_answer(self) -> None:
        model = ScriptedProvider([calls(1, '{"run_id": "\x00\ud800"}', "thread\x00_read\udfff")], ["好。"])
        run = await self.run_to_end(model)
        assert (run.status, run.output) == ("completed", "好。")
        assert run.tool_calls[0]["arguments"] == '{"run_id": "\ufffd"}'


def test_unbelievable_usage_is_none() -> None:
    assert usage_of(10**30, 5) is None
    assert usage_of(1_000, 5) == Usage(1_000, 5)
