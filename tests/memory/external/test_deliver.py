"""What was said goes to the memory backend: each round once, in order, only what may go, whatever comes between."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chat.memory import calls, catch_up
from chat.memory.backends.base import WatermarkMoved
from chat.memory.external import deliver as module
from chat.memory.external.deliver import messages_of
from chat.models import LayerState, MemoryOp, RecallEntry, RemoteGap, RemoteSession, Run, Thread, Work
from chat.models.work import rewind_layers
from tests import builders
from tests.fakes import scripted
from tests.memory.answering import AnsweringProvider, FreeLease
from tests.memory.external.delivering import Away, Delivered, Killed, Refused, cursor, deliver, fails, ids, in_thread, said, talk
from tests.scripted_backend import scripted_backend

pytestmark = pytest.mark.django_db(transaction=True)
POINTS = ["start", "noted", "arrived", "submitted", "accepted", "end"]


@pytest.fixture
def backend() -> Iterator[Delivered]:
    with scripted_backend(Delivered()) as made:
        yield made


def test_both_sides_of_a_round_go_in_order(backend):
    thread = talk()
    first, second = said(thread), said(thread, "第二问")
    assert deliver(thread) == ""
    assert backend.arrived(thread) == ids(first, second)
    assert cursor(thread) == 2


def test_marks_of_citations_stay_here(backend):
    run = said(talk(), citations=["p1"])
    run.output = "牛顿第二定律[1]。"
    assert [message.content for message in messages_of(run)] == ["我们用人教版", "牛顿第二定律。"]


@pytest.mark.parametrize(
    "fields",
    [
        {"status": "failed", "error_code": "provider_timeout"},
        {"status": "cancelled"},
        {"has_memory": False},
        {"backend": ""},
        {"backend": "noop"},
        {"created_at": timezone.now() - timedelta(days=2)},
    ],
)
def test_what_may_not_go_is_passed_over(backend, fields):
    thread = talk()
    said(thread, **fields)
    assert deliver(thread) == ""
    assert (backend.adds, cursor(thread)) == (0, 1)


def test_nothing_of_an_incognito_thread_goes(backend):
    thread = talk(is_incognito=True)
    said(thread)
    deliver(thread)
    assert backend.adds == 0


def test_a_round_without_an_answer_goes_as_a_question_alone(backend):
    thread = talk()
    run = builders.run(thread, "只有问题", " ", backend="openviking")
    deliver(thread)
    assert backend.arrived(thread) == [f"{run.pk}:user"]


def test_a_round_that_is_still_going_holds_those_behind_it(backend):
    thread = talk()
    first, going, last = said(thread), said(thread, status="running"), said(thread, "第三问")
    deliver(thread)
    assert backend.arrived(thread) == ids(first)
    Run.objects.filter(pk=going.pk).update(status="completed", finished_at=timezone.now())
    deliver(thread)
    assert backend.arrived(thread) == ids(first, going, last)


def test_many_rounds_go_in_several_steps(backend, monkeypatch):
    monkeypatch.setattr(module, "RUNS_AT_ONCE", 2)
    thread = talk()
    runs = [said(thread, f"第{number}问") for number in range(5)]
    deliver(thread)
    assert (backend.arrived(thread), backend.adds, cursor(thread)) == (ids(*runs), 3, 5)


# Trouble


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("error", [Away(), Killed()])
def test_whatever_breaks_off_is_done_again_and_nothing_comes_twice(backend, point, error):
    thread = talk()
    first, second = said(thread), said(thread, "第二问")
    backend.points[point] = fails(error)
    if isinstance(error, Killed):
        with pytest.raises(Killed):
            deliver(thread)
    else:
        assert deliver(thread) == "memory_unreachable"
    assert cursor(thread) == 0
    third = said(thread, "第三问")
    assert deliver(thread) == ""
    assert (sorted(backend.arrived(thread)), cursor(thread)) == (sorted(ids(first, second, third)), 3)


def test_a_worker_that_dies_before_the_cursor_moves_sends_nothing_twice(backend):
    class Lost(FreeLease):
        left = 1

        def renew(self) -> None:
            if not self.left:
                raise Killed
            self.left -= 1

    thread = talk()
    run = said(thread)
    with pytest.raises(Killed):
        module.catch_up(thread, Lost())
    assert (backend.arrived(thread), cursor(thread)) == (ids(run), 0)
    deliver(thread)
    assert (backend.arrived(thread), cursor(thread)) == (ids(run), 1)
    assert Work.objects.filter(kind="remote").count() == 1


@pytest.mark.parametrize("point", POINTS)
def test_two_workers_at_one_thread_send_each_round_once(backend, point, monkeypatch):
    monkeypatch.setattr(calls, "call", asyncio.run)  # two processes have two loops
    backend.unclear_wait = timedelta(seconds=30)
    thread = talk()
    runs = [said(thread), said(thread, "第二问")]
    others = []

    def other_worker() -> None:
        """Goes all the way while the first one stands at the point."""
        others.append(deliver(thread))

    backend.points[point] = lambda: in_thread(other_worker)
    deliver(thread)
    deliver(thread)
    assert others in ([""], ["memory_unclear"])
    assert (sorted(backend.arrived(thread)), cursor(thread)) == (sorted(ids(*runs)), 2)


@pytest.mark.parametrize("point", ["noted", "arrived", "submitted", "accepted"])
def test_a_mark_that_somebody_else_writes_meanwhile_is_looked_up_again(backend, point):
    thread = talk()
    run = said(thread)
    backend.points[point] = lambda: in_thread(lambda: RemoteSession.objects.update(version=F("version") + 1))
    assert deliver(thread) == ""
    assert (backend.arrived(thread), backend.adds, cursor(thread)) == (ids(run), 2, 1)


def test_a_mark_that_never_stays_as_it_is_is_trouble(backend):
    def move() -> None:
        backend.points["start"] = move
        raise WatermarkMoved

    thread = talk()
    said(thread)
    backend.points["start"] = move
    assert deliver(thread) == "memory_moved"
    assert cursor(thread) == 0


def test_a_round_that_is_refused_for_good_is_left_out_and_holds_up_no_other(backend):
    backend.refused = "毒"
    thread = talk()
    first, poison, last = said(thread), said(thread, "毒"), said(thread, "第三问")
    assert deliver(thread) == ""
    assert (backend.arrived(thread), cursor(thread)) == (ids(first, last), 3)
    assert list(RemoteGap.objects.values_list("run_key", "outcome")) == [(poison.pk, "dropped")]


def test_a_refusal_that_is_not_about_the_text_drops_nothing(backend):
    class NotYou(Refused):
        refuses_text = False

    thread = talk()
    said(thread)
    backend.points["start"] = fails(NotYou())
    assert deliver(thread) == "memory_rejected"
    assert not RemoteGap.objects.exists() and cursor(thread) == 0


# While the conversation changes


def replaced(run: Run, text: str = "改成北师大版", **fields: object) -> Run:
    """As the start of an edit does it."""
    with transaction.atomic():
        thread = Thread.objects.get(pk=run.thread_id)
        new = said(thread, text, replaces=run, **fields)
        rewind_layers(run.thread_id, run.slot)
    return new


def test_a_round_that_is_made_anew_goes_too_and_the_others_not_again(backend):
    thread = talk()
    first, second = said(thread), said(thread, "第二问")
    deliver(thread)
    new = replaced(first)
    deliver(thread)
    assert backend.arrived(thread) == ids(first, second, new)
    assert cursor(thread) == 2


def test_rounds_of_a_long_thread_that_are_made_anew_send_no_old_one_again(backend, monkeypatch):
    monkeypatch.setattr(module, "RUNS_AT_ONCE", 3)
    backend.ids_most = 4
    thread = talk()
    runs = [said(thread, f"第{number}问") for number in range(10)]
    deliver(thread)
    runs += [replaced(runs[0]), replaced(runs[6])]
    deliver(thread)
    runs += [replaced(runs[10]), said(Thread.objects.select_related("agent").get(), "又一问")]
    deliver(thread)
    runs += [replaced(runs[3]), replaced(runs[12])]
    deliver(thread)
    assert sorted(backend.arrived(thread)) == sorted(ids(*runs))
    assert cursor(thread) == 14


def test_of_rounds_that_were_made_anew_before_they_went_only_the_last_goes(backend):
    thread = talk()
    new = replaced(said(thread))
    deliver(thread)
    assert backend.arrived(thread) == ids(new)


def test_a_round_that_is_made_anew_while_it_is_on_its_way_is_not_left_out(backend):
    thread = talk()
    first = said(thread)
    news = []
    backend.points["arrived"] = lambda: in_thread(lambda: news.append(replaced(first)))
    deliver(thread)
    assert backend.arrived(thread) == ids(first, *news)
    assert cursor(thread) == 1


def test_an_earlier_round_that_is_made_anew_meanwhile_is_not_passed_over(backend):
    thread = talk()
    first = said(thread)
    deliver(thread)
    second = said(thread, "第二问")
    news = []
    backend.points["arrived"] = lambda: in_thread(lambda: news.append(replaced(first)))
    deliver(thread)
    assert backend.arrived(thread) == ids(first, second, *news)
    assert cursor(thread) == 2


def test_a_new_round_that_is_still_going_stops_the_cursor_before_it(backend):
    thread = talk()
    first, second = said(thread), said(thread, "第二问")
    backend.points["arrived"] = lambda: in_thread(lambda: replaced(first, status="running"))
    deliver(thread)
    assert (backend.arrived(thread), cursor(thread)) == (ids(first, second), 0)


# Another backend


def test_with_the_built_in_backend_nothing_is_looked_at():
    thread = talk(is_agreed=False)
    said(thread, backend="")
    with CaptureQueriesContext(connection) as queries:
        module.catch_up(thread, FreeLease())
    assert not queries.captured_queries and not LayerState.objects.exists()


def test_there_and_back_each_round_is_kept_by_the_backend_that_heard_it():
    agent = builders.agent(builders.tenant())
    backend = Delivered()
    with scripted_backend(backend):
        thread = talk(agent)
        first, waits = said(thread, "第一问"), said(thread, "第二问")
        backend.points["start"] = fails(Away())
        settle(thread)
    said(thread, "第三问", backend="")
    settle(thread)
    recalled = {"第一问", "第二问", "第三问"}
    assert set(RecallEntry.objects.values_list("input", flat=True)) == recalled  # it catches up with what it had left
    with scripted_backend(backend):
        last = said(thread, "第四问")
        LayerState.objects.update(retry_at=None)
        settle(thread)
        assert backend.arrived(thread) == ids(first, waits, last)
        assert set(RecallEntry.objects.values_list("input", flat=True)) == recalled
    assert MemoryOp.objects.filter(kind="extraction").count() == 1  # of the one round that was heard here


def test_an_assistant_with_another_choice_keeps_to_it(backend, settings):
    settings.MEMORY_MANAGER_PER_AGENT = True
    school = builders.tenant()
    own, usual = talk(builders.agent(school, memory_manager="builtin")), talk(builders.agent(school))
    none = talk(builders.agent(school, memory_manager="noop"))
    kept, gone = said(own, "自己记", backend=""), said(usual, "别处记")
    said(none, "不记", backend="noop")
    for thread in (own, usual, none):
        settle(thread)
    assert list(RecallEntry.objects.values_list("run_id", flat=True)) == [kept.pk]
    assert [key[1] for key in backend.archived] == [gone.thread_id]
    assert (cursor(own), cursor(usual), cursor(none)) == (0, 1, 0)


def settle(thread: Thread) -> None:
    """All layers of the thread, as the worker does it; its model knows nothing worth keeping."""
    with scripted(AnsweringProvider(lambda request: "NONE")):
        catch_up.settle(thread.pk, FreeLease())
