"""Related history comes back and unrelated does not: messages in over the API and the socket, recorded requests out."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.testing import WebsocketCommunicator
from django.test import AsyncClient, TransactionTestCase, override_settings
from django.utils import timezone

from chat.jobs.worker import Worker
from chat.memory.ledger import from_row
from chat.models import ApiToken, RecallEntry, Run, RunLedger, Thread
from chat.models.ids import new_id
from chat.runs import beat
from chat.text.boundary import QUESTION_OPEN, RECALL, close_line
from memoryapp.asgi import application
from tests import builders
from tests.cases.recalled_topics import RELATED, UNRELATED, Topic

OPEN, CLOSE = f"[{RECALL} — ", close_line(RECALL)
TOPICS = [topic for topics in RELATED.values() for topic in topics]


@override_settings(RUNS_PER_MINUTE=1_000)
class RecallOverTheApp(TransactionTestCase):
    """A teacher with one earlier conversation for each topic, kept by the worker."""

    @pytest.fixture(autouse=True)
    def model(self, mock_model: Any) -> Iterator[None]:  # noqa: ANN401
        self.mock = mock_model
        rules = [{"purpose": "extraction", "reply": "NONE"}]
        rules += [{"match": f"{re.escape(topic.said)}$", "reply": topic.answer} for topic in TOPICS]
        mock_model.state.script = mock_model.state.script.__class__([*rules, {"match": "", "reply": "好的。"}])
        yield

    def setUp(self) -> None:
        self.user = builders.teacher()
        school = builders.school_of(self.user)
        service = builders.provider(school, kind="openai", base_url=f"{self.mock.url}/v1", is_local=True)
        self.agent = builders.agent(school, provider=service, model="mock", name="备课助手")
        _row, token = ApiToken.objects.issue(self.user, "test")
        self.headers = {"authorization": f"Bearer {token}"}

    async def say(self, text: str, **more: str) -> dict[str, Any]:
        body = json.dumps({"input": text} | more)
        response = await AsyncClient().post(f"/agents/{self.agent.pk}/run", body, content_type="application/json", headers=self.headers)
        assert response.status_code == 200, response.content
        return response.json()

    async def remember(self, topics: list[Topic]) -> dict[str, str]:
        """Talks about the topics, a thread each; returns the runs by their mark."""
        runs = {topic.mark: (await self.say(topic.said))["run_id"] for topic in topics}
        await sync_to_async(Worker("w").drain)()
        assert await RecallEntry.objects.acount() == len(topics)
        return runs

    def prompt(self, run_id: str) -> str:
        """The user's message in the request of a run, as the service received it."""
        [request] = [one for one in self.mock.requests if one["headers"].get("x-run-id") == run_id]
        return request["body"]["messages"][-1]["content"]

    async def ask(self, text: str, **more: str) -> str:
        """Asks, in a new thread without more, and returns what recall told the model; "" for nothing."""
        run_id = (await self.say(text, **more))["run_id"]
        prompt = self.prompt(run_id)
        assert prompt.endswith(text)
        if OPEN not in prompt:
            assert CLOSE not in prompt
            return ""
        assert prompt.endswith(f"{CLOSE}\n{QUESTION_OPEN}\n{text}")
        told = prompt[prompt.index(OPEN) : prompt.index(CLOSE) + len(CLOSE)]
        assert len(told) <= 2_000
        await self.check_ledger(run_id, told)
        return told

    async def check_ledger(self, run_id: str, told: str) -> None:
        """It says byte for byte what was sent, and why."""
        ledger = from_row(await RunLedger.objects.aget(pk=run_id))
        [segment] = [one for one in ledger.segments if one.name == "recall"]
        assert segment.text == told
        assert 1 <= len(segment.source_ids) <= 3
        assert [note["id"] for note in segment.notes] == segment.source_ids
        assert [note for note in segment.notes if not (0.2 < note["score"] <= 1 and note["matched"])] == []


