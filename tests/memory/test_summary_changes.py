"""The rolling summary when the conversation changes: while the model is being asked, and before the cursor."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from chat.jobs.lease import claim
from chat.memory.base import LeaseLost
from chat.memory.summary import catch_up
from chat.models import Run, Summary, Thread, Work
from chat.models.thread import rewind
from chat.text.boundary import SUMMARY_LABEL
from tests import builders
from tests.fakes import scripted
from tests.memory.answering import AnsweringProvider, digest, long_thread, memory_of, replace_run, settle

pytestmark = pytest.mark.django_db


class MeddlingLease:
    """A lease that, between the look at the rounds and the answer, lets something happen once."""

    def __init__(self, happens) -> None:
        self.happens = [happens]

    def renew(self) -> None:
        if self.happens:
            self.happens.pop()()


# --- Changes while the model is being asked. ---


def test_a_worker_that_lost_the_thread_changes_nothing():
    thread = long_thread(7)
    Work.objects.mark(Work.Kind.THREAD, thread.pk)
    lease = claim([Work.Kind.THREAD])
    before = memory_of(thread)

    class LostAtTheEnd:
        calls = 0

        def renew(self) -> None:
            self.calls += 1
            if self.calls == 2:
                Work.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
                assert claim([Work.Kind.THREAD]) is not None
            lease.renew()

    with scripted(AnsweringProvider()), pytest.raises(LeaseLost):
        catch_up(thread, LostAtTheEnd())
    assert memory_of(thread) == before


@pytest.mark.parametrize("slot", [1, 3, 5])
def test_a_round_that_was_replaced_meanwhile_is_summed_up_in_its_new_form(slot):
    thread = long_thread(7)

    def replace() -> None:
        replace_run(Run.objects.get(thread=thread, slot=slot))
        rewind(thread.pk, slot)

    model = AnsweringProvider()
    with scripted(model):
        catch_up(thread, MeddlingLease(replace))
    assert len(model.requests) == 2
    assert "换过的回答" not in model.prompts[0]
    assert "换过的回答" in model.prompts[1]
    assert Summary.objects.get().text == digest(model.requests[1])


def test_a_round_before_the_cursor_that_was_replaced_meanwhile_takes_the_summary_back():
    thread = long_thread(7)
    settle(thread)
    for number in range(8, 13):
        builders.run(thread, f"第{number}问。")

    def replace() -> None:
        replace_run(Run.objects.get(thread=thread, slot=2))
        rewind(thread.pk, 2)

    model = AnsweringProvider()
    with scripted(model):
        catch_up(thread, MeddlingLease(replace))
    assert "换过的回答" in model.prompts[1]
    assert SUMMARY_LABEL not in model.prompts[1]
    thread.refresh_from_db()
    assert thread.summary_upto_slot == 10
    assert Summary.objects.get().text == thread.rolling_summary == digest(model.requests[1])


def test_a_replacement_that_is_still_going_holds_the_summary_before_it():
    thread = long_thread(7)

    def replace() -> None:
        replace_run(Run.objects.get(thread=thread, slot=3), "", status="running")
        rewind(thread.pk, 3)

    with scripted(AnsweringProvider()):
        catch_up(thread, MeddlingLease(replace))
    thread.refresh_from_db()
    assert (thread.summary_upto_slot, thread.rolling_summary) == (0, "")
    assert not Summary.objects.exists()


# --- Going back. ---


def steps_of(thread: Thread) -> list[int]:
    return list(Summary.objects.filter(thread=thread).order_by("upto_slot").values_list("upto_slot", flat=True))


def thread_with_steps() -> Thread:
    thread = long_thread(7)
    settle(thread)
    for number in range(8, 18):
        builders.run(thread, f"第{number}问。")
        settle(thread)
    assert steps_of(thread) == [5, 10, 15]
    return thread


@pytest.mark.parametrize(("slot", "left"), [(16, [5, 10, 15]), (15, [5, 10]), (11, [5, 10]), (10, [5]), (6, [5]), (5, []), (1, [])])
def test_going_back_ends_at_the_newest_step_before_the_slot(slot, left):
    thread = thread_with_steps()
    rewind(thread.pk, slot)
    assert steps_of(thread) == left
    thread.refresh_from_db()
    assert thread.summary_upto_slot == (left[-1] if left else 0)
    last = Summary.objects.filter(thread=thread).order_by("-upto_slot").first()
    assert thread.rolling_summary == (last.text if last else "")
    assert thread.summary_upto_at == (last.upto_at if last else None)


def test_after_going_back_the_summary_is_what_it_would_have_been():
    thread = thread_with_steps()
    replace_run(Run.objects.get(thread=thread, slot=12))
    rewind(thread.pk, 12)
    model = settle(thread)
    assert re.search("换过的回答", model.prompts[0])
    assert steps_of(thread)[-1] == 15
    assert SUMMARY_LABEL + Summary.objects.get(thread=thread, upto_slot=10).text in model.prompts[0]
