"""When a review is due: counted from rows, once for each trigger, whatever happens in between (specs/notes_memory.md §3.2)."""

import pytest

from chat.memory.base import LeaseLost
from chat.memory.notes.review_due import counted, note_end
from chat.models import Agent, NoteReview, Run, Thread, Work
from tests import builders
from tests.memory.answering import FreeLease, cloud_agent, replace_run, thread_of

pytestmark = pytest.mark.django_db
STATE = NoteReview.State


def talk(rounds: int = 0, **agent_fields: object) -> Thread:
    thread = thread_of(cloud_agent(**agent_fields))
    say(thread, rounds)
    return thread


def say(thread: Thread, rounds: int, **fields: object) -> None:
    for _ in range(rounds):
        builders.run(thread, "出一份试卷", "好的。", **fields)


def look(thread: Thread) -> NoteReview | None:
    """As a worker that has just read the rows looks."""
    return note_end(Thread.objects.select_related("agent__provider").get(pk=thread.pk), FreeLease())


def totals() -> list[tuple[int, str]]:
    return list(NoteReview.objects.order_by("total").values_list("total", "state"))


def end(state: str = STATE.DONE) -> None:
    NoteReview.objects.filter(state=STATE.QUEUED).update(state=state)
    Work.objects.filter(kind="review").delete()


def test_the_tenth_message_makes_a_review_and_its_work():
    thread = talk(9)
    assert look(thread) is None
    say(thread, 1)
    review = look(thread)
    assert (review.total, review.state, review.user_id, review.agent_id) == (10, STATE.QUEUED, thread.user_id, thread.agent_id)
    assert Work.objects.get(kind="review").subject_id == review.pk
    assert Thread.objects.get(pk=thread.pk).review_total == 10


def test_every_message_is_looked_at_and_each_tenth_makes_one():
    thread = talk()
    for _ in range(35):
        say(thread, 1)
        look(thread)
        end()
    assert totals() == [(10, "done"), (20, "done"), (30, "done")]


def test_looking_again_makes_no_second_one():
    """A restart, and a mark that is delivered twice, are no more than a second look."""
    thread = talk(10)
    look(thread)
    end()
    assert look(thread) is None
    assert totals() == [(10, "done")]


def test_of_two_workers_that_saw_the_same_rows_one_makes_it():
    thread = talk(10)
    seen = [Thread.objects.select_related("agent__provider").get(pk=thread.pk) for _ in range(2)]
    made = [note_end(one, FreeLease()) for one in seen]
    assert [one is not None for one in made] == [True, False]
    assert totals() == [(10, "queued")]


def test_a_worker_that_lost_the_thread_makes_none():
    class Lost:
        def renew(self) -> None:
            raise LeaseLost

    thread = talk(10)
    with pytest.raises(LeaseLost):
        note_end(Thread.objects.select_related("agent__provider").get(pk=thread.pk), Lost())
    assert not NoteReview.objects.exists()
    assert not Work.objects.filter(kind="review").exists()
    assert Thread.objects.get(pk=thread.pk).review_total == 0


@pytest.mark.parametrize(
    "fields", [{"status": "failed", "error_code": "x"}, {"status": "cancelled"}, {"has_memory": False}, {"status": "running"}]
)
def test_other_turns_do_not_count(fields):
    thread = talk(9)
    say(thread, 1, **fields)
    assert look(thread) is None
    assert counted(thread) == 9


def test_a_failed_turn_counts_when_it_is_retried_successfully():
    thread = talk(9)
    failed = builders.run(thread, "再来", "", status="failed", error_code="stream_broken")
    assert look(thread) is None
    replace_run(failed)
    assert look(thread).total == 10


def test_retries_and_edits_of_an_earlier_message_count_once():
    thread = talk(9)
    for _ in range(3):
        replace_run(Run.objects.get(thread=thread, slot=9, is_latest=True))
    assert look(thread) is None
    assert counted(thread) == 9


def test_a_retry_of_a_message_that_was_counted_makes_no_second_review():
    thread = talk(10)
    look(thread)
    end()
    replace_run(Run.objects.get(thread=thread, slot=10, is_latest=True))
    assert look(thread) is None


def test_notices_are_no_messages():
    thread = talk(9)
    thread.notices.create(tenant_id=thread.tenant_id, user_id=thread.user_id, code="review")
    assert look(thread) is None


def test_another_interval_counts_from_then_on():
    thread = talk(10)
    look(thread)
    end()
    Agent.objects.update(review_every=4)
    say(thread, 1)
    assert look(thread) is None
    say(thread, 1)
    assert look(thread).total == 12


def test_zero_means_never():
    assert look(talk(20, review_every=0)) is None


def test_in_an_incognito_thread_there_is_none():
    thread = talk(10)
    Thread.objects.update(is_incognito=True)
    assert look(thread) is None


def test_while_one_is_going_the_next_is_only_written_down():
    thread = talk(10)
    look(thread)
    say(thread, 10)
    review = look(thread)
    assert (review.state, review.error_code) == (STATE.SKIPPED, "skipped_in_flight")
    assert Work.objects.filter(kind="review").count() == 1
    end()
    say(thread, 9)
    assert look(thread) is None
    say(thread, 1)
    assert look(thread).state == STATE.QUEUED


def test_several_messages_between_two_looks_make_one_review():
    """The worker was away, or the conversation is older than reviews are."""
    thread = talk(36)
    assert look(thread).total == 30
    end()
    assert look(thread) is None
    assert totals() == [(30, "done")]


def test_when_nothing_is_due_nothing_is_asked(django_assert_num_queries):
    thread = talk(9)
    row = Thread.objects.select_related("agent__provider").get(pk=thread.pk)
    with django_assert_num_queries(0):
        assert note_end(row, FreeLease()) is None


def test_it_looks_at_the_last_24_messages():
    thread = talk(20)
    review = look(thread)
    assert (review.since_slot, review.upto_slot) == (8, 20)


def test_behind_one_that_failed_it_looks_at_what_was_not_read_too():
    thread = talk(10)
    look(thread)
    end()
    say(thread, 10)
    look(thread)
    end(STATE.FAILED)
    say(thread, 10)
    review = look(thread)
    assert (review.since_slot, review.upto_slot) == (10, 30)


def test_it_never_looks_at_more_than_48_messages():
    thread = talk(10)
    for _ in range(3):
        look(thread)
        end(STATE.FAILED)
        say(thread, 10)
    review = look(thread)
    assert (review.total, review.since_slot, review.upto_slot) == (40, 16, 40)
