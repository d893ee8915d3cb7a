"""Home, a new conversation, a conversation, and sending by form."""

from unittest.mock import patch

from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import Client, TestCase, TransactionTestCase

from chat.models import Agent, Preference, Run, Thread
from chat.runs import launch
from tests import builders
from tests.fakes import ScriptedProvider, scripted


class ChatCase(TestCase):
    """A teacher with an assistant, logged in; pages are in English."""

    user: User
    agent: Agent

    @classmethod
    def setUpTestData(cls) -> None:
        cls.user = builders.teacher()
        cls.agent = builders.agent(builders.school_of(cls.user), description="出卷子", examples=["出一份数据结构试卷", "简答题换两道"])
        Preference.objects.create(user=cls.user, language="en")

    def setUp(self) -> None:
        self.client.force_login(self.user)

    def page(self, path: str, status: int = 200, **headers: str) -> str:
        response = self.client.get(path, headers=headers or None)
        assert response.status_code == status, response.status_code
        return response.content.decode()

    def colleague(self) -> Client:
        """Another teacher of the same school."""
        client = Client()
        client.force_login(builders.teacher(builders.school_of(self.user)))
        return client


class HomeTests(ChatCase):
    def test_goes_to_a_new_conversation_when_there_is_none(self) -> None:
        self.assertRedirects(self.client.get("/"), f"/chat/{self.agent.pk}/")

    def test_goes_to_the_most_recent_active_thread(self) -> None:
        builders.thread(self.user, self.agent)
        newest = builders.thread(self.user, self.agent)
        builders.thread(self.user, self.agent, status="archived")
        self.assertRedirects(self.client.get("/"), f"/chat/t/{newest.pk}/")

    def test_goes_to_the_assistant_used_last(self) -> None:
        other = builders.agent(self.agent.tenant)
        thread = builders.thread(self.user, other)
        builders.thread(self.user, self.agent)
        Preference.objects.filter(user=self.user).update(agent=other)
        self.assertRedirects(self.client.get("/"), f"/chat/t/{thread.pk}/")

    def test_school_without_an_assistant_says_so(self) -> None:
        Agent.objects.update(is_active=False)
        assert "has not set up any assistant yet" in self.page("/")

    def test_anonymous_visitor_goes_to_the_log_in(self) -> None:
        for path in ("/", f"/chat/{self.agent.pk}/"):
            assert Client().get(path)["Location"].startswith("/accounts/login/")


class NewConversationTests(ChatCase):
    def test_shows_the_assistant_and_its_examples(self) -> None:
        page = self.page(f"/chat/{self.agent.pk}/")
        assert self.agent.name in page and "出卷子" in page and page.count('data-action="example"') == 2

    def test_example_fills_the_box_without_script(self) -> None:
        assert ">简答题换两道</textarea>" in self.page(f"/chat/{self.agent.pk}/?example=2")

    def test_example_that_does_not_exist_leaves_the_box_empty(self) -> None:
        for number in ("0", "3", "-1", "x", "²", "9" * 50):
            assert "></textarea>" in self.page(f"/chat/{self.agent.pk}/?example={number}")

    def test_modes_are_offered(self) -> None:
        builders.mode(self.agent)
        assert '<option value="exam">试卷</option>' in self.page(f"/chat/{self.agent.pk}/")

    def test_says_where_the_text_goes(self) -> None:
        assert "Your text stays in the school." in self.page(f"/chat/{self.agent.pk}/")
        self.agent.provider.__class__.objects.update(is_local=False, name="远方云")
        assert "Your text is sent to 远方云 (cloud)." in self.page(f"/chat/{self.agent.pk}/")

    def test_assistant_of_another_school_is_not_found(self) -> None:
        foreign = builders.agent(builders.tenant())
        for path in ("", "threads/", "archived/"):
            self.page(f"/chat/{foreign.pk}/{path}", 404)


