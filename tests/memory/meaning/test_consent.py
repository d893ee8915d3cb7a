"""Nothing of a teacher's text goes to another vendor's embedder before they agreed, and nothing after they withdrew."""

import json

from asgiref.sync import sync_to_async

from chat.memory.consent import may_send
from chat.models import Agent, Consent, Owner, Provider, SearchIndex, VectorBlock
from chat.runs import launch
from chat.runs.start import Order
from chat.search import vectors
from tests import builders
from tests.memory.meaning.world import EMBED, MeaningCase

WORDS = ("青竹七号", "蓝鲸九号", "白桦十一号", "赤松五号")


class Elsewhere(MeaningCase):
    local = False

    def setUp(self) -> None:
        super().setUp()
        self.choose_embedder()
        self.remember("暗号青竹七号", "回答白桦十一号")
        self.document("自己的资料，蓝鲸九号", user=self.user)

    async def send(self, user=None) -> None:
        agent: Agent = self.agent
        started = await launch.start(Order(user_id=(user or self.user).pk, agent_id=agent.pk, input="暗号赤松五号是什么"))
        await launch.wait(started.run_id)

    async def everything(self) -> None:
        """A question, and all that the worker does."""
        await self.send()
        await sync_to_async(self.work)()

    async def test_before_they_agree_not_a_byte_goes_there(self) -> None:
        await self.everything()
        await self.everything()
        assert self.server.requests == []

    async def test_after_they_declined_not_a_byte_goes_there(self) -> None:
        await sync_to_async(self.agree)(is_agreed=False)
        await self.everything()
        assert self.server.requests == []

    async def test_after_they_agreed_entries_documents_and_questions_go(self) -> None:
        await sync_to_async(self.agree)()
        await self.everything()
        await self.send()
        assert not [word for word in WORDS if word not in self.server.received]

    async def test_after_they_withdrew_nothing_more_goes_and_their_vectors_are_deleted(self) -> None:
        await sync_to_async(self.agree)()
        await self.everything()
        await sync_to_async(self.agree)(is_agreed=False)
        assert not await VectorBlock.objects.aexists()
        assert not await SearchIndex.objects.exclude(vectors=0, embedding_model="", embedder=None).aexists()
        self.server.requests.clear()
        await self.everything()
        assert self.server.requests == []

    async def test_who_agrees_again_has_vectors_again(self) -> None:
        for is_agreed in (True, False, True):
            await sync_to_async(self.agree)(is_agreed=is_agreed)
            await sync_to_async(self.work)()
        assert await sync_to_async(self.made)() == [1]

    def test_the_answer_of_one_counts_for_nobody_else(self) -> None:
        colleague = builders.teacher(self.school)
        self.remember("暗号黑檀三号", user=colleague)
        self.agree(colleague)
        self.work()
        assert "黑檀三号" in self.server.received
        assert not [word for word in WORDS if word in self.server.received]

    def test_withdrawing_leaves_the_vectors_of_others_and_of_the_school(self) -> None:
        colleague = builders.teacher(self.school)
        self.remember("暗号黑檀三号", user=colleague)
        self.document("学校的资料")
        self.agree()
        self.agree(colleague)
        self.work()
        self.agree(is_agreed=False)
        left = VectorBlock.objects.values_list("index__user", "index__kind")
        assert set(left) == {(colleague.pk, "recall"), (None, "knowledge")}

    def test_documents_of_the_school_are_the_administrators(self) -> None:
        self.document("学校的资料")
        self.work()
        assert self.server.texts == ["学校的资料"]

    def test_who_withdraws_while_it_is_made_has_nothing_stored(self) -> None:
        self.agree()

        def withdraw(server, body):
            answer = {"data": [{"index": i, "embedding": [1.0, 0.0]} for i in range(len(body["input"]))]}
            Consent.objects.update(is_agreed=False)
            return answer

        self.server.fault = withdraw
        self.work()
        assert not VectorBlock.objects.exists()

    def test_sensitive_numbers_do_not_leave_even_then(self) -> None:
        self.document("王老师的手机是 13912345678，蓝鲸九号", user=self.user)
        self.agree()
        self.work()
        assert "蓝鲸九号" in self.server.received
        assert "13912345678" not in self.server.received

    async def test_of_a_question_neither(self) -> None:
        await sync_to_async(self.agree)()
        await sync_to_async(self.work)()
        self.server.requests.clear()
        started = await launch.start(Order(user_id=self.user.pk, agent_id=self.agent.pk, input="给 13912345678 写一条短信，暗号赤松五号"))
        await launch.wait(started.run_id)
        assert "赤松五号" in self.server.received
        assert "13912345678" not in self.server.received

    def test_an_answer_holds_for_the_host_that_was_named(self) -> None:
        self.agree()
        owner = Owner(self.school.pk, self.user.pk)
        assert may_send(owner, self.service, EMBED)
        self.service.base_url = "https://elsewhere.example/v1"
        self.service.save()
        assert not may_send(owner, self.service, EMBED)

    def test_a_service_of_ones_own_needs_no_consent(self) -> None:
        Provider.objects.filter(pk=self.service.pk).update(is_local=True)
        self.work()
        assert self.made() == [1]

    def test_a_teacher_who_is_deleted_takes_all_of_it_along(self) -> None:
        self.agree()
        self.work()
        self.user.delete()
        assert not VectorBlock.objects.exists()
        assert not Consent.objects.exists()

    def test_nothing_of_it_is_in_what_is_logged(self) -> None:
        self.agree()
        self.server.fault = lambda *_: json.dumps({"error": {"message": WORDS[0]}}).encode()
        with self.assertLogs("chat", "INFO") as logs:
            self.work()
        assert not [word for word in WORDS if word in "".join(logs.output)]

    def test_vectors_of_the_old_service_serve_no_more(self) -> None:
        self.agree()
        self.work()
        other = builders.provider(self.school, name="别处", kind="openai", base_url="https://elsewhere.example/v1", is_local=False)
        self.choose_embedder(other)
        assert self.work() == 0
        assert vectors.made_numbers(self.index()) == [1]
        assert self.index().embedder_id == self.service.pk
