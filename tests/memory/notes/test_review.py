"""A review from its row to its end: what it reads, how it ends, what is told of it (specs/notes_memory.md §3.2)."""

import asyncio
from datetime import timedelta

import pytest
from django.db import IntegrityError
from django.utils import timezone

from chat.jobs.sweep import end_lost_reviews
from chat.jobs.worker import Worker
from chat.memory.base import LeaseLost
from chat.memory.notes import review_talk, store
from chat.memory.notes.review import run_review
from chat.models import Agent, MemoryOp, NoteOp, NoteReview, Notice, Preference, Run, Tenant, Thread, Work
from chat.providers.base import Delta, ProviderAuthError, ProviderOverloaded, ProviderUnreachable, StreamBroken, Usage
from tests import builders
from tests.fakes import ScriptedProvider, scripted
from tests.memory.answering import AnsweringProvider, FreeLease
from tests.memory.notes.reviewing import END, add, calls, due, entries, ops, review, talk

pytestmark = pytest.mark.django_db
STATE = NoteReview.State


@pytest.fixture
def meanwhile(monkeypatch):
    """Lets the model's side of a test write to the database while it answers."""
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")


def ended(row: NoteReview) -> tuple[str, str]:
    return row.state, row.error_code


# What the model is asked


def test_the_request_has_purpose_thread_tools_and_the_transcript_inside_the_boundary():
    thread = talk()
    row, model = review(thread)
    request = model.requests[0]
    assert (request.purpose, request.thread_id, request.run_id) == ("review", thread.pk, "")
    assert [tool.name for tool in request.tools] == ["memory_show", "memory_add", "memory_replace", "memory_remove", "memory_batch"]
    inside = request.messages[1]["content"].split("[本会话前情 —")[1].split("[本会话前情结束]")[0]
    assert "USER: 第10问" in inside
    assert ended(row) == (STATE.DONE, "")


def test_it_reads_the_window_that_was_due_and_no_later_message():
    thread = talk(20)
    row = due(thread)
    builders.run(thread, "第21问")
    with scripted(ScriptedProvider(END)) as model:
        run_review(row.pk, FreeLease())
    told = model.requests[0].messages[1]["content"]
    assert "第8问" not in told
    assert "第9问" in told
    assert "第21问" not in told
    assert "共 40 条消息，以下是其中 24 条" in told


def test_what_was_sent_while_memory_was_off_is_not_read():
    thread = talk()
    builders.run(thread, "不要记这个", has_memory=False)
    assert "不要记这个" not in review(thread)[1].requests[0].messages[1]["content"]


def test_a_small_window_leaves_the_oldest_out():
    thread = talk(context_tokens=1_200, reply_tokens=200)
    Run.objects.filter(thread=thread).update(input="甲" * 150)
    told = review(thread)[1].requests[0].messages[1]["content"]
    assert 1 <= told.count("USER: ") < 10
    assert "条较早的消息已略去" in told


def test_each_model_call_is_on_memorys_own_bill_and_none_on_a_run():
    thread = talk()
    usage = Delta(usage=Usage(1_000, 10))
    row, _ = review(thread, [*calls(("memory_show", {})), usage], [*END, usage])
    bills = MemoryOp.objects.values_list("kind", "outcome", "input_tokens", "thread")
    assert list(bills) == [("review", "done", 1_000, thread.pk)] * 2
    assert row.steps == 2
    assert not Run.objects.filter(input_tokens__gt=0).exists()


def test_without_a_report_the_calls_and_results_are_counted_too():
    thread = talk()
    review(thread, calls(("memory_show", {})), END)
    first, second = MemoryOp.objects.order_by("created_at").values_list("input_tokens", flat=True)
    assert second > first


# How it ends


def test_nothing_to_save_is_a_good_end_without_a_notice():
    row, _ = review(talk(), calls(("memory_show", {})), END)
    assert ended(row) == (STATE.DONE, "")
    assert not Notice.objects.exists()


def test_a_model_that_never_ends_is_ended_after_eight_steps():
    row, model = review(talk(), calls(("memory_show", {})))
    assert len(model.requests) == 8
    assert ended(row) == (STATE.DONE, "step_limit")


def test_a_model_that_is_silent_after_its_calls_is_done():
    row, _ = review(talk(), calls(add("教高二物理")), [Delta(finish="stop")])
    assert ended(row) == (STATE.DONE, "")


def test_it_takes_no_longer_than_its_time(monkeypatch):
    monkeypatch.setattr(review_talk, "SECONDS_MOST", 0.05)
    row, model = review(talk(), [asyncio.Event()])
    assert ended(row) == (STATE.FAILED, "timeout")
    assert len(model.requests) == 1