@pytest.mark.mock
class Pairs(RecallOverTheApp):
    async def test_related_history_is_told_and_unrelated_is_not(self) -> None:
        await self.remember(TOPICS)
        missed, wrong = [], []
        for language, topics in RELATED.items():
            for topic in topics:
                told = await self.ask(topic.asked)
                if topic.mark not in told:
                    missed.append((language, topic.asked))
            for question in UNRELATED[language]:
                if told := await self.ask(question):
                    wrong.append((language, question, told))
        assert (missed, wrong) == ([], [])
        await beat.shutdown()


@pytest.mark.mock
class ByTheWay(RecallOverTheApp):
    """A few topics, and what is said of them in one conversation."""

    async def start(self, *topics: Topic) -> dict[str, str]:
        return await self.remember([*topics, *RELATED["en"]])

    async def test_short_follow_up_over_the_socket_is_understood_by_its_thread(self) -> None:
        old = RELATED["zh"][0]
        await self.start(old)
        begun = await self.say("二次函数的选择题，出一份练习")
        told = await self.over_the_socket(begun["thread_id"], "换两道")
        assert old.mark in told
        assert "二次函数的选择题，出一份练习" not in told
        other = await self.say("给学校运动会写一份广播稿")
        assert await self.over_the_socket(other["thread_id"], "换两句") == ""
        await beat.shutdown()

    async def over_the_socket(self, thread_id: str, text: str) -> str:
        """Sends in an open page; returns what recall told the model."""
        browser = AsyncClient()
        await browser.aforce_login(self.user)
        headers = [(b"cookie", f"sessionid={browser.cookies['sessionid'].value}".encode()), (b"origin", b"http://localhost")]
        page = WebsocketCommunicator(application, f"/ws/threads/{thread_id}/", headers)
        accepted, _code = await page.connect(timeout=5)
        assert accepted
        await page.send_json_to({"action": "send", "key": new_id("key"), "input": text, "mode": "", "replaces": ""})
        while (frame := json.loads(await page.receive_from(timeout=5)))["type"] != "run" or "completed" not in frame["html"]:
            assert frame["type"] != "error", frame
        await page.disconnect()
        run = await Run.objects.filter(thread=thread_id, input=text).aget()
        prompt = self.prompt(run.pk)
        return prompt[prompt.index(OPEN) : prompt.index(CLOSE)] if OPEN in prompt else ""

    async def test_what_the_prompt_shows_already_is_not_told_again(self) -> None:
        old, other = RELATED["zh"][0], RELATED["mixed"][0]
        await self.start(old, other)
        thread = await Thread.objects.aget(title=old.said)
        run_id = (await self.say(old.asked, thread_id=thread.pk))["run_id"]
        prompt = self.prompt(run_id)
        assert prompt.count(old.mark) == 1 and OPEN not in prompt

    async def test_two_conversations_that_say_the_same_are_told_once(self) -> None:
        old = RELATED["zh"][0]
        await self.start(old)
        await self.say(old.said)
        await sync_to_async(Worker("w").drain)()
        assert (await self.ask("二次函数的选择题再来五道")).count(old.mark) == 1

    async def test_each_stands_with_its_day_its_thread_and_its_assistant(self) -> None:
        old = RELATED["mixed"][1]
        run = await Run.objects.aget(pk=(await self.start(old))[old.mark])
        day = timezone.localtime(run.created_at).date().isoformat()
        told = await self.ask(old.asked)
        assert f"\n- {day} 《{old.said}》 备课助手\n‹用户› {old.said}\n‹助手› {old.answer}\n" in told

    async def test_long_history_stays_within_two_thousand_characters(self) -> None:
        line = "卷积运算的定义、性质与图解，见讲义第{}页。"
        long = "".join(line.format(number) for number in range(400))
        await self.remember([])
        for number in range(4):
            thread = await sync_to_async(builders.thread)(self.user, self.agent, title=f"卷积第{number}讲" * 10)
            run = await sync_to_async(builders.run)(thread, f"卷积运算第{number}讲，{'图解' * number}" * 30, f"第{number}讲。{long}")
            await sync_to_async(builders.recalled)(run)
        told = await self.ask("卷积运算的图解在讲义第几页")
        assert 1_000 < len(told) <= 2_000
