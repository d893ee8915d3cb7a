"""Rounds as things: what the model saw, stop, retry, earlier tries, the answer's source."""

import asyncio

from asgiref.sync import sync_to_async
from django.test import TransactionTestCase

from chat.models import Preference, RecallEntry, Run, RunLedger
from chat.runs import launch, live
from chat.runs.start import Order
from tests import builders
from tests.fakes import ScriptedProvider, scripted
from tests.views.test_chat import ChatCase

HTMX = {"HX-Request": "true"}
SEGMENTS = [
    {"name": "system", "role": "system", "text": "你是命题助手。", "tokens": 7, "budget_tokens": 7, "priority": 0},
    {
        "name": "thread",
        "role": "user",
        "text": "‹用户› <b>出卷</b>",
        "tokens": 810,
        "budget_tokens": 2_000,
        "priority": 2,
        "source_ids": ["run_1"],
        "truncated": [{"id": "run_1", "tokens": 40, "reason": "share"}],
        "dropped": [{"id": "run_0", "tokens": 9, "reason": "budget"}, {"id": "", "tokens": 0, "reason": "older", "count": 3}],
    },
]


class LedgerTests(ChatCase):
    def ledger(self) -> str:
        run = builders.run(builders.thread(self.user, self.agent))
        RunLedger.objects.create(
            run=run, segments=SEGMENTS, total_tokens=817, shared_tokens=810, shared_budget_tokens=6_000, tools=["thread_read"]
        )
        return f"/runs/{run.pk}/ledger/"

    def test_every_segment_is_shown_with_its_budget_and_exact_text(self) -> None:
        page = self.page(self.ledger())
        assert "810 of 2,000 tokens" in page and "7 tokens, never cut" in page
        assert "‹用户› &lt;b&gt;出卷&lt;/b&gt;</pre>" in page
        assert "thread_read" in page

    def test_what_was_cut_is_said_with_the_reason(self) -> None:
        page = self.page(self.ledger())
        for words in (
            "run_1 shortened by 40 tokens: it is longer than its share of the room.",
            "run_0 left out: the room for memory was used up.",
            "3 rounds left out: they are older than the rounds that fit.",
        ):
            assert words in page

    def test_what_was_found_is_called_by_its_conversation_and_leads_there(self) -> None:
        other = builders.run(builders.thread(self.user, self.agent, title="<b>期中卷</b>"), "出卷", "好")
        foreign = builders.run(builders.thread(builders.teacher(self.agent.tenant), self.agent, title="别人的"), "出卷", "好")
        imported = builders.recalled(other)
        RecallEntry.objects.filter(pk=imported.pk).update(run=None, title="旧卷")
        run = builders.run(builders.thread(self.user, self.agent, title="这次"))
        ids = [other.pk, imported.pk, foreign.pk, "run_gone"]
        recall = {"name": "recall", "role": "user", "text": "x", "tokens": 9, "budget_tokens": 2_000, "priority": 4, "source_ids": ids}
        recall["notes"] = [{"id": other.pk, "score": 0.31, "matched": ["卷"]}]
        system = SEGMENTS[0] | {"source_ids": [self.agent.pk, run.thread_id]}
        RunLedger.objects.create(run=run, segments=[system, recall], tools=[])
        page = self.page(f"/runs/{run.pk}/ledger/")
        assert "“&lt;b&gt;期中卷&lt;/b&gt;”, round 1 is related with 0.31 of 1: 卷." in page
        assert f'<a href="/chat/t/{other.thread_id}/?run={other.pk}#{other.pk}">“&lt;b&gt;期中卷&lt;/b&gt;”, round 1</a>' in page
        assert f"<span>{self.agent.name}</span>" in page and "<span>“旧卷”, imported</span>" in page
        assert f"<code>{foreign.pk}</code> <code>run_gone</code>" in page and "别人的" not in page
        assert [f"<code>{one}" in page for one in (other.pk, imported.pk, self.agent.pk, run.thread_id)] == [False] * 4

    def test_opens_in_place(self) -> None:
        assert "<html" not in self.page(self.ledger(), **HTMX)

    def test_ledger_that_is_no_longer_kept_says_so(self) -> None:
        run = builders.run(builders.thread(self.user, self.agent))
        assert "no longer kept" in self.page(f"/runs/{run.pk}/ledger/")


