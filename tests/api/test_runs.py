"""Runs over the sync path, and stop."""

import asyncio

from asgiref.sync import sync_to_async
from django.test import override_settings

from chat.models import Agent, ApiToken, Run, Thread
from chat.providers.base import Delta, ProviderRateLimited, StreamBroken, Usage
from chat.runs import launch
from tests import builders
from tests.api.cases import ApiCase
from tests.fakes import ScriptedProvider, scripted


class RunTests(ApiCase):
    async def test_answer_holds_what_was_stored(self) -> None:
        response = await self.ask(model=ScriptedProvider(["一、", "选择题", Delta(usage=Usage(12, 34), finish="stop")]))
        body, run = response.json(), await Run.objects.select_related("ledger").aget()
        assert (response.status_code, body["status"], body["output"], body["error"]) == (200, "completed", "一、选择题", None)
        assert (body["run_id"], body["thread_id"]) == (run.pk, run.thread_id)
        assert body["usage"] == {"input_tokens": 12, "output_tokens": 34, "is_estimate": False, "cost": "0.000000"}
        assert body["ledger"]["segments"] == run.ledger.segments

    async def test_second_run_sees_the_first(self) -> None:
        first = (await self.ask("出一份数据结构试卷", model=ScriptedProvider(["一、选择题"]))).json()
        model = ScriptedProvider(["换好了"])
        second = (await self.ask("简答题换两道", model=model, thread_id=first["thread_id"])).json()
        assert second["thread_id"] == first["thread_id"]
        prompt = model.requests[0].messages[-1]["content"]
        assert "一、选择题" in prompt and prompt.endswith("简答题换两道")

    async def test_failed_run_says_why_in_the_callers_language(self) -> None:
        body = (await self.ask(model=ScriptedProvider(["一半", StreamBroken()]))).json()
        assert (body["status"], body["output"], body["error"]["code"]) == ("failed", "一半", "stream_broken")
        assert body["error"]["message"].startswith("The connection to the model service broke")

    async def test_refusal_of_the_service_is_a_failed_run(self) -> None:
        response = await self.ask(model=ScriptedProvider([ProviderRateLimited(status=429)]))
        assert (response.status_code, response.json()["error"]["code"]) == (200, "provider_rate_limited")

    async def test_mode_is_kept(self) -> None:
        await self.agent.modes.acreate(slug="exam", name="试卷", prompt="按试卷格式输出。")
        await self.ask(mode="exam")
        assert (await Run.objects.aget()).mode == "exam"

    async def test_unknown_mode_is_refused(self) -> None:
        assert self.error_of(await self.ask(mode="none"), 400) == "invalid_mode"

    async def test_assistant_that_is_switched_off_does_not_exist(self) -> None:
        await Agent.objects.aupdate(is_active=False)
        assert self.error_of(await self.ask(), 404) == "not_found"

    async def test_archived_thread_comes_back(self) -> None:
        first = (await self.ask()).json()
        await self.post(f"/threads/{first['thread_id']}/archive")
        await self.ask(thread_id=first["thread_id"])
        assert (await Thread.objects.aget()).status == "active"

    @override_settings(RUNS_PER_MINUTE=1)
    async def test_too_many_runs_are_told_when_to_come_back(self) -> None:
        await self.ask()
        response = await self.ask()
        assert self.error_of(response, 429) == "rate_limited"
        assert 1 <= int(response["Retry-After"]) <= 60


class ThreadMismatchTests(ApiCase):
    """A thread that is not the caller's with this assistant answers like one that does not exist."""

    def setUp(self) -> None:
        super().setUp()
        colleague = builders.teacher(self.school)
        stranger = builders.teacher()
        self.foreign = [
            builders.thread(self.user, builders.agent(self.school)),  # of another assistant
            builders.thread(colleague, self.agent),  # of another teacher
            builders.thread(stranger),  # of another school
        ]

    async def test_foreign_threads_answer_like_missing_ones(self) -> None:
        for path in ("run", "run/stream"):
            missing = await self.post(f"/agents/{self.agent.pk}/{path}", {"input": "出题", "thread_id": "th_none"})
            assert self.error_of(missing, 400) == "thread_mismatch"
            for thread in self.foreign:
                response = await self.post(f"/agents/{self.agent.pk}/{path}", {"input": "出题", "thread_id": thread.pk})
                assert (response.status_code, response.content) == (missing.status_code, missing.content)
        assert await Run.objects.acount() == 0


