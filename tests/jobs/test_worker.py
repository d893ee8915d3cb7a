"""The worker's loop."""

import asyncio
import threading
from datetime import timedelta

import pytest
from django.db import OperationalError
from django.utils import timezone

from chat.jobs import worker as worker_module
from chat.jobs.lease import WorkLease
from chat.jobs.worker import Worker
from chat.memory import calls
from chat.memory.catch_up import Later
from chat.memory.external.figures import METER
from chat.models import RemoteFigure, Work, WorkerBeat
from chat.runs import sweep as sweep_module
from tests import builders

pytestmark = pytest.mark.django_db


@pytest.fixture
def handle(monkeypatch):
    """Lets the worker call a function of the test for each row."""

    def use(handler):
        monkeypatch.setitem(worker_module.HANDLERS, Work.Kind.THREAD, handler)

    return use


def mark(*subjects: str) -> None:
    for subject in subjects:
        Work.objects.mark(Work.Kind.THREAD, subject)


def test_draining_works_off_all_that_is_due(handle):
    seen = []
    handle(lambda subject, lease: seen.append(subject))
    mark("th_one", "th_two")
    assert Worker("w").drain() == 0
    assert seen == ["th_one", "th_two"]
    assert not Work.objects.exists()


def test_draining_says_how_much_was_put_off(handle):
    handle(lambda subject, lease: Later(timezone.now(), "provider_timeout") if subject == "th_two" else None)
    mark("th_one", "th_two")
    assert Worker("w").drain() == 1
    assert Work.objects.get().error_code == "provider_timeout"


def test_a_row_that_is_marked_while_it_is_worked_on_is_worked_on_again(handle):
    seen = []

    def work(subject, lease):
        seen.append(subject)
        if len(seen) == 1:
            mark(subject)

    handle(work)
    mark("th_one")
    Worker("w").drain()
    assert seen == ["th_one", "th_one"]


def test_work_that_raises_is_put_off_and_does_not_hold_the_rest(handle):
    seen = []

    def work(subject, lease):
        seen.append(subject)
        if subject == "th_bad":
            raise ValueError("broken")

    handle(work)
    mark("th_bad", "th_good")
    assert Worker("w").drain() == 1
    assert seen == ["th_bad", "th_good"]
    row = Work.objects.get()
    assert (row.error_code, row.attempts, row.lease) == ("internal_error", 1, "")
    assert row.due_at > timezone.now()


def test_draining_inside_a_transaction_keeps_what_was_counted_and_does_not_wait_for_its_end(handle):
    handle(lambda subject, lease: METER.count("work_seen_total"))
    mark("th_one")
    Worker("w").drain()
    assert not METER.has_more
    assert RemoteFigure.objects.get().value == 1


def test_work_that_was_taken_over_is_left_to_the_other(handle):
    def work(subject, lease):
        Work.objects.update(lease="other", lease_until=timezone.now() + timedelta(minutes=1))
        lease.renew()

    handle(work)
    mark("th_one")
    assert Worker("w").drain() == 0
    assert Work.objects.get().lease == "other"


def test_the_subject_is_held_while_it_is_worked_on(handle):
    handle(lambda subject, lease: seen.append(Work.objects.get().lease == lease.token))
    seen = []
    mark("th_one")
    Worker("w").drain()
    assert seen == [True]


def run_until(stop: threading.Event, name: str = "w") -> None:
    Worker(name).run(stop)


@pytest.mark.django_db(transaction=True)
def test_the_loop_survives_a_database_that_is_away(handle, monkeypatch, caplog):
    stop = threading.Event()
    claim = worker_module.claim
    failures = [OperationalError("database is locked"), OperationalError("server closed the connection")]

    def sometimes(kinds, passed_over=()):
        if failures:
            raise failures.pop()
        return claim(kinds, passed_over)

    monkeypatch.setattr(worker_module, "claim", sometimes)
    monkeypatch.setattr(worker_module, "LOOP_WAIT_SECONDS", 0.001)
    handle(lambda subject, lease: stop.set())
    mark("th_one")
    run_until(stop)
    assert not Work.objects.exists()
    assert "database is locked" in caplog.text
    assert "Traceback" in caplog.text


