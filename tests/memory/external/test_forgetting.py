"""What was asked to be forgotten is gone at the backend in the end, and what is known of it here too."""

import asyncio
import types
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chat.jobs.worker import Worker
from chat.memory import ledger as ledger_module
from chat.memory.external import forgetting
from chat.memory.external.follow import follow_up
from chat.memory.external.forgetting import ask_everything, ask_scope, ask_thread, forget, is_forgetting, scope_of
from chat.memory.external.lost import mark_lost
from chat.memory.ledger import ERASED
from chat.models import Owner, RemoteGap, RemoteScope, RemoteSession, RunLedger, Thread, Work
from chat.runs.delete import erase_any, erase_thread
from tests import builders
from tests.memory.answering import FreeLease
from tests.memory.external.delivering import Away, Delivered, agree, deliver, fails, in_thread, said, talk
from tests.scripted_backend import NAME, scripted_backend

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def backend() -> Iterator[Delivered]:
    with scripted_backend(Delivered()) as made:
        yield made


@pytest.fixture
def thread(backend: Delivered) -> Thread:
    made = talk()
    said(made)
    deliver(made)
    return made


def scope(thread: Thread):
    return scope_of(Owner(thread.tenant_id, thread.user_id, thread.agent_id))


def told(thread: Thread) -> RunLedger:
    """The ledger of a later run, which was told something by the backend."""
    segments = [
        {"name": "system", "priority": 0, "text": "你是命题助手。", "source_ids": [thread.agent_id], "notes": []},
        {
            "name": "external",
            "priority": 4,
            "text": "- [preferences] 人教版",
            "source_ids": ["viking://one"],
            "notes": [{"id": "viking://one"}],
        },
    ]
    return RunLedger.objects.create(run=said(thread, "第二问"), segments=segments)


def texts(ledger: RunLedger) -> list[str]:
    ledger.refresh_from_db()
    return [segment["text"] for segment in ledger.segments]


# Everything of a scope


def test_everything_of_a_scope_goes_and_nothing_of_another_one(backend, thread):
    colleague = builders.teacher(thread.tenant)
    agree(Owner(thread.tenant_id, colleague.pk, thread.agent_id))
    other = builders.thread(colleague, thread.agent)
    said(other)
    deliver(other)
    ask_scope(scope(thread), NAME)
    assert (is_forgetting(scope(thread)), is_forgetting(scope(other))) == (True, False)
    assert Worker("w").drain() == 0
    assert backend.forgotten == [scope(thread)]
    assert list(RemoteSession.objects.values_list("thread_key", flat=True)) == [other.pk]
    assert not is_forgetting(scope(thread))


def test_what_the_backend_had_told_goes_out_of_the_ledgers(backend, thread):
    ledger = told(thread)
    ask_scope(scope(thread), NAME)
    assert texts(ledger) == ["你是命题助手。", ERASED]


def test_a_ledger_that_was_written_meanwhile_is_blanked_too(backend, thread):
    ask_scope(scope(thread), NAME)
    ledger = told(thread)
    assert forget(RemoteScope.objects.get().pk, FreeLease()) is None
    assert texts(ledger) == ["你是命题助手。", ERASED]


def test_it_is_asked_again_until_all_is_gone(backend, thread):
    ask_scope(scope(thread), NAME)
    key = RemoteScope.objects.get().pk
    backend.failure = Away()
    assert forget(key, FreeLease()).error_code == "memory_unreachable"
    backend.failure, backend.is_slow_to_forget = None, True
    assert forget(key, FreeLease()).error_code == ""
    assert is_forgetting(scope(thread))
    backend.is_slow_to_forget = False
    assert forget(key, FreeLease()) is None
    assert RemoteScope.objects.get().forgotten_at is not None
    assert forget(key, FreeLease()) is None
    assert len(backend.forgotten) == 1


def test_it_waits_for_a_worker_that_may_just_be_delivering(backend, thread):
    Work.objects.mark(Work.Kind.THREAD, thread.pk)
    Work.objects.filter(kind="thread").update(lease="theirs", lease_until=timezone.now() + timedelta(seconds=30))
    ask_scope(scope(thread), NAME)
    key = RemoteScope.objects.get().pk
    assert forget(key, FreeLease()).error_code == ""
    assert backend.forgotten == []
    Work.objects.filter(kind="thread").update(lease="", lease_until=None)
    assert forget(key, FreeLease()) is None


def test_asked_once_more_while_it_is_done_it_stays_asked(backend, thread):
    ask_scope(scope(thread), NAME)
    key = RemoteScope.objects.get().pk
    later = timezone.now() + timedelta(seconds=1)

    class Again(FreeLease):
        def renew(self) -> None:
            RemoteScope.objects.update(forget_asked_at=later)

    forget(key, Again())
    assert RemoteScope.objects.get().forget_asked_at == later