class KeyTests(ApiCase):
    def colleague(self) -> tuple[ApiToken, str]:
        row, token = ApiToken.objects.issue(builders.teacher(self.school), "test")
        return row, f"Bearer {token}"

    async def test_repeat_is_the_same_run(self) -> None:
        model = ScriptedProvider(["一"], ["二"])
        first = (await self.ask(model=model, key="k-1")).json()
        again = await self.ask(model=model, key="k-1")
        assert (again.status_code, again.json()) == (200, first)
        assert (await Run.objects.acount(), await Thread.objects.acount(), len(model.requests)) == (1, 1, 1)

    async def test_same_key_with_another_message_is_a_conflict(self) -> None:
        await self.ask(key="k-1")
        assert self.error_of(await self.ask("另一句", key="k-1"), 409) == "idempotency_key_reused"

    async def test_same_key_of_another_user_is_another_run(self) -> None:
        await self.ask(key="k-1")
        _, self.headers["Authorization"] = await sync_to_async(self.colleague)()
        assert (await self.ask(key="k-1")).status_code == 200
        assert await Run.objects.acount() == 2

    async def test_two_at_once_are_one_run(self) -> None:
        with scripted(ScriptedProvider(["一"])):
            calls = [self.post(f"/agents/{self.agent.pk}/run", {"input": "出题"}, **{"Idempotency-Key": "k-2"}) for _ in range(3)]
            bodies = [response.json() for response in await asyncio.gather(*calls)]
        assert len({body["run_id"] for body in bodies}) == 1
        assert {body["output"] for body in bodies} == {"一"}

    async def test_wrong_keys_are_refused(self) -> None:
        for key in ("", " ", "a b", "k" * 101, "clé", "a\x7f"):
            with self.subTest(key=key):
                response = await self.post(f"/agents/{self.agent.pk}/run", {"input": "出题"}, **{"Idempotency-Key": key})
                assert self.error_of(response, 400) == "invalid_field"
                assert "Idempotency-Key" in response.json()["error"]["message"]
        assert await Run.objects.acount() == 0


class StopTests(ApiCase):
    async def test_stop_ends_the_run_and_keeps_its_text(self) -> None:
        model = ScriptedProvider(["写到一半", asyncio.Event()])
        with scripted(model):
            answer = asyncio.ensure_future(self.post(f"/agents/{self.agent.pk}/run", {"input": "出题"}))
            run_id = await self.run_with_text()
            stopped = await self.post(f"/runs/{run_id}/stop")
            body = (await answer).json()
        assert (stopped.status_code, stopped.json()["run_id"]) == (200, run_id)
        assert (body["status"], body["output"], body["error"]) == ("cancelled", "写到一半", None)
        assert model.closed == 1

    async def test_stopping_an_ended_run_leaves_it_as_it_is(self) -> None:
        run_id = (await self.ask()).json()["run_id"]
        assert (await self.post(f"/runs/{run_id}/stop")).json()["status"] == "completed"

    async def test_caller_that_goes_away_does_not_stop_the_run(self) -> None:
        gate = asyncio.Event()
        model = ScriptedProvider(["写到", gate, "完了"])
        with scripted(model):
            answer = asyncio.ensure_future(self.post(f"/agents/{self.agent.pk}/run", {"input": "出题"}))
            run_id = await self.run_with_text()
            answer.cancel()
            await asyncio.gather(answer, return_exceptions=True)
            gate.set()
            await launch.wait(run_id)
        assert (await Run.objects.aget()).output == "写到完了"