class ThreadPageTests(ChatCase):
    def test_shows_the_active_path_in_order(self) -> None:
        thread = builders.thread(self.user, self.agent)
        first = builders.run(thread, "第一问")
        failed = builders.run(thread, "第二问", "", status="failed", error_code="empty_answer")
        builders.run(thread, "第三问")
        again = builders.run(thread, "第二问", "好了", replaces=failed)
        page = self.page(f"/chat/t/{thread.pk}/")
        assert failed.pk not in page
        places = [page.index(f'data-run="{run.pk}"') for run in (first, again)]
        assert places[0] < places[1] < page.index("第三问")

    def test_answer_is_markdown_and_question_is_as_written(self) -> None:
        thread = builders.thread(self.user, self.agent)
        builders.run(thread, "# 忽略 <b>系统</b>\n[System]", "## 一、选择题")
        page = self.page(f"/chat/t/{thread.pk}/")
        assert "# 忽略 &lt;b&gt;系统&lt;/b&gt;\n[System]" in page and "<h4>一、选择题</h4>" in page

    def test_only_the_newest_rounds_are_shown_and_earlier_ones_on_request(self) -> None:
        thread = builders.thread(self.user, self.agent)
        runs = [builders.run(thread, f"问{number}") for number in range(32)]
        page = self.page(f"/chat/t/{thread.pk}/")
        assert page.count("<article") == 30 and runs[1].pk not in page
        earlier = self.page(f"/chat/t/{thread.pk}/?before={runs[2].slot}", **{"HX-Request": "true"})
        assert earlier.count("<article") == 2 and "<html" not in earlier

    def test_failed_run_says_what_happened_and_offers_a_retry(self) -> None:
        thread = builders.thread(self.user, self.agent)
        run = builders.run(thread, output="", status="failed", error_code="provider_timeout")
        page = self.page(f"/chat/t/{thread.pk}/")
        assert "The model service did not answer in time. Your question is kept." in page
        assert f"/runs/{run.pk}/retry/" in page and "Try again" in page

    def test_run_that_goes_can_be_stopped_without_script(self) -> None:
        thread = builders.thread(self.user, self.agent)
        run = builders.run(thread, output="第一段。\n\n第二", status="running")
        page = self.page(f"/chat/t/{thread.pk}/")
        assert f'formaction="/runs/{run.pk}/stop/"' in page
        assert "<noscript>" in page and "Show what has come since" in page
        assert "<p>第一段。</p>" in page and 'data-part="tail">第二</p>' in page

    def test_line_stands_where_the_summary_ends(self) -> None:
        thread = builders.thread(self.user, self.agent, rolling_summary="出过一份试卷。", summary_upto_slot=2)
        runs = [builders.run(thread, f"问{number}") for number in range(4)]
        page = self.page(f"/chat/t/{thread.pk}/")
        assert page.index(runs[1].pk) < page.index('id="summary-line"') < page.index(f'data-run="{runs[2].pk}"')

    def test_line_is_left_to_the_page_on_which_the_summary_ends(self) -> None:
        thread = builders.thread(self.user, self.agent, rolling_summary="出过一份试卷。", summary_upto_slot=2)
        for number in range(35):
            builders.run(thread, f"问{number}")
        assert 'id="summary-line"' not in self.page(f"/chat/t/{thread.pk}/")
        assert 'id="summary-line"' in self.page(f"/chat/t/{thread.pk}/?before=6", **{"HX-Request": "true"})

    def test_no_line_without_a_summary(self) -> None:
        thread = builders.thread(self.user, self.agent)
        builders.run(thread)
        assert 'id="summary-line"' not in self.page(f"/chat/t/{thread.pk}/")

    def test_worker_that_is_away_is_said(self) -> None:
        thread = builders.thread(self.user, self.agent)
        assert 'id="status" role="status" data-worker="away"' in self.page(f"/chat/t/{thread.pk}/")

    def test_another_teacher_gets_not_found_as_for_a_missing_one(self) -> None:
        thread = builders.thread(self.user, self.agent)
        colleague = self.colleague()
        answers = [colleague.get(f"/chat/t/{one}/") for one in (thread.pk, "th_missing")]
        assert [answer.status_code for answer in answers] == [404, 404]
        assert thread.title not in answers[0].content.decode()

    def test_reading_changes_nothing(self) -> None:
        thread = builders.thread(self.user, self.agent)
        builders.run(thread)
        before = Thread.objects.filter(pk=thread.pk).values().get(), Preference.objects.values().get()
        for path in ("/", f"/chat/{self.agent.pk}/", f"/chat/t/{thread.pk}/"):
            self.client.get(path)
        assert before == (Thread.objects.filter(pk=thread.pk).values().get(), Preference.objects.values().get())

    def test_page_takes_few_queries_however_long_the_thread_is(self) -> None:
        thread = builders.thread(self.user, self.agent)
        for number in range(20):
            builders.run(thread, f"问{number}")
        with self.assertNumQueries(12):
            self.page(f"/chat/t/{thread.pk}/")


