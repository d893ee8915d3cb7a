"""What goes to a memory backend goes with the teacher's leave, and what could not go is said."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.utils import timezone

from chat.memory import catch_up
from chat.memory.backends.base import BackendClosed, BackendMisconfigured
from chat.memory.external import chosen, forgetting
from chat.memory.switches import switch_memory
from chat.models import LayerState, Owner, RedlineRecord, RemoteGap, RemoteScope, RemoteSession, Tenant, Thread, Work
from chat.runs.delete import erase_any
from tests import builders
from tests.fakes import scripted
from tests.memory.answering import AnsweringProvider, FreeLease
from tests.memory.external.delivering import Away, Delivered, agree, cursor, deliver, fails, ids, in_thread, said, talk
from tests.scripted_backend import NAME, scripted_backend

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def backend() -> Iterator[Delivered]:
    with scripted_backend(Delivered()) as made:
        yield made


def owner_of(thread: Thread) -> Owner:
    return Owner(thread.tenant_id, thread.user_id, thread.agent_id)


# Leave


def test_a_teacher_who_was_not_asked_yet_sends_nothing(backend):
    thread = talk(is_agreed=False)
    said(thread)
    deliver(thread)
    assert (backend.adds, cursor(thread)) == (0, 1)


def test_only_what_was_said_after_the_teacher_agreed_goes(backend):
    thread = talk(is_agreed=False)
    said(thread, created_at=timezone.now() - timedelta(hours=3))
    agree(owner_of(thread), ago=timedelta(hours=2))
    after = said(thread, "第二问")
    deliver(thread)
    assert backend.arrived(thread) == ids(after)


def test_what_waits_when_the_teacher_withdraws_does_not_go_any_more(backend):
    thread = talk()
    said(thread)
    backend.points["start"] = fails(Away())
    assert deliver(thread) == "memory_unreachable"
    agree(owner_of(thread), is_agreed=False)
    assert deliver(thread) == ""
    assert (backend.arrived(thread), cursor(thread)) == ([], 1)


def test_what_was_said_while_the_teacher_had_withdrawn_does_not_go_when_they_agree_again(backend):
    thread = talk()
    agree(owner_of(thread), is_agreed=False)
    said(thread)
    agree(owner_of(thread), ago=timedelta(minutes=5))
    after = said(thread, "第二问", created_at=timezone.now())
    deliver(thread)
    assert backend.arrived(thread) == ids(after)


@pytest.mark.parametrize("who", ["teacher", "school"])
def test_nothing_goes_while_memory_is_off_and_what_was_said_before_goes_when_it_is_on(backend, who):
    thread = talk()
    run = said(thread)

    def switch(is_on: bool) -> None:
        if who == "teacher":
            switch_memory(thread.user_id, is_on=is_on)
        else:
            Tenant.objects.update(has_memory=is_on)

    switch(False)
    deliver(thread)
    assert (backend.adds, cursor(thread)) == (0, 0)
    switch(True)
    deliver(thread)
    assert backend.arrived(thread) == ids(run)


def test_two_teachers_are_two_scopes(backend):
    agent = builders.agent(builders.tenant())
    one = talk(agent)
    other_user = builders.teacher(agent.tenant)
    agree(Owner(agent.tenant_id, other_user.pk, agent.pk))
    other = builders.thread(other_user, agent)
    for thread in (one, other):
        said(thread)
        deliver(thread)
    assert {key[0].user_id for key in backend.archived} == {str(one.user_id), str(other.user_id)}
    assert RemoteScope.objects.count() == 2


def test_what_the_red_lines_take_out_is_recorded_once(backend):
    thread = talk()
    said(thread, "学生的电话13812345678")
    backend.points["end"] = fails(Away())
    deliver(thread)
    deliver(thread)
    assert [(one.layer, "138" in one.excerpt) for one in RedlineRecord.objects.filter(layer="external")] == [("external", False)]


# Forgetting


def test_nothing_goes_while_everything_is_being_forgotten_and_afterwards_only_what_was_said_since(backend):
    thread = talk()
    said(thread, created_at=timezone.now() - timedelta(seconds=5))
    scope = forgetting.scope_of(owner_of(thread))
    forgetting.ask_scope(scope, NAME)
    after = said(thread, "第二问", created_at=timezone.now() + timedelta(seconds=1))
    assert deliver(thread) == ""
    assert (backend.adds, cursor(thread)) == (0, 0)
    assert forgetting.forget(RemoteScope.objects.get().pk, FreeLease()) is None
    assert Work.objects.filter(kind="thread", subject_id=thread.pk).exists()  # which waited for it
    deliver(thread)
    assert backend.arrived(thread) == ids(after)


def test_asked_to_forget_when_it_is_just_to_go_nothing_goes(backend):
    thread = talk()
    said(thread)
    scope = forgetting.scope_of(owner_of(thread))
    backend.points["start"] = lambda: in_thread(lambda: forgetting.ask_scope(scope, NAME))
    assert deliver(thread) == ""
    assert (backend.arrived(thread), cursor(thread)) == ([], 0)


def test_a_teacher_who_withdraws_when_it_is_just_to_go_sends_nothing(backend):
    thread = talk()
    said(thread)
    backend.points["start"] = lambda: in_thread(lambda: agree(owner_of(thread), is_agreed=False))
    assert deliver(thread) == ""
    assert (backend.arrived(thread), cursor(thread)) == ([], 1)


def test_a_thread_that_is_deleted_before_its_first_words_go_sends_none(backend):
    thread = talk()
    said(thread)
    backend.points["start"] = lambda: in_thread(lambda: erase_any(thread))
    deliver(thread)
    assert backend.arrived(thread) == []
    assert RemoteSession.objects.get().forget_asked_at is not None


def test_one_that_is_deleted_while_its_first_words_are_on_their_way_is_forgotten_there(backend):
    thread = talk()
    said(thread)
    backend.points["arrived"] = lambda: in_thread(lambda: erase_any(thread))
    deliver(thread)
    assert not LayerState.objects.exists()
    session = RemoteSession.objects.get()
    assert session.forget_asked_at is not None
    assert Work.objects.filter(kind="remote", subject_id=session.pk).exists()


def test_a_worker_that_comes_late_sends_nothing_of_what_was_forgotten_meanwhile(backend):
    thread = talk()
    said(thread)
    scope = forgetting.scope_of(owner_of(thread))

    def forget_all() -> None:
        forgetting.ask_scope(scope, NAME)
        RemoteSession.objects.all().delete()
        RemoteScope.objects.update(forgotten_at=timezone.now(), forget_asked_at=None)

    backend.points["loaded"] = lambda: in_thread(forget_all)
    deliver(thread)
    assert backend.arrived(thread) == []


# Trouble


def settle(thread: Thread) -> catch_up.Later | None:
    with scripted(AnsweringProvider(lambda request: "NONE")):
        return catch_up.settle(thread.pk, FreeLease())


def test_trouble_is_a_state_of_the_layer_and_holds_no_other_one(backend):
    thread = talk()
    said(thread)
    backend.points["start"] = fails(Away())
    later = settle(thread)
    state = LayerState.objects.get(layer="external")
    assert (later.error_code, state.error_code, state.upto_slot) == ("memory_unreachable", "memory_unreachable", 0)
    assert LayerState.objects.get(layer="core").upto_slot == 1


def test_a_backend_that_drops_says_which_rounds_were_not_captured(backend):
    backend.drops_writes = True
    thread = talk()
    lost = [said(thread), said(thread, "第二问")]
    backend.points["start"] = fails(Away())
    assert deliver(thread) == ""
    kept = said(thread, "第三问")
    deliver(thread)
    gaps = RemoteGap.objects.order_by("pk").values_list("run_key", "outcome")
    assert set(gaps) == {(run.pk, "dropped") for run in lost}
    assert (backend.arrived(thread), cursor(thread)) == (ids(kept), 3)


@pytest.mark.parametrize("error", [BackendClosed(), BackendMisconfigured("base_url: missing")])
def test_what_is_no_fault_of_the_rounds_drops_none(backend, error):
    backend.drops_writes = True
    thread = talk()
    said(thread)
    backend.points["start"] = fails(error)
    assert deliver(thread) == error.code
    assert not RemoteGap.objects.exists() and cursor(thread) == 0


def test_a_backend_that_cannot_be_made_is_trouble_and_no_other_one_takes_its_place(settings):
    settings.MEMORY_MANAGER = "openviking"  # without any configuration
    chosen.forget_managers()
    try:
        thread = talk(is_agreed=False)
        said(thread)
        later = settle(thread)
        assert later.error_code == "memory_misconfigured"
        assert not LayerState.objects.filter(layer="recall").exists()
    finally:
        chosen.forget_managers()


def test_tasks_that_are_under_way_are_followed(backend):
    thread = talk()
    said(thread)
    deliver(thread)
    session = RemoteSession.objects.get()
    assert (session.pending_tasks, session.thread_key) == (1, thread.pk)
    assert list(Work.objects.values_list("kind", "subject_id")) == [("remote", session.pk)]