class RunPagesTests(ChatCase):
    def test_earlier_tries_stay_readable(self) -> None:
        thread = builders.thread(self.user, self.agent)
        failed = builders.run(thread, output="半截", status="failed", error_code="stream_broken")
        again = builders.run(thread, output="好了", replaces=failed)
        assert f"/runs/{again.pk}/tries/" in self.page(f"/chat/t/{thread.pk}/")
        for headers in ({}, HTMX):
            tries = self.page(f"/runs/{again.pk}/tries/", **headers)
            assert "半截" in tries and "broke in the middle" in tries and "好了" not in tries

    def test_answer_is_given_as_the_model_wrote_it(self) -> None:
        run = builders.run(builders.thread(self.user, self.agent), output="# 一 <b>\n$x$")
        response = self.client.get(f"/runs/{run.pk}/answer.md")
        assert response.content.decode() == "# 一 <b>\n$x$"
        assert response["Content-Type"] == "text/plain; charset=utf-8"

    def test_another_teacher_gets_not_found_as_for_a_missing_run(self) -> None:
        run = builders.run(builders.thread(self.user, self.agent))
        colleague = self.colleague()
        for run_id in (run.pk, "run_missing"):
            for name in ("ledger/", "tries/", "answer.md"):
                assert colleague.get(f"/runs/{run_id}/{name}").status_code == 404

    def test_changes_need_post(self) -> None:
        run = builders.run(builders.thread(self.user, self.agent))
        for name in ("stop", "retry"):
            self.page(f"/runs/{run.pk}/{name}/", 405)


class ActionTests(TransactionTestCase):
    """Stop and retry without script."""

    def setUp(self) -> None:
        self.user = builders.teacher()
        school = builders.school_of(self.user)
        self.agent = builders.agent(school, provider=builders.provider(school, kind="openai", base_url="http://127.0.0.1:1/v1"))
        Preference.objects.create(user=self.user, language="en")

    async def post(self, path: str):
        await self.async_client.aforce_login(self.user)
        return await self.async_client.post(path)

    async def test_run_of_another_teacher_is_neither_stopped_nor_retried(self) -> None:
        def run_of_a_colleague() -> Run:
            return builders.run(builders.thread(builders.teacher(self.agent.tenant), self.agent))

        run = await sync_to_async(run_of_a_colleague)()
        for run_id in (run.pk, "run_missing"):
            for name in ("stop", "retry"):
                assert (await self.post(f"/runs/{run_id}/{name}/")).status_code == 404
        assert await Run.objects.acount() == 1

    async def test_stop_ends_the_run_with_its_text(self) -> None:
        with scripted(ScriptedProvider(["写到一半", asyncio.Event()])):
            started = await launch.start(Order(user_id=self.user.pk, agent_id=self.agent.pk, input="出一份试卷"))
            async with asyncio.timeout(5):
                while not live.get(started.run_id).text:
                    await asyncio.sleep(0.005)
            response = await self.post(f"/runs/{started.run_id}/stop/")
            await launch.wait(started.run_id)
        run = await Run.objects.aget()
        assert (response.status_code, response["Location"]) == (303, f"/chat/t/{run.thread_id}/#{run.pk}")
        assert (run.status, run.output) == ("cancelled", "写到一半")

    async def test_retry_asks_the_same_again_in_the_same_place(self) -> None:
        def failed_run() -> Run:
            builders.mode(self.agent)
            return builders.run(builders.thread(self.user, self.agent), mode="exam", status="failed", error_code="provider_timeout")

        failed = await sync_to_async(failed_run)()
        with scripted(ScriptedProvider(["好。"])):
            response = await self.post(f"/runs/{failed.pk}/retry/")
            again = await Run.objects.aget(replaces=failed)
            await launch.wait(again.pk)
        assert response["Location"] == f"/chat/t/{failed.thread_id}/#{again.pk}"
        assert (again.slot, again.input, again.mode) == (failed.slot, failed.input, "exam")

    async def test_retry_of_a_run_that_was_replaced_says_so(self) -> None:
        def replaced_run() -> Run:
            thread = builders.thread(self.user, self.agent)
            old = builders.run(thread, status="failed", error_code="provider_timeout")
            builders.run(thread, replaces=old)
            return old

        old = await sync_to_async(replaced_run)()
        response = await self.post(f"/runs/{old.pk}/retry/")
        page = (await self.async_client.get(response["Location"])).content.decode()
        assert "has been tried again already" in page
        assert await Run.objects.acount() == 2
