"""The demo school's document, read by the worker and cited by the stand-in, of itself and by the tool."""

from io import StringIO

from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import TransactionTestCase, override_settings

from chat.jobs.worker import Worker
from chat.models import Agent, Document, Passage, Run
from chat.roles import keep_school_administrators
from chat.runs import launch
from chat.runs.start import Order


@override_settings(OLLAMA_URL="http://127.0.0.1:9", DEMO_PASSWORD="correct horse battery")
class DemoKnowledgeTests(TransactionTestCase):
    def setUp(self) -> None:
        keep_school_administrators(using="default")
        call_command("demo", stdout=StringIO())
        Worker("w").drain()
        self.user = User.objects.get(username="teacher")
        self.agent = Agent.objects.get(name="命题助手", tenant_id="tn_demo1")

    async def ask(self, text: str) -> Run:
        started = await launch.start(Order(user_id=self.user.pk, agent_id=self.agent.pk, input=text))
        await launch.wait(started.run_id)
        return await Run.objects.aget(pk=started.run_id)

    async def cited(self, run: Run) -> list[str]:
        texts = await sync_to_async(lambda: dict(Passage.objects.filter(pk__in=run.citations).values_list("pk", "text")))()
        return [texts[key] for key in run.citations]

    async def test_an_answer_quotes_the_schools_rules_with_their_mark(self) -> None:
        run = await self.ask("月考卷的选择题每题几分？")
        assert "《示范中学试卷规范.md》" in run.output
        assert "选择题每题 3 分" in run.output
        assert "[1]" in run.output
        assert "选择题每题 3 分" in (await self.cited(run))[0]

    async def test_another_question_quotes_nothing(self) -> None:
        run = await self.ask("推荐一部电影")
        assert "知识库" not in run.output
        assert run.citations == []

    async def test_it_searches_when_it_is_asked_to(self) -> None:
        run = await self.ask("查一下知识库：插图线宽不小于多少？")
        assert run.tool_calls[0]["name"] == "kb_search"
        assert "半毫米" in run.output
        assert "半毫米" in "".join(await self.cited(run))

    async def test_the_document_is_the_schools_and_read(self) -> None:
        document = await Document.objects.aget()
        assert (document.state, document.user_id, document.tenant_id) == ("ready", None, "tn_demo1")
        assert document.passage_count >= 3
