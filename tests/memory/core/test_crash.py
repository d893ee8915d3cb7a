"""A crash of the worker at any line leaves core memory as if nothing had happened."""

import contextlib

import pytest
from django.db import connection
from django.utils import timezone

from chat.jobs.worker import Worker
from chat.memory import catch_up
from chat.memory.layers.core import CoreLayer
from chat.models import Candidate, CoreEvent, Fact, LayerState, RedlineRecord, Thread, Work
from tests import builders
from tests.fakes import scripted
from tests.memory.core.talking import Learner, answer, thread
from tests.memory.test_catch_up import Crash, CrashAt


def talk() -> Thread:
    """A round to learn from, which says something that may not be kept, too."""
    new = thread()
    builders.run(new, "我教高二，喜欢表格，小明数学考了45分")
    Work.objects.mark(Work.Kind.THREAD, new.pk)
    return new


def finish(new: Thread) -> tuple[object, ...]:
    """What a new worker makes of what was left."""
    Work.objects.update(due_at=timezone.now(), lease_until=None)
    LayerState.objects.update(retry_at=timezone.now())
    Worker("w").drain()
    assert not Work.objects.exists()
    user = new.user
    return (
        sorted(Candidate.objects.for_user(user).values_list("text", "seen", "status")),
        sorted(CoreEvent.objects.for_user(user).values_list("verb", flat=True)),
        RedlineRecord.objects.for_user(user).count(),
        Fact.objects.for_user(user).count(),
        LayerState.objects.get(thread=new, layer="core").upto_slot,
    )


@pytest.mark.django_db(transaction=True)
def test_a_crash_at_any_query_ends_in_the_same_lists(monkeypatch):
    monkeypatch.setattr(catch_up, "layers", lambda: (CoreLayer(),))
    model = Learner(lambda said: answer(*said.split("，"), kind="profile"))
    with scripted(model):
        expected = finish(talk())
        assert expected[0] == [("喜欢表格", 1, "pending"), ("我教高二", 1, "pending")]
        crashes = 0
        while True:
            new = talk()
            crash = CrashAt(crashes + 1, Crash)
            with connection.execute_wrapper(crash), contextlib.suppress(Crash):
                Worker("w").drain()
            if crash.left > 0:
                break
            crashes += 2  # every second query, so that it takes seconds
            assert finish(new) == expected, f"after a crash at query {crashes}"
    assert crashes > 25