@pytest.mark.parametrize(
    ("error", "code"),
    [(ProviderAuthError(), "provider_auth"), (ProviderOverloaded(), "provider_overloaded"), (ValueError("x"), "internal_error")],
)
def test_a_failure_is_a_state_with_a_code_and_is_not_tried_again(error, code):
    thread = talk()
    row, model = review(thread, [error])
    assert ended(row) == (STATE.FAILED, code)
    assert len(model.requests) == 1
    assert row.finished_at is not None
    assert Thread.objects.get(pk=thread.pk).review_total == 10


@pytest.mark.parametrize("error", [ProviderUnreachable(), StreamBroken()])
def test_a_network_error_is_tried_once_more_at_once(error):
    row, model = review(talk(), [error], END)
    assert ended(row) == (STATE.DONE, "")
    assert len(model.requests) == 2


def test_but_only_once_a_call():
    row, model = review(talk(), [ProviderUnreachable()])
    assert ended(row) == (STATE.FAILED, "provider_unreachable")
    assert len(model.requests) == 2


def test_but_only_once_in_a_review():
    row, model = review(talk(), [ProviderUnreachable()], calls(("memory_show", {})), [ProviderUnreachable()], END)
    assert ended(row) == (STATE.FAILED, "provider_unreachable")
    assert len(model.requests) == 3


def test_what_was_written_before_a_failure_stays_and_is_told():
    thread = talk(review_write="all")
    row, _ = review(thread, calls(add("教高二物理")), [ProviderAuthError()])
    assert ended(row) == (STATE.FAILED, "provider_auth")
    assert entries(thread) == ("教高二物理",)
    assert Notice.objects.get().review == row


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda thread: Tenant.objects.update(has_memory=False), "memory_off"),
        (lambda thread: Preference.objects.update_or_create(user=thread.user, defaults={"has_memory": False}), "memory_off"),
        (lambda thread: Agent.objects.update(review_every=0), "review_off"),
        (lambda thread: Agent.objects.update(has_tools=False), "no_tools"),
        (lambda thread: Run.objects.update(is_latest=False), "nothing_to_read"),
    ],
)
def test_it_is_skipped_when_it_cannot_be_made_any_more(change, code):
    thread = talk()
    row = due(thread)
    change(thread)
    with scripted(ScriptedProvider(END)) as model:
        run_review(row.pk, FreeLease())
    row.refresh_from_db()
    assert ended(row) == (STATE.SKIPPED, code)
    assert not model.requests


@pytest.mark.django_db(transaction=True)
def test_memory_that_is_switched_off_meanwhile_ends_it_before_anything_is_written(meanwhile):
    thread = talk(review_write="all")

    def switch_off(request):
        Tenant.objects.update(has_memory=False)
        return calls(add("教高二物理"))

    row = due(thread)
    with scripted(AnsweringProvider(switch_off)):
        run_review(row.pk, FreeLease())
    row.refresh_from_db()
    assert ended(row) == (STATE.SKIPPED, "memory_off")
    assert not NoteOp.objects.exists()
    assert entries(thread) == ()


@pytest.mark.django_db(transaction=True)
def test_a_conversation_that_is_deleted_meanwhile_leaves_nothing_waiting(meanwhile, caplog):
    thread = talk()

    def delete(request):
        Thread.objects.filter(pk=thread.pk).delete()
        return calls(add("教高二物理"))

    row = due(thread)
    with scripted(AnsweringProvider(delete)) as model:
        assert run_review(row.pk, FreeLease()) is None
    assert len(model.requests) == 1
    assert not NoteOp.objects.exists()
    assert not [one for one in caplog.records if one.exc_info]


def test_what_is_proposed_in_the_moment_of_the_deletion_does_not_wait_either(monkeypatch):
    thread = talk()
    write = store.write

    def deleted_meanwhile(*told, **more):
        Thread.objects.filter(pk=thread.pk).delete()
        return write(*told, **more)

    monkeypatch.setattr(store, "write", deleted_meanwhile)
    row = due(thread)
    with scripted(ScriptedProvider(calls(add("教高二物理")), END)):
        run_review(row.pk, FreeLease())
    assert not NoteOp.objects.exists()


# One at a time


