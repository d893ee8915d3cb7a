"""Over the whole app: passages in the prompt and from the tool, the marks of the answer, and what stays of them."""

from asgiref.sync import sync_to_async
from django.test import TransactionTestCase

from chat.jobs.worker import Worker
from chat.memory.knowledge import keep
from chat.models import Run, RunLedger
from chat.providers.base import Delta, ToolCall
from chat.runs import launch
from chat.runs.start import Order
from tests import builders
from tests.fakes import ScriptedProvider, scripted
from tests.memory.knowledge.test_layer import ASKED, RULES
from tests.memory.knowledge.world import owner_of, waiting


class KnowledgeInARun(TransactionTestCase):
    def setUp(self) -> None:
        self.user = builders.teacher()
        school = builders.school_of(self.user)
        self.agent = builders.agent(
            school, provider=builders.provider(school, name="云", kind="openai", base_url="http://127.0.0.1:9/v1", is_local=False)
        )
        self.owner = owner_of(self.user)
        self.document = waiting(self.user, [self.agent], text=RULES)
        Worker("w").drain()

    async def ask(self, text: str, *scripts: list) -> tuple[Run, ScriptedProvider]:
        with scripted(ScriptedProvider(*scripts)) as model:
            started = await launch.start(Order(user_id=self.user.pk, agent_id=self.agent.pk, input=text))
            await launch.wait(started.run_id)
        return await Run.objects.aget(pk=started.run_id), model

    async def headings(self, run: Run) -> list[str]:
        known = await sync_to_async(lambda: dict(self.document.passages.values_list("pk", "heading")))()
        return [known[key] for key in run.citations]

    async def test_the_nth_citation_is_what_the_nth_mark_means(self) -> None:
        run, model = await self.ask(ASKED, ["选择题三分 [1]。"])
        assert run.output == "选择题三分 [1]。"
        headings = await self.headings(run)
        assert headings[0] == "分值"
        prompt = model.requests[0].messages[-1]["content"]
        for number, heading in enumerate(headings, start=1):
            assert f"[{number}] 《格式.md》 / {heading}\n" in prompt

    async def test_what_the_tool_finds_is_cited_behind_it(self) -> None:
        call = ToolCall("call_1", "kb_search", '{"query": "附图的线宽，宋体几号字", "k": 1}')
        run, model = await self.ask(
            "选择题填空题解答题每题几分，满分几分？", [Delta(tool_calls=(call,), finish="tool_calls")], ["线宽半毫米 [2]。"]
        )
        headings = await self.headings(run)
        assert headings == ["分值", "印刷"]
        result = model.requests[1].messages[-1]
        assert result["role"] == "tool"
        assert "[2] 《格式.md》 / 印刷\n" in result["content"]
        assert run.tool_calls[0]["is_ok"]

    async def test_a_document_deleted_meanwhile_is_told_to_nobody(self) -> None:
        run, _ = await self.ask(ASKED, ["选择题三分 [1]。"])
        await sync_to_async(keep.delete_document)(self.owner, self.document.pk)
        ledger = await RunLedger.objects.aget(run=run)
        assert "填空题每题四分" not in str(ledger.segments)
        later, model = await self.ask(ASKED, ["不知道。"])
        assert later.citations == []
        assert "填空题每题四分" not in str(model.requests[0].messages)
        assert "kb_search" not in [tool.name for tool in model.requests[0].tools]
