"""How the layers of a thread catch up: each by itself, again after trouble, and the same after a crash."""

import contextlib
from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from chat.jobs.worker import Worker
from chat.memory import catch_up as catch_up_module
from chat.memory.base import LayerTrouble, LeaseLost
from chat.memory.catch_up import settle, wait_seconds
from chat.memory.layers.thread import ThreadLayer
from chat.models import LayerState, MemoryOp, Run, Summary, Thread, Work
from chat.providers.base import ProviderRateLimited, ProviderUnreachable
from tests import builders
from tests.fakes import scripted
from tests.memory.answering import AnsweringProvider, FreeLease, cloud_agent, long_thread, memory_of, thread_of

pytestmark = pytest.mark.django_db


class TalkingLayer:
    """A layer that says when it is asked to catch up, and fails as it is told."""

    def __init__(self, name: str, *failures: Exception) -> None:
        self.name = name
        self.failures = list(failures)
        self.asked = 0

    def catch_up(self, thread, lease) -> None:
        self.asked += 1
        if self.failures:
            raise self.failures.pop(0)


@pytest.fixture
def use_layers(monkeypatch):
    return lambda *layers: monkeypatch.setattr(catch_up_module, "layers", lambda: layers)


@pytest.fixture
def thread() -> Thread:
    return thread_of(cloud_agent())


def pass_time(thread: Thread) -> None:
    LayerState.objects.filter(thread=thread).update(retry_at=timezone.now() - timedelta(seconds=1))


def test_a_layer_in_trouble_does_not_hold_the_others(thread, use_layers):
    bad, good = TalkingLayer("bad", LayerTrouble("odd")), TalkingLayer("good")
    use_layers(bad, good)
    assert settle(thread.pk, FreeLease()) is not None
    assert (bad.asked, good.asked) == (1, 1)


@pytest.mark.parametrize(
    ("error", "code"),
    [(LayerTrouble("odd"), "odd"), (ProviderUnreachable(), "provider_unreachable"), (ValueError("bug"), "internal_error")],
)
def test_trouble_is_recorded_with_its_code(thread, use_layers, error, code):
    use_layers(TalkingLayer("bad", error))
    later = settle(thread.pk, FreeLease())
    state = LayerState.objects.get()
    assert (state.layer, state.attempts, state.error_code, state.retry_at) == ("bad", 1, code, later.at)
    assert later.error_code == code
    assert state.retry_at > timezone.now()


def test_a_layer_in_trouble_waits_while_the_others_go_on(thread, use_layers):
    bad, good = TalkingLayer("bad", LayerTrouble("odd")), TalkingLayer("good")
    use_layers(bad, good)
    first = settle(thread.pk, FreeLease())
    assert settle(thread.pk, FreeLease()) == first
    assert (bad.asked, good.asked) == (1, 2)


def test_success_forgets_the_trouble(thread, use_layers):
    layer = TalkingLayer("bad", LayerTrouble("odd"), LayerTrouble("odd"))
    use_layers(layer)
    for _ in range(3):
        last = settle(thread.pk, FreeLease())
        pass_time(thread)
    state = LayerState.objects.get()
    assert (last, layer.asked, state.attempts, state.error_code) == (None, 3, 0, "")


def test_the_earliest_of_several_retries_counts(thread, use_layers):
    use_layers(TalkingLayer("late", ProviderRateLimited(retry_after_seconds=300)), TalkingLayer("early", LayerTrouble("odd")))
    assert settle(thread.pk, FreeLease()).error_code == "odd"


def test_a_service_that_names_a_time_is_not_asked_before(thread, use_layers):
    use_layers(TalkingLayer("bad", ProviderRateLimited(retry_after_seconds=300)))
    assert settle(thread.pk, FreeLease()).at > timezone.now() + timedelta(seconds=290)


def test_waits_double_up_to_ten_minutes():
    waits = [wait_seconds(attempts) for attempts in range(1, 40)]
    assert 1 <= waits[0] <= 1.5
    assert 8 <= waits[3] <= 12
    assert waits[-1] == 600


def test_a_lost_lease_is_no_trouble_of_the_layer(thread, use_layers):
    use_layers(TalkingLayer("bad", LeaseLost()))
    with pytest.raises(LeaseLost):
        settle(thread.pk, FreeLease())
    assert not LayerState.objects.exists()


