"""How far a conversation is at a backend: kept whole, written over what was read only, and nothing announced that is to be forgotten."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from asgiref.sync import sync_to_async

from chat.memory.backends.base import CommitTask, MemoryScope, Sending, Watermark, WatermarkMoved
from chat.memory.external.forgetting import ask_scope
from chat.memory.external.watermarks import Watermarks
from chat.models import RemoteScope, RemoteSession

pytestmark = pytest.mark.django_db(transaction=True)
SCOPE = MemoryScope("tn_one", "7", "ag_one")
NOW = datetime(2026, 5, 4, 12, 30, 0, 250, tzinfo=UTC)
FULL = Watermark(
    submitted=("run_a:user", "run_a:assistant"),
    committed=("run_a:user",),
    sending=Sending(("run_b:user",), 2, NOW),
    tasks=(CommitTask("task-1", ("run_a:user",), NOW),),
    last_task_id="task-1",
    last_archive="viking://user/df_x/sessions/s/history/archive_001",
    passed=(3, 5),
)


@pytest.fixture
def store() -> Watermarks:
    return Watermarks("openviking")


async def test_a_mark_comes_back_as_it_was_saved(store):
    saved = await store.save(SCOPE, "th_one", FULL)
    assert saved == replace(FULL, version=1)
    assert await store.load(SCOPE, "th_one") == saved


async def test_what_is_not_known_is_empty_and_leaves_no_row(store):
    assert await store.load(SCOPE, "th_one") == Watermark()
    assert not await RemoteScope.objects.aexists()


async def test_of_two_that_write_over_the_same_mark_one_is_told(store):
    first = await store.save(SCOPE, "th_one", Watermark())
    second = await store.save(SCOPE, "th_one", replace(first, last_task_id="mine"))
    for version in (0, first.version):
        with pytest.raises(WatermarkMoved):
            await store.save(SCOPE, "th_one", replace(first, version=version, last_task_id="theirs"))
    assert await store.load(SCOPE, "th_one") == second


@pytest.mark.parametrize(
    "other", [MemoryScope("tn_two", "7", "ag_one"), MemoryScope("tn_one", "8", "ag_one"), MemoryScope("tn_one", "7", "")]
)
async def test_another_scope_has_a_mark_of_its_own(store, other):
    await store.save(SCOPE, "th_one", FULL)
    assert await store.load(other, "th_one") == Watermark()
    assert await store.load(SCOPE, "th_two") == Watermark()
    assert await Watermarks("other").load(SCOPE, "th_one") == Watermark()


async def test_a_row_tells_how_many_tasks_are_under_way_and_no_text(store):
    await store.save(SCOPE, "th_one", FULL)
    row = await RemoteSession.objects.aget()
    assert (row.pending_tasks, row.last_task) == (1, "task-1")
    assert set(row.mark) == {"submitted", "committed", "sending", "tasks", "last_task_id", "last_archive", "passed"}


@pytest.mark.parametrize("what", ["scope", "thread"])
async def test_no_new_batch_is_announced_once_it_is_to_be_forgotten(store, what):
    mark = await store.save(SCOPE, "th_one", Watermark())
    if what == "scope":
        await sync_to_async(ask_scope)(SCOPE, "openviking")
    else:
        await RemoteSession.objects.aupdate(forget_asked_at=NOW)
    with pytest.raises(WatermarkMoved):
        await store.save(SCOPE, "th_one", replace(mark, sending=Sending(("run_b:user",), 0, NOW)))
    arrived = await store.save(SCOPE, "th_one", replace(mark, submitted=("run_a:user",)))  # what went before is noted
    assert arrived.version == 2


async def test_a_mark_of_what_was_forgotten_is_not_written_any_more(store):
    mark = await store.save(SCOPE, "th_one", FULL)
    await RemoteSession.objects.all().adelete()
    with pytest.raises(WatermarkMoved):
        await store.save(SCOPE, "th_one", mark)
    assert not await RemoteSession.objects.aexists()