def test_gaps_go_with_what_they_are_about(backend, thread):
    RemoteGap.objects.create(session=RemoteSession.objects.get(), run_key="run_x", outcome="failed")
    ask_scope(scope(thread), NAME)
    Worker("w").drain()
    assert not RemoteGap.objects.exists()


# A person


def test_everything_that_any_backend_remembers_of_a_teacher_goes(backend, thread):
    builders.fact(thread.user, "教高二", agent=thread.agent)
    builders.fact(thread.user, "姓李")
    builders.candidate(thread.user, "喜欢表格", agent=builders.agent(thread.tenant))
    builders.recalled(said(thread, "第二问"))
    other = builders.fact(builders.teacher(thread.tenant), "教高三")
    ask_everything(thread.tenant_id, thread.user_id)
    assert Worker("w").drain() == 0
    assert {one.agent_id for one in backend.forgotten} > {thread.agent_id}
    models = [type(other), type(builders.candidate(other.user, "x"))]
    assert [model.objects.filter(user=thread.user).count() for model in models] == [0, 0]
    assert not thread.user.recall_entries.exists()
    assert type(other).objects.filter(pk=other.pk).exists()
    assert not RemoteScope.objects.filter(forget_asked_at__isnull=False).exists()


def test_a_school_of_the_same_teacher_keeps_what_is_its_own(backend, thread):
    second = builders.tenant()
    kept = builders.fact(thread.user, "在另一所学校教初一", tenant=second, decision=builders.decision(thread.user, school=second))
    ask_everything(thread.tenant_id, thread.user_id)
    Worker("w").drain()
    assert type(kept).objects.filter(pk=kept.pk).exists()


def test_what_was_said_before_the_first_delivery_never_goes(backend):
    thread = talk()
    said(thread)
    ask_everything(thread.tenant_id, thread.user_id)
    Worker("w").drain()
    deliver(thread)
    assert backend.arrived(thread) == []


def test_what_is_just_going_for_the_first_time_goes_no_more(backend):
    thread = talk()
    said(thread)
    backend.points["start"] = lambda: in_thread(lambda: ask_everything(thread.tenant_id, thread.user_id))
    deliver(thread)
    Worker("w").drain()
    assert backend.arrived(thread) == []


def test_asking_looks_at_the_newest_answers_that_tell_something_and_the_work_at_all(backend, thread, monkeypatch):
    ledgers = [told(thread) for _ in range(3)]
    RunLedger.objects.create(run=said(thread), segments=[{"name": "core", "priority": 1, "text": "x", "source_ids": [], "notes": []}])
    looked_at = []
    real = ledger_module.rewrite
    monkeypatch.setattr(ledger_module, "rewrite", lambda key, change: looked_at.append(key) or real(key, change))
    monkeypatch.setattr(forgetting, "BLANKED_AT_ONCE", 2)
    ask_everything(thread.tenant_id, thread.user_id)
    assert looked_at == [ledgers[2].pk, ledgers[1].pk]
    Worker("w").drain()
    assert all(ERASED in texts(one) for one in ledgers)


# A conversation


@pytest.mark.parametrize("is_deleted", [True, False])
def test_everything_is_forgotten_after_what_is_just_on_its_way(backend, thread, monkeypatch, is_deleted):
    said(thread, "第二问")
    Work.objects.mark(Work.Kind.THREAD, thread.pk)
    RemoteSession.objects.update(pending_tasks=0)
    Work.objects.exclude(kind="thread").delete()
    ended = []

    def others() -> None:
        if is_deleted:
            erase_thread(thread.user, thread.pk)
        ask_everything(thread.tenant_id, thread.user_id)
        monkeypatch.setattr(forgetting, "calls", types.SimpleNamespace(call=asyncio.run))  # another process has another loop
        ended.append(forget(RemoteScope.objects.get(backend=NAME).pk, FreeLease()))

    backend.points["noted"] = lambda: in_thread(others)
    Worker("w").drain()
    assert ended[0] is not None
    Work.objects.update(due_at=timezone.now())
    Worker("w").drain()
    assert backend.arrived(thread) == []
    assert not RemoteScope.objects.filter(forget_asked_at__isnull=False).exists() and not Work.objects.exists()


