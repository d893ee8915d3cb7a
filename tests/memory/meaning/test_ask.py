"""The question's vector: fetched beside the hop, within a limit, and never at a cost without an embedder."""

import time
from unittest.mock import patch

import pytest
from asgiref.sync import sync_to_async
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chat.memory.meaning import ask, breaker
from chat.memory.meaning.breaker import FAILURES_MOST, Breaker
from chat.memory.recall import find as finding
from chat.models import MemoryOp, Preference, Run, RunLedger, Tenant
from chat.runs import launch
from chat.runs.errors import InputEmpty
from chat.runs.start import Order, Started, start_or_plan, start_run
from tests import builders
from tests.memory.meaning.embeddings_server import broken_numbers, other_dimension, slow, too_few
from tests.memory.meaning.world import MeaningCase

QUESTION = "抛物线再讲一次"


class AskCase(MeaningCase):
    def setUp(self) -> None:
        super().setUp()
        for said in ("二次函数怎么讲", "荷塘月色的教案", "排球垫球课"):
            self.remember(said)

    def fill(self) -> None:
        self.choose_embedder()
        self.work()
        self.server.requests.clear()
        self.server.headers.clear()

    def order(self, text: str = QUESTION, **more) -> Order:
        return Order(user_id=self.user.pk, agent_id=self.agent.pk, input=text, **more)

    async def send(self, text: str = QUESTION, **more) -> Run:
        started = await launch.start(self.order(text, **more))
        await launch.wait(started.run_id)
        return await Run.objects.aget(pk=started.run_id)

    def vectors_seen(self) -> list[bool]:
        """Collects, for each reading of recall, whether the turn had a vector."""
        seen: list[bool] = []
        real = finding.find

        def find(turn):
            seen.append(turn.vector is not None)
            return real(turn)

        self.enterContext(patch("chat.memory.layers.recall.find", find))
        return seen


class Asking(AskCase):
    async def test_the_question_is_asked_for_once_and_used(self) -> None:
        await sync_to_async(self.fill)()
        seen = self.vectors_seen()
        run = await self.send()
        assert (run.status, seen) == ("completed", [True])
        assert [request["input"] for request in self.server.requests] == [[QUESTION]]
        assert self.server.headers[0]["x-purpose"] == "embed"

    async def test_its_call_is_in_the_account_of_the_thread(self) -> None:
        await sync_to_async(self.fill)()
        run = await self.send()
        op = await MemoryOp.objects.filter(kind="embedding").order_by("-created_at").afirst()
        assert (op.thread_id, op.user_id, op.outcome, op.input_tokens) == (run.thread_id, self.user.pk, "done", len(QUESTION))

    async def test_a_short_follow_up_is_asked_with_what_the_thread_is_about(self) -> None:
        await sync_to_async(self.fill)()
        thread = await sync_to_async(builders.thread)(self.user, self.agent, title="数据结构试卷")
        await sync_to_async(builders.run)(thread, "出一份数据结构的试卷，要有五道关于栈的选择题", "一、选择题")
        await self.send("换两道", thread_id=thread.pk)
        assert "数据结构" in self.server.texts[0]

    async def test_the_same_form_sent_twice_is_one_run(self) -> None:
        await sync_to_async(self.fill)()
        first, second = await self.send(key="k1"), await self.send(key="k1")
        assert (first.pk, len(self.server.requests)) == (second.pk, 1)

    async def test_what_is_refused_asks_nobody(self) -> None:
        await sync_to_async(self.fill)()
        with pytest.raises(InputEmpty):
            await launch.start(self.order("  "))
        assert not self.server.requests

    async def test_a_teacher_without_vectors_asks_nobody(self) -> None:
        await sync_to_async(self.choose_embedder)()
        await self.send()
        assert not self.server.requests

    async def test_an_incognito_thread_asks_nobody(self) -> None:
        await sync_to_async(self.fill)()
        await self.send(is_incognito=True)
        assert not self.server.requests

    async def test_nobody_is_asked_while_memory_is_off(self) -> None:
        await sync_to_async(self.fill)()
        await Preference.objects.aupdate_or_create(user=self.user, defaults={"has_memory": False})
        await self.send()
        assert not self.server.requests

    async def test_vectors_of_another_model_ask_nobody(self) -> None:
        await sync_to_async(self.fill)()
        await sync_to_async(self.choose_embedder)(model="other")
        await self.send()
        assert not self.server.requests

    def test_without_an_embedder_no_query_is_made_for_it(self) -> None:
        def queries(start) -> list[str]:
            with CaptureQueriesContext(
                connection,
            ) as caught:
                assert isinstance(start(self.order()), Started)
            return [query["sql"].split(" ")[0] for query in caught]

        self.assertEqual(queries(start_run), queries(start_or_plan))
        with CaptureQueriesContext(connection) as caught:
            start_or_plan(self.order())
        told = " ".join(query["sql"] for query in caught)
        assert "vectorblock" not in told
        assert "chat_consent" not in told