@pytest.mark.django_db(transaction=True)
def test_a_row_that_the_database_did_not_take_back_is_worked_on_soon(handle, monkeypatch):
    stop = threading.Event()
    monkeypatch.setattr(worker_module, "LOOP_WAIT_SECONDS", 0.001)
    finish, seen = WorkLease.finish, []

    def refused_once(lease):
        if len(seen) == 1:
            raise OperationalError("database is locked")
        stop.set()
        finish(lease)

    monkeypatch.setattr(WorkLease, "finish", refused_once)
    handle(lambda subject, lease: seen.append(subject))
    mark("th_one")
    run_until(stop)
    assert seen == ["th_one", "th_one"]
    assert not Work.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_running_worker_gives_signs_of_life_until_it_ends(handle, settings):
    settings.WORKER_POLL_SECONDS = 0.005
    stop = threading.Event()
    WorkerBeat.objects.create(worker="gone", beat_at=timezone.now() - timedelta(hours=2))
    WorkerBeat.objects.create(worker="other", beat_at=timezone.now() - timedelta(minutes=2))
    seen = []

    def look(subject, lease):
        seen[:] = WorkerBeat.objects.order_by("worker").values_list("worker", flat=True)
        if "w" in seen and "gone" not in seen:
            stop.set()
            return None
        return Later(timezone.now(), "waiting")

    handle(look)
    mark("th_one")
    run_until(stop)
    assert seen == ["other", "w"]
    assert list(WorkerBeat.objects.values_list("worker", flat=True)) == ["other"]


@pytest.mark.django_db(transaction=True)
def test_stopping_ends_a_model_call_and_gives_the_row_back_at_once(handle):
    stop = threading.Event()

    async def endless() -> None:
        stop.set()
        await asyncio.Event().wait()

    handle(lambda subject, lease: calls.call(endless()))
    mark("th_one")
    run_until(stop)
    row = Work.objects.get()
    assert (row.lease, row.lease_until, row.attempts) == ("", None, 0)
    assert row.due_at <= timezone.now()


@pytest.mark.django_db(transaction=True)
def test_a_long_model_call_keeps_its_lease(handle, settings):
    settings.LEASE_SECONDS = 1
    stop = threading.Event()
    ends = []

    def work(subject, lease):
        first = Work.objects.get().lease_until

        async def until_renewed() -> None:
            while (now := await asyncio.to_thread(lease_until)) == first:
                await asyncio.sleep(0.01)
            ends.append(now > first)

        calls.call(until_renewed())
        stop.set()

    def lease_until():
        from django.db import connection

        try:
            return Work.objects.get().lease_until
        finally:
            connection.close()

    handle(work)
    mark("th_one")
    run_until(stop)
    assert ends == [True]


@pytest.mark.django_db(transaction=True)
def test_losing_the_lease_ends_the_model_call(handle, settings):
    settings.LEASE_SECONDS = 1
    stop = threading.Event()
    raised = []

    def work(subject, lease):
        Work.objects.update(lease="other", lease_until=timezone.now() + timedelta(minutes=1))
        try:
            calls.call(asyncio.Event().wait())
        except calls.Interrupted:
            raised.append(True)
            stop.set()
            raise

    handle(work)
    mark("th_one")
    run_until(stop)
    assert raised == [True]
    assert Work.objects.get().lease == "other"


def test_draining_looks_twice_at_a_run_that_seems_dead(monkeypatch):
    for module in (worker_module, sweep_module):
        monkeypatch.setattr(module, "LOOKS_APART_SECONDS", 0.01)
    long_ago = timezone.now() - timedelta(hours=1)
    run = builders.run(builders.thread(builders.teacher()), status="running", heartbeat_at=long_ago, finished_at=None, has_memory=False)
    Worker("w").drain()
    run.refresh_from_db()
    assert (run.status, run.error_code) == ("failed", "interrupted")
