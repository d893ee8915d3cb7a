"""The stand-in behind the real way of a message: from the order, through memory, to the stored answer."""

from asgiref.sync import sync_to_async
from django.test import TransactionTestCase

from chat.models import Run
from chat.runs import launch
from chat.runs.start import Order
from tests import builders
from tests.exam import paper


class DemoThreadTests(TransactionTestCase):
    def setUp(self) -> None:
        self.user = builders.teacher()
        self.agent = builders.agent(builders.school_of(self.user))

    async def ask(self, text: str, thread_id: str = "") -> Run:
        started = await launch.start(Order(user_id=self.user.pk, agent_id=self.agent.pk, input=text, thread_id=thread_id))
        await launch.wait(started.run_id)
        return await Run.objects.aget(pk=started.run_id)

    def with_long_paper(self) -> str:
        thread = builders.thread(self.user, self.agent)
        builders.run(thread, output=paper())
        return thread.pk

    async def test_the_second_answer_knows_the_first(self) -> None:
        first = await self.ask("出一份数据结构试卷")
        second = await self.ask("简答题换两道", first.thread_id)
        assert first.status == second.status == "completed"
        assert "接着上一轮「出一份数据结构试卷」" in second.output
        assert "已按要求替换《数据结构》试卷里的简答题" in second.output

    async def test_more_questions_are_of_the_subject_of_the_conversation(self) -> None:
        first = await self.ask("出一份数据结构试卷")
        await self.ask("简答题换两道", first.thread_id)
        third = await self.ask("再出两道选择题", first.thread_id)
        assert "《数据结构》" in third.output and "选择题" in third.output
        other = await self.ask("出一份化学试卷", first.thread_id)
        assert "没有你要的内容" in other.output

    async def test_a_paper_that_memory_has_shortened_is_known_too(self) -> None:
        thread_id = await sync_to_async(self.with_long_paper)()
        run = await self.ask("简答题换两道", thread_id)
        assert "已按要求替换《数据结构》试卷里的简答题" in run.output

    async def test_the_whole_of_a_shortened_paper_is_read_with_the_tool(self) -> None:
        thread_id = await sync_to_async(self.with_long_paper)()
        run = await self.ask("把上一份试卷的全文给我", thread_id)
        assert run.tool_calls
        assert run.output.count(paper()[-200:]) == 1
        assert "中略" not in run.output
