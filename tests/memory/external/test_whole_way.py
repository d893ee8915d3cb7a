"""The whole way of a round to the memory server, as the worker goes it, with every request breaking off once in every way."""

import time

import pytest
from django.db import connections
from django.utils import timezone

from chat.jobs.worker import Worker
from chat.memory.backends.openviking import forgetting as server_forgetting
from chat.memory.external.forgetting import ask_everything
from chat.models import LayerState, RemoteGap, RemoteSession, Thread, Work
from chat.runs.delete import erase_any
from tests.memory.external.delivering import cursor, said, talk
from tests.openviking_server.in_force import in_force

pytestmark = pytest.mark.django_db(transaction=True)
WHERE = ["GET /api/v1/sessions", "messages/batch", "commit", "GET /api/v1/tasks"]
HOW = ["status", "upstream", "html", "envelope", "closed", "lost"]
FIRST, SECOND = "We decided to meet on Friday.", "We decided to use the blue book."


@pytest.fixture
def server(openviking):
    with in_force(openviking, unclear_wait_seconds=0.05):
        yield openviking
    connections.close_all()


def mark(thread: Thread) -> None:
    Work.objects.mark(Work.Kind.THREAD, thread.pk)


def work() -> int:
    """A worker that comes when everything put off is due."""
    LayerState.objects.update(retry_at=None)
    Work.objects.update(due_at=timezone.now())
    return Worker("w").drain()


def until_done() -> list[int]:
    failures = []
    for _ in range(6):
        failures.append(work())
        if not Work.objects.exists():
            return failures
    raise AssertionError(list(Work.objects.values_list("kind", "error_code")))


def test_a_round_goes_is_worked_on_and_can_be_found(server):
    thread = talk()
    said(thread, FIRST)
    mark(thread)
    assert until_done()[-1] == 0
    assert server.state.messages() == [FIRST, "好的。"]
    assert [FIRST in one for one in server.state.memories()] == [True]
    assert (cursor(thread), RemoteSession.objects.get().pending_tasks) == (1, 0)


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("how", HOW)
def test_whatever_breaks_off_each_round_is_there_once(server, where, how):
    thread = talk()
    said(thread, FIRST)
    mark(thread)
    server.faults.add(how, where, times=3)
    assert work() == 1
    said(thread, SECOND)
    mark(thread)
    server.faults.clear()
    assert until_done()[-1] == 0
    assert sorted(server.state.messages()) == sorted([FIRST, "好的。", SECOND, "好的。"])
    memories = server.state.memories()
    assert [sum(text in one for one in memories) for text in (FIRST, SECOND)] == [1, 1]
    assert cursor(thread) == 2 and not RemoteGap.objects.exists()


def test_a_task_that_fails_leaves_a_gap(server):
    thread = talk()
    run = said(thread, FIRST)
    server.faults.add("task", "commit", times=1)
    mark(thread)
    until_done()
    assert list(RemoteGap.objects.values_list("run_key", "outcome")) == [(run.pk, "failed")]


@pytest.mark.parametrize("is_deleted", [True, False])
def test_what_arrives_after_its_sender_gave_up_does_not_outlive_the_forgetting(openviking, monkeypatch, is_deleted):
    monkeypatch.setattr(server_forgetting, "SETTLING_SECONDS", 0.0)
    with in_force(openviking, read_timeout_seconds=0.1, unclear_wait_seconds=1.0, retry={"attempts": 1}):
        thread = talk()
        said(thread, FIRST)
        mark(thread)
        openviking.faults.add("delay", "messages/batch", seconds=0.5, times=1)
        assert work() == 1
        if is_deleted:
            erase_any(thread)
        else:
            ask_everything(thread.tenant_id, thread.user_id)
        end = time.monotonic() + 10
        while Work.objects.filter(kind__in=["remote", "forget"]).exists():
            assert time.monotonic() < end
            work()
        assert [one.status for one in openviking.seen if "messages/batch" in one.path] == [200]  # it did arrive
        assert openviking.state.messages() == []
    connections.close_all()


def test_a_deleted_conversation_is_gone_there(server):
    thread = talk()
    said(thread, FIRST)
    mark(thread)
    until_done()
    erase_any(thread)
    until_done()
    assert server.state.sessions() == []
    assert not RemoteSession.objects.exists()