class SendTests(TransactionTestCase):
    """Sending without script: the form's POST."""

    def setUp(self) -> None:
        self.user = builders.teacher()
        school = builders.school_of(self.user)
        self.agent = builders.agent(school, provider=builders.provider(school, kind="openai", base_url="http://127.0.0.1:1/v1"))
        Preference.objects.create(user=self.user, language="en")

    async def post(self, agent: Agent | None = None, **fields: str):
        await self.async_client.aforce_login(self.user)
        with scripted(ScriptedProvider(["好。"])):
            response = await self.async_client.post(
                f"/chat/{(agent or self.agent).pk}/send", {"input": "出一份试卷", "key": "k1", "mode": ""} | fields
            )
            async for run in Run.objects.all():
                await launch.wait(run.pk)
        return response

    async def test_first_message_makes_a_thread_and_goes_there(self) -> None:
        response = await self.post()
        run = await Run.objects.aget()
        assert (response.status_code, response["Location"]) == (303, f"/chat/t/{run.thread_id}/#{run.pk}")
        assert run.status == "completed"

    async def test_form_sent_twice_is_one_run(self) -> None:
        first, second = await self.post(), await self.post()
        assert first["Location"] == second["Location"]
        assert await Run.objects.acount() == 1

    async def test_line_breaks_of_a_form_are_those_of_the_text(self) -> None:
        await self.post(input="一\r\n二")
        assert (await Run.objects.aget()).input == "一\n二"

    async def test_message_brings_an_archived_thread_back(self) -> None:
        await self.post()
        thread = await Thread.objects.aget()
        await Thread.objects.aupdate(status="archived")
        await self.post(thread_id=thread.pk, key="k2")
        page = (await self.async_client.get(f"/chat/t/{thread.pk}/")).content.decode()
        assert "is in the archive" not in page and f'data-thread="{thread.pk}" aria-current="page"' in page

    async def test_refused_message_comes_back_in_the_box_with_the_reason(self) -> None:
        response = await self.post(mode="no-such-mode")
        page = response.content.decode()
        assert response.status_code == 400
        assert ">出一份试卷</textarea>" in page and "no longer has that mode" in page
        assert await Run.objects.acount() == 0

    async def test_refusal_in_a_thread_keeps_the_rounds_in_view(self) -> None:
        await self.post()
        run = await Run.objects.aget()
        with patch("django.conf.settings.RUNS_PER_MINUTE", 1):
            response = await self.post(thread_id=run.thread_id, key="k2")
        assert response.status_code == 429 and run.pk in response.content.decode()

    async def test_assistant_used_last_is_remembered(self) -> None:
        await self.post()
        assert (await Preference.objects.aget(user=self.user)).agent_id == self.agent.pk

    async def test_foreign_assistant_and_thread_are_not_found(self) -> None:
        def foreign() -> tuple[Agent, Thread]:
            return builders.agent(builders.tenant()), builders.thread(builders.teacher(builders.school_of(self.user)), self.agent)

        agent, thread = await sync_to_async(foreign)()
        assert (await self.post(agent)).status_code == 404
        assert (await self.post(thread_id=thread.pk)).status_code == 404
        assert await Run.objects.acount() == 0

    async def test_sending_needs_post(self) -> None:
        await self.async_client.aforce_login(self.user)
        assert (await self.async_client.get(f"/chat/{self.agent.pk}/send")).status_code == 405
