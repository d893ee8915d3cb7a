"""Vectors are made in the worker, kept up to date, and made again when they have to be."""

from decimal import Decimal
from unittest.mock import patch

import numpy as np
from django.db import transaction

from chat.jobs.worker import Worker
from chat.memory import calls
from chat.memory.meaning import fill as filling
from chat.memory.recall.entries import drop, forget_thread, reindex, retitle
from chat.memory.switches import switch_memory
from chat.models import MemoryOp, RecallEntry, SearchIndex, Tenant, Thread, VectorBlock, Work
from chat.search import vectors
from chat.search.vectors import Vector
from tests import builders
from tests.memory.meaning.embeddings_server import broken_numbers, good, other_dimension, too_few, vector_of
from tests.memory.meaning.world import MODEL, MeaningCase


class Filling(MeaningCase):
    def setUp(self) -> None:
        super().setUp()
        self.choose_embedder()

    def near(self, text: str, user=None) -> list[int]:
        """The numbers of the entries by how near they are in meaning, nearest first."""
        found = vectors.cosines(
            self.school.pk,
            (user or self.user).pk,
            SearchIndex.Kind.RECALL,
            Vector(self.service.pk, MODEL, np.array(vector_of(text), np.float32)),
        )
        return [] if found is None else found.numbers[np.argsort(-found.values)].tolist()

    def test_entries_get_vectors_by_which_they_are_near(self) -> None:
        for said in ("二次函数怎么讲", "荷塘月色的教案", "排球垫球课"):
            self.remember(said)
        assert self.work() == 0
        assert self.made() == [1, 2, 3]
        assert self.near("抛物线怎么讲")[0] == 1
        assert not Work.objects.exists()

    def test_cosines_are_those_of_the_whole_vectors(self) -> None:
        entry = self.remember("二次函数怎么讲", "先画图")
        self.work()
        asked = np.array(vector_of("二次函数的图像"), np.float32)
        found = vectors.cosines(self.school.pk, self.user.pk, SearchIndex.Kind.RECALL, Vector(self.service.pk, MODEL, asked))
        whole = np.array(vector_of(f"{entry.input}\n{entry.head}"), np.float32) @ asked
        assert abs(found.values[0] - whole) < 0.01

    def test_more_than_a_step_and_a_block_are_done_to_the_end(self) -> None:
        for i in range(vectors.SIZE + 10):
            self.remember(f"第{i}个问题")
        self.work()
        assert len(self.made()) == vectors.SIZE + 10
        assert VectorBlock.objects.count() == 2

    def test_what_is_appended_alone_is_asked_for(self) -> None:
        self.remember("第一个问题")
        self.work()
        self.remember("第二个问题")
        self.work()
        assert [len(request["input"]) for request in self.server.requests] == [1, 1]

    def test_a_new_title_makes_the_vectors_anew(self) -> None:
        entry = self.remember("第一个问题")
        self.work()
        thread = Thread.objects.get(pk=entry.thread_id)
        thread.title = "排球课"
        with transaction.atomic():
            retitle(thread)
        assert self.made() == []
        self.work()
        assert "排球课" in self.server.texts[-1]
        assert self.made() == [1]

    def test_what_is_erased_has_no_vector_in_the_same_moment(self) -> None:
        gone, stays = self.remember("第一个问题"), self.remember("第二个问题")
        self.work()
        with transaction.atomic():
            forget_thread(self.user.pk, gone.thread_id)
        assert self.made() == [stays.number]
        assert self.near("第一个问题") == [stays.number]
        self.work()
        assert len(self.server.requests) == 1

    def test_what_is_erased_while_it_is_asked_for_stays_erased(self) -> None:
        entry = self.remember("第一个问题")

        def erase(server, body):
            with transaction.atomic():
                drop(self.owner, RecallEntry.objects.filter(pk=entry.pk))
            return good(server, body)

        self.meanwhile(erase)
        self.work()
        assert not VectorBlock.objects.exists()

    def meanwhile(self, action) -> None:
        """Does it in the thread of the test, between the call and what follows."""
        real = calls.call

        def call(coroutine):
            found = real(coroutine)
            action(self.server, {"input": []})
            return found

        self.enterContext(patch.object(filling, "call", call))

    def test_another_model_makes_all_anew_and_the_old_ones_serve_no_more(self) -> None:
        self.remember("第一个问题")
        self.work()
        self.server.dimension = 96
        self.choose_embedder(model="other")
        self.work()
        block = VectorBlock.objects.get()
        assert (block.model, block.dimension, self.made()) == ("other", 96, [1])
        assert self.near("第一个问题") == []

    def test_rebuilding_the_index_keeps_the_vectors(self) -> None:
        self.remember("第一个问题")
        self.work()
        assert reindex(self.owner)
        self.work()
        assert (self.made(), len(self.server.requests)) == ([1], 1)

    def test_documents_of_the_school_and_of_the_teacher_get_vectors(self) -> None:
        self.document("第一段", "第二段")
        self.document("自己的一段", user=self.user)
        self.work()
        assert {(index.user_id, index.vectors) for index in SearchIndex.objects.all()} == {(None, 2), (self.user.pk, 1)}

    def test_a_long_passage_is_found_by_its_nearest_piece(self) -> None:
        self.document("x" * 900 + "二次函数的图像和性质" * 10)
        self.work()
        assert len(self.server.texts) == 2
        found = vectors.cosines(
            self.school.pk,
            None,
            SearchIndex.Kind.KNOWLEDGE,
            Vector(self.service.pk, MODEL, np.array(vector_of("二次函数的图像和性质"), np.float32)),
        )
        assert found.numbers.tolist() == [1]
        assert found.values[0] > 0.8

    def test_each_call_is_in_the_account(self) -> None:
        self.remember("第一个问题")
        self.work()
        op = MemoryOp.objects.get(kind="embedding")
        assert (op.outcome, op.user_id, op.provider_id, op.model) == ("done", self.user.pk, self.service.pk, MODEL)
        assert (op.input_tokens, op.is_estimate) == (len(self.server.texts[0]), False)
        assert op.cost == Decimal(2 * op.input_tokens) / 1_000_000

    def test_a_document_of_the_school_is_in_the_account_of_nobody(self) -> None:
        self.document("第一段")
        self.work()
        assert MemoryOp.objects.get(kind="embedding").user_id is None

    def test_nothing_is_sent_while_memory_is_off(self) -> None:
        self.remember("第一个问题")
        switch_memory(self.user.pk, is_on=False)
        self.work()
        assert not self.server.requests
        switch_memory(self.user.pk, is_on=True)
        self.work()
        assert self.made() == [1]

    def test_nothing_is_sent_while_the_school_has_memory_off(self) -> None:
        self.remember("第一个问题")
        Tenant.objects.filter(pk=self.school.pk).update(has_memory=False)
        self.work()
        assert not self.server.requests

    def test_each_has_vectors_of_their_own(self) -> None:
        colleague = builders.teacher(self.school)
        self.remember("二次函数怎么讲")
        self.remember("排球垫球课", user=colleague)
        self.work()
        assert (self.near("二次函数怎么讲"), self.near("二次函数怎么讲", colleague)) == ([1], [1])
        assert vectors.made_numbers(self.index()) == vectors.made_numbers(self.index(colleague)) == [1]
        stranger = builders.teacher()
        assert self.near("二次函数怎么讲", stranger) == []

    def test_a_school_without_an_embedder_asks_nobody(self) -> None:
        other = builders.tenant()
        stranger = builders.teacher(other)
        self.remember("外校的问题", user=stranger, agent=builders.agent(other))
        self.work()
        assert not self.server.requests


