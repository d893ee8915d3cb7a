"""What became of what a backend took: followed until it ended, and said when nothing came of it."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.utils import timezone

from chat.jobs.worker import Worker
from chat.memory.external import chosen, forgetting
from chat.memory.external.follow import LONGEST_LOOK_SECONDS, follow_up
from chat.models import RemoteGap, RemoteSession, Thread, Work
from tests.memory.answering import FreeLease
from tests.memory.external.delivering import Away, Delivered, deliver, fails, said, talk
from tests.scripted_backend import scripted_backend

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def backend() -> Iterator[Delivered]:
    with scripted_backend(Delivered()) as made:
        yield made


@pytest.fixture
def thread(backend: Delivered) -> Thread:
    made = talk()
    said(made)
    said(made, "第二问")
    deliver(made)
    return made


def follow():
    return follow_up(RemoteSession.objects.get().pk, FreeLease())


def seconds_of(later) -> float:
    return (later.at - timezone.now()).total_seconds()


def test_a_task_under_way_is_asked_after_again_and_is_no_trouble(backend, thread):
    later = follow()
    assert later.error_code == ""
    assert 0 < seconds_of(later) <= 2
    Work.objects.update(attempts=40)
    assert LONGEST_LOOK_SECONDS - 1 < seconds_of(follow()) <= LONGEST_LOOK_SECONDS


def test_a_task_that_completed_leaves_nothing_to_do(backend, thread):
    backend.outcomes["task-4"] = "completed"
    assert follow() is None
    assert (RemoteSession.objects.get().pending_tasks, RemoteGap.objects.count()) == (0, 0)


@pytest.mark.parametrize("outcome", ["failed", "lost"])
def test_the_rounds_of_a_task_that_came_to_nothing_are_noted_once_each(backend, thread, outcome):
    backend.outcomes["task-4"] = outcome
    backend.points["settled"] = fails(Away())  # noted here, but the backend does not know it
    assert follow().error_code == "memory_unreachable"
    assert follow() is None
    runs = set(thread.runs.values_list("pk", flat=True))
    assert {(gap.run_key, gap.outcome) for gap in RemoteGap.objects.all()} == {(key, outcome) for key in runs}
    assert RemoteGap.objects.count() == 2


def test_a_backend_that_is_away_is_trouble_that_waits_a_minute_at_most(backend, thread):
    backend.failure = Away()
    Work.objects.update(attempts=40)
    later = follow()
    assert later.error_code == "memory_unreachable"
    assert seconds_of(later) <= 60


def test_a_backend_that_is_not_set_up_any_more_is_waited_for_without_a_word_and_not_imported(monkeypatch):
    with scripted_backend(Delivered()):
        thread = talk()
        said(thread)
        deliver(thread)
    asked_for: list[str] = []
    monkeypatch.setattr(chosen, "manager_class", asked_for.append)
    later = follow()
    assert asked_for == []
    assert later.error_code == ""
    assert seconds_of(later) > 300


def test_while_everything_is_forgotten_its_tasks_are_not_followed(backend, thread):
    session = RemoteSession.objects.select_related("scope").get()
    forgetting.ask_scope(forgetting.MemoryScope(session.scope.tenant_key, session.scope.user_key, session.scope.agent_key), "openviking")
    backend.failure = Away()
    assert follow() is None


def test_a_worker_that_drains_does_not_call_waiting_a_failure(backend, thread):
    assert Worker("w").drain() == 0
    row = Work.objects.get(kind="remote")
    assert (row.error_code, row.lease) == ("", "")
    assert row.due_at > timezone.now() - timedelta(seconds=2)


def test_a_worker_that_drains_says_that_the_backend_is_away(backend, thread):
    backend.failure = Away()
    assert Worker("w").drain() == 1
    assert Work.objects.get(kind="remote").error_code == "memory_unreachable"


def test_a_worker_that_ends_lets_the_backend_finish_within_its_time(backend, thread):
    Worker("w").drain()
    assert backend.flushed == [backend.flush_seconds]
    assert backend.is_closed
