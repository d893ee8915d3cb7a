"""What was asked to be forgotten stays visible until it is done."""

from django.test import TestCase, override_settings

from chat.jobs.worker import Worker
from chat.memory.external.forgetting import ask_scope, ask_thread, scope_of
from chat.memory.external.waiting import Waiting, waiting
from chat.models import Owner, RemoteScope, RemoteSession, Tenant
from tests import builders
from tests.scripted_backend import NAME, scripted_backend


class WaitingCase(TestCase):
    def setUp(self) -> None:
        self.user = builders.teacher()
        self.school = builders.school_of(self.user)
        agent = builders.agent(self.school)
        self.owner = Owner(self.school.pk, self.user.pk, agent.pk)
        self.thread = builders.thread(self.user, agent)

    def test_nothing_waits_at_first(self) -> None:
        with self.assertNumQueries(2):
            assert waiting() == []

    def test_a_request_is_there_until_the_backend_has_done_it(self) -> None:
        with scripted_backend() as backend:
            ask_scope(scope_of(self.owner), NAME)
            assert waiting() == [Waiting(NAME, 1, 0, "", is_set_up=True)]
            Worker("w").drain()
            assert backend.forgotten == [scope_of(self.owner)]
            assert waiting() == []

    @override_settings(MEMORY_MANAGER="builtin")
    def test_one_whose_backend_is_not_set_up_any_more_says_so_and_why(self) -> None:
        ask_scope(scope_of(self.owner), NAME)
        Worker("w").drain()
        assert waiting() == [Waiting(NAME, 1, 0, "memory_misconfigured", is_set_up=False)]

    def test_a_deleted_conversation_waits_too_and_only_where_its_school_is(self) -> None:
        scope = RemoteScope.objects.create(
            backend=NAME, tenant_key=self.owner.tenant_id, user_key=str(self.user.pk), agent_key=self.owner.agent_id
        )
        RemoteSession.objects.create(scope=scope, thread_key=self.thread.pk)
        ask_thread(self.thread.pk)
        assert [(one.scopes, one.sessions) for one in waiting()] == [(0, 1)]
        other = builders.tenant()
        assert waiting(Tenant.objects.filter(pk=other.pk).values("pk")) == []
        assert waiting(Tenant.objects.filter(pk=self.school.pk).values("pk")) == waiting()
