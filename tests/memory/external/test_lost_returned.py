"""After a return to the built-in memory recall catches up with what was said under another backend, and with nothing else."""

from django.test import TestCase, override_settings

from chat.jobs.worker import Worker
from chat.memory.external.lost import mark_lost
from chat.memory.switches import switch_memory
from chat.models import LayerState, RecallEntry, Tenant, Thread, Work
from tests import builders
from tests.scripted_backend import NAME, scripted_backend


class Returned(TestCase):
    def setUp(self) -> None:
        self.user = builders.teacher()
        self.agent = builders.agent(builders.school_of(self.user))
        self.thread = self.said_elsewhere()

    def said_elsewhere(self, **fields) -> Thread:
        """A conversation that was held while another backend was in force, which has passed over it."""
        thread = builders.thread(self.user, self.agent, **fields)
        run = builders.run(thread, "出一份数据结构试卷", "一、栈", backend=NAME)
        LayerState.objects.create(thread=thread, layer="external", upto_slot=run.slot)
        return thread

    def marked(self) -> list[str]:
        mark_lost()
        return list(Work.objects.filter(kind=Work.Kind.THREAD).values_list("subject_id", flat=True))

    def test_the_worker_takes_the_conversation_into_recall_once(self) -> None:
        assert self.marked() == [self.thread.pk]
        Worker("w").drain()
        assert [entry.run.thread_id for entry in RecallEntry.objects.select_related("run")] == [self.thread.pk]
        assert self.marked() == []

    def test_nothing_is_marked_while_the_backend_is_in_force(self) -> None:
        with scripted_backend():
            assert self.marked() == []

    @override_settings(MEMORY_MANAGER_PER_AGENT=True)
    def test_an_assistant_without_memory_does_not_catch_up(self) -> None:
        self.agent.memory_manager = "noop"
        self.agent.save(update_fields=["memory_manager"])
        assert self.marked() == []

    def test_an_incognito_conversation_stays_out(self) -> None:
        Thread.objects.filter(pk=self.thread.pk).update(is_incognito=True)
        assert self.marked() == []

    def test_nobody_is_caught_up_whose_memory_is_off(self) -> None:
        switch_memory(self.user.pk, is_on=False)
        assert self.marked() == []
        switch_memory(self.user.pk, is_on=True)
        Tenant.objects.update(has_memory=False)
        assert self.marked() == []

    def test_what_was_sent_while_memory_was_off_stays_out(self) -> None:
        self.thread.runs.update(has_memory=False)
        self.marked()
        Worker("w").drain()
        assert not RecallEntry.objects.exists()
        assert self.marked() == []

    def test_a_conversation_that_no_other_backend_had_is_left_alone(self) -> None:
        LayerState.objects.all().delete()
        with self.assertNumQueries(6):
            assert self.marked() == []