def test_a_second_review_of_the_teacher_waits_for_the_first():
    first = talk()
    other = builders.thread(first.user, first.agent)
    for _ in range(10):
        builders.run(other)
    going = due(first)
    NoteReview.objects.filter(pk=going.pk).update(state=STATE.RUNNING)
    waiting = due(Thread.objects.select_related("agent__provider").get(pk=other.pk))
    with scripted(ScriptedProvider(END)) as model:
        later = run_review(waiting.pk, FreeLease())
    assert later.error_code == "teacher_busy"
    assert not model.requests
    NoteReview.objects.filter(pk=going.pk).update(state=STATE.DONE)
    with scripted(ScriptedProvider(END)):
        assert run_review(waiting.pk, FreeLease()) is None
    assert NoteReview.objects.get(pk=waiting.pk).state == STATE.DONE


def test_the_database_itself_holds_one_a_teacher_and_one_a_conversation():
    thread = talk()
    row = due(thread)
    copy = {"tenant_id": row.tenant_id, "user_id": row.user_id, "agent_id": row.agent_id, "thread": thread, "total": 20}
    with pytest.raises(IntegrityError):
        NoteReview.objects.create(**copy)


def test_work_that_is_delivered_twice_asks_once():
    thread = talk()
    row, model = review(thread, calls(add("教高二物理")), END)
    with scripted(model):
        assert run_review(row.pk, FreeLease()) is None
    assert len(model.requests) == 2
    assert NoteOp.objects.count() == 1


def test_a_review_that_is_gone_is_no_work():
    assert run_review("rev_gone", FreeLease()) is None


def test_the_review_of_a_killed_worker_is_taken_up_with_the_steps_that_are_left():
    thread = talk()
    row = due(thread)
    NoteReview.objects.filter(pk=row.pk).update(state=STATE.RUNNING, steps=6, started_at=timezone.now())
    with scripted(ScriptedProvider(calls(("memory_show", {})))) as model:
        run_review(row.pk, FreeLease())
    row.refresh_from_db()
    assert len(model.requests) == 2
    assert (ended(row), row.steps) == ((STATE.DONE, "step_limit"), 8)


def test_what_a_killed_worker_had_proposed_is_not_proposed_again():
    thread = talk()
    row = due(thread)
    for _ in range(2):
        NoteReview.objects.filter(pk=row.pk).update(state=STATE.RUNNING)
        with scripted(ScriptedProvider(calls(add("教高二物理")), END)):
            run_review(row.pk, FreeLease())
    assert ops(row) == [("add", "staged")]
    assert Notice.objects.count() == 2  # the first end was taken back by this test


def test_a_worker_that_lost_its_lease_stores_nothing():
    class Lost(FreeLease):
        def __init__(self) -> None:
            self.renewals = 0

        def renew(self) -> None:
            self.renewals += 1
            if self.renewals > 2:
                raise LeaseLost

    row = due(talk())
    with scripted(ScriptedProvider(calls(add("教高二物理")), END)), pytest.raises(LeaseLost):
        run_review(row.pk, Lost())
    row.refresh_from_db()
    assert row.state == STATE.RUNNING
    assert not NoteOp.objects.exists()


def test_a_review_whose_work_is_lost_is_ended_by_the_sweep():
    row = due(talk())
    long_ago = timezone.now() - timedelta(minutes=11)
    NoteReview.objects.update(state=STATE.RUNNING, created_at=long_ago)
    assert end_lost_reviews() == 0
    Work.objects.filter(kind="review").delete()
    assert end_lost_reviews() == 1
    row.refresh_from_db()
    assert ended(row) == (STATE.FAILED, "interrupted")


def test_the_worker_makes_it_when_the_conversation_is_settled():
    thread = talk()
    Work.objects.mark(Work.Kind.THREAD, thread.pk)
    with scripted(AnsweringProvider(lambda request: "NONE" if request.purpose == "extraction" else "教师在出题。")):
        assert Worker("w").drain() == 0
    assert NoteReview.objects.get().state == STATE.DONE
    assert not Work.objects.filter(kind="review").exists()


def test_old_conversations_are_not_reviewed_until_they_go_on():
    """After an upgrade: nothing is due in a conversation that rests, and in one that goes on once, not for each tenth message."""
    first = talk(36)
    for _ in range(3):
        old = builders.thread(first.user, first.agent)
        for _ in range(12):
            builders.run(old)
    with scripted(AnsweringProvider(lambda request: "NONE" if request.purpose == "extraction" else "教师在出题。")):
        Worker("w").drain()
        assert not NoteReview.objects.exists()
        Work.objects.mark(Work.Kind.THREAD, first.pk)
        Worker("w").drain()
    assert list(NoteReview.objects.values_list("thread", "total", "state")) == [(first.pk, 30, "done")]