class Trouble(MeaningCase):
    def setUp(self) -> None:
        super().setUp()
        self.choose_embedder()
        self.enterContext(patch.object(filling, "wait_seconds", lambda attempts: 60.0))

    def fail(self, fault) -> str:
        """What the row of work says after a step that fails so."""
        self.server.fault = fault
        assert self.work() == 1
        return Work.objects.get().error_code

    def test_a_service_that_is_away_is_waited_for_longer_and_longer(self) -> None:
        self.remember("第一个问题")
        for attempts in (1, 2):
            assert self.fail(lambda *_: 500) == "provider_overloaded"
            assert Work.objects.get().attempts == attempts
            self.hurry()
        self.server.fault = None
        self.work()
        assert (self.made(), Work.objects.count()) == ([1], 0)

    def test_while_it_is_waited_for_nothing_is_asked(self) -> None:
        self.remember("第一个问题")
        self.fail(lambda *_: 500)
        asked = len(self.server.requests)
        self.remember("第二个问题")
        self.work()
        assert len(self.server.requests) == asked

    def test_vectors_that_are_none_are_not_stored(self) -> None:
        self.remember("第一个问题")
        for fault in (broken_numbers, too_few):
            assert self.fail(fault) == "embedding_unusable"
            assert not VectorBlock.objects.exists()
            self.hurry()

    def test_vectors_of_another_length_than_before_are_not_stored(self) -> None:
        self.remember("第一个问题")
        self.work()
        self.remember("第二个问题")
        assert self.fail(other_dimension) == "embedding_dimension"
        assert self.made() == [1]

    def test_a_service_that_is_too_slow_is_left(self) -> None:
        self.remember("第一个问题")
        self.enterContext(patch.object(filling, "CALL_SECONDS", 0.1))
        assert self.fail(lambda server, body: server.is_over.wait(5) or 500) == "provider_timeout"

    def test_a_record_that_the_service_refuses_does_not_hold_the_others(self) -> None:
        for said in ("好问题一", "坏问题", "好问题二"):
            self.remember(said)
        self.server.fault = lambda server, body: 400 if any("坏问题" in text for text in body["input"]) else good(server, body)
        assert self.work() == 0
        assert self.made() == [1, 2, 3]
        assert len(np.frombuffer(bytes(VectorBlock.objects.get().packed), vectors.item_type(64))) == 2
        assert not Work.objects.exists()

    def test_a_service_that_refuses_everything_marks_no_record_as_done(self) -> None:
        self.remember("第一个问题")
        for _ in range(5):
            assert self.fail(lambda *_: 400) == "provider_rejected"
            self.hurry()
        assert self.made() == []

    def test_failed_calls_are_in_the_account_and_cost_nothing_when_they_were_refused(self) -> None:
        self.remember("第一个问题")
        self.fail(lambda *_: 401)
        op = MemoryOp.objects.get(kind="embedding")
        assert (op.outcome, op.error_code, op.cost) == ("failed", "provider_auth", 0)

    def test_other_work_goes_on(self) -> None:
        self.remember("第一个问题")
        thread = builders.thread(self.user, self.agent, summary_upto_slot=0)
        builders.run(thread, "出一份试卷", "一、选择题")
        Work.objects.mark(Work.Kind.THREAD, thread.pk)
        self.server.fault = lambda *_: 500
        Worker("w").drain()
        assert RecallEntry.objects.filter(thread=thread).exists()
