"""A review and the chat beside it: neither waits for the other, and no turn is told anything else (specs/notes_memory.md §3.2 Order)."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable

from asgiref.sync import sync_to_async
from django.db import connection
from django.test import TransactionTestCase
from django.utils import timezone

from chat.jobs.worker import Worker
from chat.models import Agent, MemoryOp, NoteReview, Notice, Run, RunLedger, Thread, Work
from chat.providers.base import Delta, Endpoint, Request
from chat.runs import launch
from chat.runs.delete import delete_thread
from chat.runs.start import Order
from tests import builders
from tests.fakes import scripted
from tests.memory.notes.reviewing import END, add, calls

REPLY = "一、选择题"


class Model:
    """Answers turns at once; a review hangs until it is let go, then it proposes a note. Clients of two loops ask it."""

    def __init__(self) -> None:
        self.reviewing, self.go_on = threading.Event(), threading.Event()
        self.answers: list[Request] = []
        self.reviews: list[Request] = []

    async def stream(self, endpoint: Endpoint, request: Request) -> AsyncIterator[Delta]:
        if request.purpose == "answer":
            self.answers.append(request)
            yield Delta(text=REPLY)
        elif request.purpose == "review":
            self.reviews.append(request)
            self.reviewing.set()
            while not self.go_on.is_set():
                await asyncio.sleep(0.005)
            for step in calls(add("以后请附上细目表")) if len(self.reviews) == 1 else END:
                yield step if isinstance(step, Delta) else Delta(text=step)
        else:
            yield Delta(text="NONE" if request.purpose == "extraction" else "教师在出试卷。")


class BesideChat(TransactionTestCase):
    def setUp(self) -> None:
        self.user = builders.teacher()
        school = builders.school_of(self.user)
        service = builders.provider(school, kind="openai", base_url="http://127.0.0.1:1/v1")
        self.agent = builders.agent(school, provider=service, review_write="all")
        self.thread = builders.thread(self.user, self.agent)
        for number in range(1, 10):
            builders.run(self.thread, f"第{number}问", REPLY)
        self.stop = threading.Event()

    async def say(self, text: str) -> Run:
        started = await launch.start(Order(user_id=self.user.pk, agent_id=self.agent.pk, thread_id=self.thread.pk, input=text))
        await launch.wait(started.run_id)
        return await Run.objects.aget(pk=started.run_id)

    def work(self) -> None:
        """A worker in a thread of its own, as it is a process of its own."""
        Worker("w").run(self.stop)
        connection.close()

    async def beside(self, what: Callable[[Model], object]) -> Model:
        """Says the tenth message, and does `what` while the review of it hangs."""
        model = Model()
        worker = threading.Thread(target=self.work)
        with scripted(model):
            await self.say("第10问")
            worker.start()
            try:
                assert await asyncio.to_thread(model.reviewing.wait, 20)
                await what(model)
                model.go_on.set()
                await self.until_idle()
            finally:
                model.go_on.set()
                self.stop.set()
                await asyncio.to_thread(worker.join)
        return model

    async def until_idle(self) -> None:
        async with asyncio.timeout(20):
            while await Work.objects.aexists():
                await asyncio.sleep(0.01)

    async def test_turns_go_on_while_a_review_hangs(self) -> None:
        runs: list[Run] = []

        async def chat(_model: Model) -> None:
            async with asyncio.timeout(10):
                for number in range(11, 16):
                    runs.append(await self.say(f"第{number}问"))

        await self.beside(chat)
        assert [(run.status, run.output) for run in runs] == [("completed", REPLY)] * 5
        review = await NoteReview.objects.aget()
        assert (review.state, review.total) == ("done", 10)
        assert review.finished_at > runs[-1].finished_at

    async def test_no_turn_is_told_anything_else_by_a_review(self) -> None:
        """Before, while and after it: the same bytes of the system part, ledgers as they were, nobody's costs but its own."""
        kept: list[object] = []

        async def chat(_model: Model) -> None:
            await self.say("第11问")
            kept.extend(await self.stored())

        model = await self.beside(chat)
        before = list(kept)
        assert await self.stored() == before
        with scripted(model):
            await self.say("第12问")
        systems = {request.messages[0]["content"] for request in model.answers}
        assert len(systems) == 1
        assert "细目表" not in "".join(str(request.messages) for request in model.answers)
        assert {request.run_id for request in model.reviews} == {""}
        assert await MemoryOp.objects.filter(kind="review").acount() == 2
        assert await Notice.objects.acount() == 1

    @sync_to_async
    def stored(self) -> list[object]:
        """The turns with their costs, and their ledgers."""
        return [*Run.objects.order_by("pk").values(), *RunLedger.objects.order_by("pk").values()]

    async def test_a_stopped_or_failed_turn_does_not_touch_a_review_that_goes(self) -> None:
        async def fail(_model: Model) -> None:
            await sync_to_async(builders.run)(self.thread_now(), "第11问", "", status="failed", error_code="x")

        await self.beside(fail)
        assert (await NoteReview.objects.aget()).state == "done"

    def thread_now(self) -> Thread:
        self.thread.last_position = 10
        return self.thread

    async def test_deleting_the_conversation_ends_the_review_within_its_lease(self) -> None:
        with self.settings(LEASE_SECONDS=1):
            started = timezone.now()

            async def delete(_model: Model) -> None:
                assert await delete_thread(self.user, self.thread.pk) is not None
                async with asyncio.timeout(10):
                    while await MemoryOp.objects.filter(kind="review", outcome="running").aexists():
                        await asyncio.sleep(0.01)

            model = await self.beside(delete)
        assert (timezone.now() - started).total_seconds() < 20
        assert len(model.reviews) == 1
        assert not await NoteReview.objects.aexists()
        assert await Agent.objects.aexists()
