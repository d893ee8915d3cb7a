"""The end of a thread over the API, and incognito threads."""

import asyncio
from typing import Any

from asgiref.sync import sync_to_async

from chat.memory.core import decide
from chat.models import Candidate, Fact, Run, Thread
from chat.runs import live
from tests import builders
from tests.api.cases import ApiCase
from tests.api.test_stream import parsed
from tests.fakes import ScriptedProvider, scripted


class DeletionTests(ApiCase):
    def setUp(self) -> None:
        super().setUp()
        self.thread = builders.thread(self.user, self.agent)
        run = builders.run(self.thread)
        source = {"tenant": self.school, "user": self.user, "agent": self.agent, "thread": self.thread, "source_run": run}
        waiting, confirmed = (Candidate.objects.create(text=text, normal=text, **source) for text in ("老师喜欢表格", "老师教高二"))
        decide.confirm(self.user, [confirmed.pk])
        self.candidate, self.fact = waiting.pk, Fact.objects.get().pk
        self.path = f"/threads/{self.thread.pk}"

    async def test_thread_tells_what_was_learnt_from_it(self) -> None:
        learnt = (await self.get(self.path)).json()["learnt"]
        assert learnt["candidates"] == [{"id": self.candidate, "text": "老师喜欢表格"}]
        assert learnt["facts"] == [{"id": self.fact, "text": "老师教高二"}]

    async def test_what_was_learnt_stays_when_nothing_is_said(self) -> None:
        response = await self.delete(self.path)
        assert (response.status_code, response.json()) == (200, {"id": self.thread.pk, "candidates": [], "facts": []})
        assert not await Thread.objects.aexists()
        assert await Candidate.objects.filter(status="pending").acount() == 1
        assert (await Fact.objects.aget()).status == "confirmed"

    async def test_what_is_named_goes_too(self) -> None:
        response = await self.delete(self.path, {"candidates": [self.candidate, "cand_none"], "facts": [self.fact]})
        assert response.json() == {"id": self.thread.pk, "candidates": [self.candidate], "facts": [self.fact]}
        assert (await Fact.objects.aget()).status == "deleted"

    async def test_deleted_thread_is_not_found_any_more(self) -> None:
        await self.delete(self.path)
        for response in (await self.get(self.path), await self.delete(self.path), await self.get(f"{self.path}/runs")):
            assert self.error_of(response, 404) == "not_found"
        assert self.error_of(await self.ask(thread_id=self.thread.pk), 400) == "thread_mismatch"

    async def test_wrong_values_are_named(self) -> None:
        for name, value in (("facts", "all"), ("candidates", [1]), ("facts", None), ("all", True)):
            with self.subTest(name=name, value=value):
                response = await self.delete(self.path, {name: value})
                assert self.error_of(response, 400) == "invalid_field"
                assert name in response.json()["error"]["message"]
        assert await Thread.objects.aexists()

    async def test_a_client_that_waits_for_an_answer_learns_that_the_thread_is_gone(self) -> None:
        model = ScriptedProvider(["写到一半", asyncio.Event()])
        waiting = asyncio.ensure_future(self.ask("再出一份", model=model, thread_id=self.thread.pk))
        await self.run_with_text()
        await self.delete(self.path)
        response = await waiting
        assert response.status_code in (200, 404)  # the stopped run, if it was read before it went
        assert not live.own_runs() and not await Run.objects.aexists()


class IncognitoTests(ApiCase):
    async def begin(self, path: str = "run", **fields: Any) -> str:
        """A first message; returns the id of its thread."""
        with scripted(ScriptedProvider()):
            response = await self.post(f"/agents/{self.agent.pk}/{path}", {"input": "出题", "incognito": True} | fields)
            if not response.streaming:
                return response.json()["thread_id"]
            return [parsed(one)[1] async for one in response][0]["thread_id"]

    async def test_both_paths_begin_incognito_threads(self) -> None:
        for path in ("run", "run/stream"):
            thread = await Thread.objects.aget(pk=await self.begin(path))
            assert thread.is_incognito

    async def test_the_next_message_may_say_so_or_leave_it_out(self) -> None:
        thread_id = await self.begin()
        for more in ({}, {"incognito": True}):
            assert (await self.ask(thread_id=thread_id, **more)).status_code == 200

    async def test_what_disagrees_with_the_thread_is_refused_by_the_fields_name(self) -> None:
        plain, incognito = (await self.ask()).json()["thread_id"], await self.begin()
        for thread_id, said in ((plain, True), (incognito, False)):
            for path in ("run", "run/stream"):
                body = {"input": "出题", "thread_id": thread_id, "incognito": said}
                response = await self.post(f"/agents/{self.agent.pk}/{path}", body)
                assert self.error_of(response, 400) == "incognito_mismatch"
                assert response.json()["error"]["message"].startswith("incognito: ")
        assert await Run.objects.acount() == 2

    async def test_same_key_with_the_other_kind_is_a_conflict(self) -> None:
        await self.ask(key="k-1")
        assert self.error_of(await self.ask(key="k-1", incognito=True), 409) == "idempotency_key_reused"
        assert (await self.ask(key="k-1", incognito=False)).status_code == 200

    async def test_it_is_listed_while_it_lives_and_found_by_no_search(self) -> None:
        thread_id = await self.begin()
        path = f"/agents/{self.agent.pk}/threads"
        listed = (await self.get(path)).json()["threads"]
        assert [(one["id"], one["incognito"]) for one in listed] == [(thread_id, True)]
        assert (await self.get(path, {"q": "出题"})).json()["threads"] == []

    async def test_it_is_not_put_into_the_archive(self) -> None:
        thread_id = await self.begin()
        assert self.error_of(await self.post(f"/threads/{thread_id}/archive"), 400) == "thread_is_incognito"
        assert (await Thread.objects.aget()).status == "active"

    async def test_it_is_closed_by_deleting_it(self) -> None:
        thread_id = await self.begin()
        assert (await self.delete(f"/threads/{thread_id}")).status_code == 200
        assert not await sync_to_async(Run.objects.exists)()
