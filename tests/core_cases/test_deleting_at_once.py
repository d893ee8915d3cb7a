"""A conversation is deleted in one tab at the moment in which another decides on what was learnt from it."""

import threading
import time
from collections.abc import Callable

import pytest
from django.db import connection

from chat.memory.core import decide
from chat.models import Candidate, Fact
from chat.runs import delete
from chat.runs.delete import erase_thread
from tests import builders

WAIT_SECONDS = 10.0


def is_somebody_waiting() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        return cursor.fetchone()[0] > 0


@pytest.fixture
def meanwhile(monkeypatch):
    """Deletes the thread, and lets another tab act before the deletion is stored; gives what the other tab was told."""
    if connection.vendor == "sqlite":
        pytest.skip("one writer at a time")

    def both(thread, act: Callable[[], object]) -> object:
        is_deleting, told = threading.Event(), []
        blank = delete.blank

        def slow_blank(*args, **kwargs):
            is_deleting.set()
            end = time.monotonic() + WAIT_SECONDS
            while not is_somebody_waiting() and time.monotonic() < end:
                time.sleep(0.01)
            return blank(*args, **kwargs)

        def other_tab() -> None:
            is_deleting.wait(WAIT_SECONDS)
            try:
                told.append(act())
            except Exception as error:  # noqa: BLE001
                told.append(error)
            finally:
                connection.close()

        monkeypatch.setattr(delete, "blank", slow_blank)
        tab = threading.Thread(target=other_tab)
        tab.start()
        erase_thread(thread.user, thread.pk)
        tab.join()
        return told[0]

    return both


@pytest.fixture
def taught(transactional_db):
    run = builders.run(builders.thread(builders.teacher()), "我教高二，青竹七号")
    key = builders.candidate(run.user, "我教高二", source_run=run, thread=run.thread, quote="我教高二，青竹七号").pk
    return run.thread, key


def test_a_fact_that_is_said_to_be_deleted_is_deleted(taught, meanwhile):
    thread, key = taught
    [confirmed] = decide.confirm(thread.user, [key])
    [told] = meanwhile(thread, lambda: decide.delete(thread.user, [confirmed.fact_id]))
    assert (told.outcome, Fact.objects.get().status) == ("done", "deleted")


def test_a_candidate_is_confirmed_without_the_words_of_what_has_gone(taught, meanwhile):
    thread, key = taught
    [told] = meanwhile(thread, lambda: decide.confirm(thread.user, [key]))
    assert (told.outcome, Candidate.objects.get().status) == ("done", "confirmed")
    assert Fact.objects.values_list("source_run", "quote").get() == (None, "")