def test_a_worker_that_lost_the_thread_records_no_trouble(thread, use_layers):
    class Lost:
        def renew(self) -> None:
            raise LeaseLost

    use_layers(TalkingLayer("bad", LayerTrouble("odd")))
    with pytest.raises(LeaseLost):
        settle(thread.pk, Lost())
    assert not LayerState.objects.exists()


def test_a_database_that_is_away_is_the_loops_affair(thread, use_layers):
    use_layers(TalkingLayer("bad", OperationalError("database is locked")))
    with pytest.raises(OperationalError):
        settle(thread.pk, FreeLease())
    assert not LayerState.objects.exists()


def test_a_thread_that_is_gone_leaves_no_work():
    Work.objects.mark(Work.Kind.THREAD, "th_gone")
    assert Worker("w").drain() == 0
    assert not Work.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_thread_that_is_deleted_meanwhile_leaves_no_trouble():
    thread = long_thread(7)

    class DeletingLease:
        def renew(self) -> None:
            Run.objects.all().delete()
            Thread.objects.all().delete()

    with scripted(AnsweringProvider()):
        assert settle(thread.pk, DeletingLease()) is None
    assert not LayerState.objects.exists()


def test_an_archived_thread_is_settled_too():
    thread = long_thread(7)
    Thread.objects.update(status="archived")
    with scripted(AnsweringProvider()):
        settle(thread.pk, FreeLease())
    assert Summary.objects.get().upto_slot == 5


def test_the_next_attempt_after_an_outage_catches_up():
    thread = long_thread(7)
    replies = [ProviderUnreachable(), ProviderUnreachable()]
    model = AnsweringProvider(lambda request: replies.pop() if replies else "教师在出试卷。")
    Work.objects.mark(Work.Kind.THREAD, thread.pk)
    with scripted(model):
        for _ in range(3):
            Worker("w").drain()
            pass_time(thread)
            Work.objects.update(due_at=timezone.now())
    assert Thread.objects.get().rolling_summary == "教师在出试卷。"
    outcomes = MemoryOp.objects.order_by("created_at").values_list("outcome", "error_code")
    assert list(outcomes) == [("failed", "provider_unreachable"), ("failed", "provider_unreachable"), ("done", "")]
    assert not Work.objects.exists()


# --- A crash at any line. ---


class Crash(BaseException):
    """The process is gone."""


class CrashAt:
    """Raises at the n-th query, before it is made."""

    def __init__(self, number: int, error: type[BaseException]) -> None:
        self.left = number
        self.error = error

    def __call__(self, execute, sql, params, many, context):
        self.left -= 1
        if self.left == 0:
            raise self.error("now")
        return execute(sql, params, many, context)


def several_steps() -> Thread:
    """A thread whose rounds take three requests."""
    thread = thread_of(cloud_agent(context_tokens=4_096, reply_tokens=1_000))
    for number in range(1, 9):
        builders.run(thread, f"第{number}问", "链表是一种线性结构，插入方便。" * 40)
    Work.objects.mark(Work.Kind.THREAD, thread.pk)
    return thread


def finish_undisturbed(thread: Thread) -> tuple[object, ...]:
    """What a new worker makes of what was left, when leases and waits are over."""
    Work.objects.update(due_at=timezone.now(), lease_until=None)
    pass_time(thread)
    assert Worker("w").drain() == 0
    assert not Work.objects.exists()
    return memory_of(thread)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("error", [Crash, OperationalError])
@pytest.mark.slow
def test_a_crash_at_any_query_ends_in_the_same_state(error, use_layers):
    use_layers(ThreadLayer())
    thread = several_steps()
    with scripted(AnsweringProvider()) as model:
        expected = finish_undisturbed(thread)
        assert len(model.requests) == 3
        crashes = 0
        while True:
            thread = several_steps()
            crash = CrashAt(crashes + 1, error)
            with connection.execute_wrapper(crash), contextlib.suppress(error):
                Worker("w").drain()
            if crash.left > 0:
                break
            crashes += 1
            assert finish_undisturbed(thread)[:2] == expected[:2], f"after a crash at query {crashes}"
            assert [step[:3] for step in memory_of(thread)[3:]] == [step[:3] for step in expected[3:]]
    assert crashes > 40