class Trouble(AskCase):
    async def asked(self, fault) -> tuple[Run, float]:
        self.server.fault = fault
        started = time.monotonic()
        run = await self.send()
        return run, time.monotonic() - started

    async def test_a_slow_service_costs_the_limit_and_words_alone_find(self) -> None:
        await sync_to_async(self.fill)()
        seen = self.vectors_seen()
        with patch.object(ask, "LOCAL_SECONDS", 0.2):
            run, seconds = await self.asked(slow(5))
        assert (run.status, seen) == ("completed", [False])
        assert seconds < 2
        op = await MemoryOp.objects.filter(kind="embedding").order_by("-created_at").afirst()
        assert (op.outcome, op.error_code) == ("failed", "provider_timeout")

    async def test_words_alone_find_what_they_find_without_an_embedder(self) -> None:
        await sync_to_async(self.fill)()
        run, _ = await self.asked(lambda *_: 500)
        ledger = await RunLedger.objects.aget(pk=run.pk)
        await Tenant.objects.filter(pk=self.school.pk).aupdate(embedder=None)
        other = await RunLedger.objects.aget(pk=(await self.send()).pk)
        recalled = [[one for one in row.segments if one["name"] == "recall"] for row in (ledger, other)]
        assert recalled[0] == recalled[1]

    async def test_an_answer_that_is_none_is_as_good_as_no_answer(self) -> None:
        await sync_to_async(self.fill)()
        for fault in (broken_numbers, too_few, other_dimension, lambda *_: 401, lambda *_: b"<html>"):
            breaker.forget_all()
            run, _ = await self.asked(fault)
            assert run.status == "completed"

    async def test_after_some_failures_a_service_is_left_alone(self) -> None:
        await sync_to_async(self.fill)()
        for _ in range(FAILURES_MOST + 3):
            await self.asked(lambda *_: 500)
        assert len(self.server.requests) == FAILURES_MOST


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def broken(clock: Clock) -> Breaker:
    found = Breaker(clock)
    for _ in range(FAILURES_MOST):
        found.note_failure()
    return found


def test_a_breaker_opens_after_failures_in_a_row_only():
    found = Breaker(Clock())
    for _ in range(FAILURES_MOST):
        found.note_failure()
        found.note_success()
    assert not found.is_open
    assert broken(Clock()).is_open


def test_one_trial_is_made_after_the_rest():
    clock = Clock()
    found = broken(clock)
    clock.now = 30.0
    assert not found.is_open
    found.note_trial()
    assert found.is_open
    found.note_success()
    assert not found.is_open


def test_a_trial_that_fails_makes_the_rest_longer_up_to_a_limit():
    clock = Clock()
    found = broken(clock)
    rests = []
    for _ in range(6):
        start = clock.now
        clock.now = found.closed_at
        rests.append(clock.now - start)
        found.note_trial()
        found.note_failure()
    assert rests == [30, 60, 120, 240, 300, 300]


def test_what_fails_beside_it_makes_no_rest_longer():
    clock = Clock()
    found = broken(clock)
    for _ in range(10):  # on their way when it opened
        found.note_failure()
    assert found.closed_at == 30.0