@pytest.mark.parametrize("of", ["thread", "scope"])
def test_a_batch_of_which_no_answer_came_is_waited_for_as_it_may_still_arrive(backend, thread, of):
    backend.late_seconds = 60.0
    said(thread, "第二问")
    backend.points["noted"] = fails(Away())
    assert deliver(thread) == "memory_unreachable"
    if of == "scope":
        ask_scope(scope(thread), NAME)
    else:
        erase_any(thread)
    Worker("w").drain()
    assert backend.forgotten == [] and backend.threads_forgotten == []
    RemoteSession.objects.update(updated_at=timezone.now() - timedelta(seconds=61))
    Work.objects.update(due_at=timezone.now())
    Worker("w").drain()
    assert (backend.forgotten, backend.threads_forgotten) == (([scope(thread)], []) if of == "scope" else ([], [thread.pk]))


def test_however_often_it_was_only_waited_for_a_failure_is_tried_again_soon(backend, thread):
    ask_scope(scope(thread), NAME)
    key = RemoteScope.objects.get().pk
    Work.objects.filter(kind="forget").update(attempts=10)
    backend.failure = Away()
    assert forget(key, FreeLease()).at < timezone.now() + timedelta(seconds=70)


@pytest.mark.parametrize("erase", [erase_any, lambda thread: erase_thread(thread.user, thread.pk)])
def test_a_deleted_conversation_is_forgotten_there(backend, thread, erase):
    erase(thread)
    assert Worker("w").drain() == 0
    assert backend.threads_forgotten == [thread.pk]
    assert not RemoteSession.objects.exists() and not Work.objects.exists()


def test_one_that_is_just_being_delivered_is_forgotten_after_that(backend, thread):
    until = timezone.now() + timedelta(seconds=40)
    Work.objects.mark(Work.Kind.THREAD, thread.pk)
    Work.objects.filter(kind="thread").update(lease="theirs", lease_until=until)
    erase_any(thread)
    assert Work.objects.get(kind="remote").due_at == until
    assert Worker("w").drain() == 0
    assert backend.threads_forgotten == []


def test_a_conversation_that_was_never_there_costs_one_query():
    thread = talk(is_agreed=False)
    with CaptureQueriesContext(connection) as queries:
        ask_thread(thread.pk)
    assert len(queries) == 1
    assert not Work.objects.exists()


def test_forgetting_a_conversation_waits_for_a_backend_that_is_away(backend, thread):
    erase_any(thread)
    key = RemoteSession.objects.get().pk
    backend.failure = Away()
    assert follow_up(key, FreeLease()).error_code == "memory_unreachable"
    backend.failure = None
    assert follow_up(key, FreeLease()) is None
    assert not RemoteSession.objects.exists()


def test_what_was_asked_stays_asked_while_the_backend_is_not_set_up():
    with scripted_backend(Delivered()):
        thread = talk()
        said(thread)
        deliver(thread)
    erase_any(thread)
    assert Worker("w").drain() == 1
    assert Work.objects.get().error_code == "memory_misconfigured"


# What was lost


def test_what_has_no_work_any_more_is_found(backend, thread):
    Work.objects.all().delete()
    assert (mark_lost(), mark_lost()) == (1, 0)  # its task
    assert Work.objects.get().kind == "remote"
    ask_scope(scope(thread), NAME)
    Work.objects.all().delete()
    assert (mark_lost(), mark_lost()) == (1, 0)
    assert Work.objects.get().kind == "forget"


def test_a_session_whose_thread_went_without_us_is_forgotten(backend, thread):
    Thread.objects.all().delete()
    Work.objects.all().delete()
    RemoteSession.objects.update(pending_tasks=0)
    assert mark_lost() == 0  # it may just have been made
    RemoteSession.objects.update(updated_at=timezone.now() - timedelta(hours=1))
    assert mark_lost() == 1
    Worker("w").drain()
    assert backend.threads_forgotten == [thread.pk]


def test_what_is_remembered_of_who_is_gone_is_forgotten_a_day_later(backend, thread):
    get_user_model().objects.get(pk=thread.user_id).delete()
    mark_lost()
    work = Work.objects.get(kind="forget")
    assert work.due_at > timezone.now() + timedelta(hours=23)
    Worker("w").drain()
    assert backend.forgotten == []
    Work.objects.filter(kind="forget").update(due_at=timezone.now())
    Worker("w").drain()
    assert backend.forgotten == [scope(thread)]
    assert not RemoteScope.objects.exists()


def test_a_teacher_who_is_put_back_within_the_day_keeps_it(backend, thread):
    RemoteScope.objects.update(user_key="999999")
    mark_lost()
    RemoteScope.objects.update(user_key=str(thread.user_id))
    assert Work.objects.filter(kind="forget").update(due_at=timezone.now()) == 1
    Worker("w").drain()
    assert backend.forgotten == [] and not Work.objects.filter(kind="forget").exists()


def test_looking_for_what_was_lost_takes_five_queries():
    with CaptureQueriesContext(connection) as queries:
        assert mark_lost() == 0
    assert len(queries) == 5
