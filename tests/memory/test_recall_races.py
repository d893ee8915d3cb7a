"""Recall is written while the conversation changes: whatever comes between, it says in the end what is so."""

import random
import threading
import time
from collections.abc import Callable

import pytest
from django.db import OperationalError, connection, transaction
from django.utils import timezone

from chat.memory.base import LeaseLost
from chat.memory.recall import keep
from chat.memory.recall.entries import reindex, retitle
from chat.memory.switches import switch_memory
from chat.models import LayerState, Owner, RecallEntry, RedlineRecord, Run, RunLedger, SearchIndex, Tenant, Thread
from chat.models.work import rewind_layers
from chat.runs import start
from chat.runs.delete import erase_any, erase_thread
from chat.runs.errors import RunRefused, ThreadMismatch
from chat.runs.start import Order, start_run
from tests import builders
from tests.memory.answering import FreeLease

SAID = "出一份卷积运算的练习题，学生电话13812345678"


def rename(thread: Thread, title: str) -> None:
    """As the page does it."""
    with transaction.atomic():
        if Thread.objects.filter(pk=thread.pk).update(title=title):
            thread.title = title
            retitle(thread)


def replace(thread: Thread, status: str = "running") -> Run:
    """As the start of an edit does it, for the newest round."""
    with transaction.atomic():
        Thread.objects.filter(pk=thread.pk).update(last_position=thread.last_position)
        old = Run.objects.filter(thread=thread, is_latest=True).order_by("slot").last()
        new = builders.run(Thread.objects.get(pk=thread.pk), "改成讲荷塘月色", "暗号赤松五号", replaces=old, status=status)
        rewind_layers(thread.pk, old.slot)
    return new


@pytest.fixture
def thread(db) -> Thread:
    made = builders.thread(builders.teacher(), title="旧题目")
    builders.run(made, SAID, "第一题。")
    return made


@pytest.fixture
def meanwhile(monkeypatch):
    """Lets something happen after a round was read and before it is kept, once."""

    def settle(thread: Thread, act: Callable[[], object]) -> None:
        parts_of, waiting = keep.parts_of, [act]

        def then(*args, **kwargs):
            found = parts_of(*args, **kwargs)
            if waiting:
                waiting.pop()()
            return found

        monkeypatch.setattr(keep, "parts_of", then)
        keep.catch_up(Thread.objects.get(pk=thread.pk), FreeLease())
        assert not waiting

    return settle


def is_whole(thread: Thread) -> bool:
    return reindex(Owner(thread.tenant_id, thread.user_id))


def test_renamed_meanwhile_it_has_the_new_title(thread, meanwhile):
    meanwhile(thread, lambda: rename(thread, "新题目"))
    assert RecallEntry.objects.get().title == "新题目"
    assert is_whole(thread)


@pytest.mark.parametrize("erase", [lambda thread: erase_any(thread), lambda thread: erase_thread(thread.user, thread.pk)])
def test_deleted_meanwhile_it_leaves_nothing_not_even_a_record(thread, meanwhile, erase):
    RedlineRecord.objects.all().delete()
    meanwhile(thread, lambda: erase(thread))
    assert not RecallEntry.objects.exists() and not LayerState.objects.exists() and not RedlineRecord.objects.exists()
    assert is_whole(thread)


@pytest.mark.parametrize(("status", "inputs"), [("running", []), ("failed", []), ("completed", ["改成讲荷塘月色"])])
def test_replaced_meanwhile_the_old_one_is_not_kept(thread, meanwhile, status, inputs):
    meanwhile(thread, lambda: replace(thread, status))
    assert list(RecallEntry.objects.values_list("input", flat=True)) == inputs
    assert is_whole(thread)


@pytest.mark.parametrize("who", ["teacher", "school"])
def test_switched_off_meanwhile_it_is_not_kept(thread, meanwhile, who):
    def off() -> None:
        if who == "teacher":
            switch_memory(thread.user_id, is_on=False)
        else:
            Tenant.objects.update(has_memory=False)

    meanwhile(thread, off)
    assert not RecallEntry.objects.exists() and not RedlineRecord.objects.filter(layer="recall").exists()


def test_kept_by_somebody_else_meanwhile_it_is_kept_once(thread, meanwhile):
    meanwhile(thread, lambda: keep.catch_up(Thread.objects.get(pk=thread.pk), FreeLease()))
    assert RecallEntry.objects.count() == 1
    assert is_whole(thread)


def test_a_lease_that_is_lost_at_the_last_moment_leaves_nothing(thread):
    class Lost(FreeLease):
        left = 1

        def renew(self) -> None:
            self.left -= 1
            if self.left < 0:
                raise LeaseLost

    with pytest.raises(LeaseLost):
        keep.catch_up(thread, Lost())
    assert not RecallEntry.objects.exists() and not LayerState.objects.filter(upto_slot__gt=0).exists()
    keep.catch_up(thread, FreeLease())
    assert RecallEntry.objects.count() == 1 and is_whole(thread)


def test_a_cursor_that_is_set_back_doubles_nothing(thread):
    for _ in range(3):
        keep.catch_up(thread, FreeLease())
        LayerState.objects.update(upto_slot=0)
    assert RecallEntry.objects.count() == 1 and is_whole(thread)


def test_a_clock_that_goes_backwards_changes_no_order(thread):
    later = builders.run(thread, "第二问", created_at=timezone.now() - timezone.timedelta(days=900))
    keep.catch_up(thread, FreeLease())
    Run.objects.filter(pk=later.pk).update(created_at=timezone.now() + timezone.timedelta(days=900))
    builders.run(thread, "第三问", created_at=timezone.now() - timezone.timedelta(days=20_000))
    keep.catch_up(thread, FreeLease())
    assert list(RecallEntry.objects.order_by("number").values_list("input", flat=True))[1:] == ["第二问", "第三问"]
    assert is_whole(thread)


# --- What the model is told while a conversation goes. ---


def test_what_is_deleted_while_a_run_starts_is_neither_sent_nor_in_its_ledger(thread, monkeypatch):
    keep.catch_up(thread, FreeLease())
    assemble, waiting = start.assemble, [thread]

    def slow(turn):
        found = assemble(turn)
        if waiting:
            erase_any(waiting.pop())
        return found

    monkeypatch.setattr(start, "assemble", slow)
    started = start_run(Order(user_id=thread.user_id, agent_id=thread.agent_id, input="卷积运算的练习题"))
    assert not waiting
    assert "第一题" not in str(started.prepared.request.messages)
    assert [segment["name"] for segment in RunLedger.objects.get(pk=started.run_id).segments] == ["system", "question"]
    assert Run.objects.filter(pk=started.run_id).count() == Run.objects.count() == 1


# --- Everything at once. ---


class Crowd:
    """Some who write, rename, replace, delete, ask and keep, on the same conversations."""

    SECONDS = 4.0

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.user = builders.teacher()
        self.agent = builders.agent(builders.school_of(self.user))
        self.troubles: list[Exception] = []
        for number in range(4):
            builders.run(builders.thread(self.user, self.agent, title=f"卷积{number}"), f"卷积运算第{number}讲")

    def some(self, chance: random.Random) -> Thread | None:
        threads = list(Thread.objects.order_by("pk"))
        return chance.choice(threads) if threads else None

    def act(self, chance: random.Random) -> None:
        thread = self.some(chance)
        what = chance.random()
        if thread is None or what < 0.15:
            order = Order(user_id=self.user.pk, agent_id=self.agent.pk, input=f"卷积运算的练习{chance.random()}")
            self.end(start_run(order).run_id, chance)
        elif what < 0.4:
            last = thread.runs.filter(is_latest=True).order_by("slot").last()
            is_again = chance.random() < 0.5 and last is not None and not last.is_going
            order = Order(
                user_id=self.user.pk,
                agent_id=self.agent.pk,
                input=f"卷积运算的例题{chance.random()}",
                thread_id=thread.pk,
                replaces=last.pk if is_again else "",
            )
            self.end(start_run(order).run_id, chance)
        elif what < 0.6:
            rename(thread, f"题目{chance.random()}")
        elif what < 0.68:
            erase_thread(self.user, thread.pk)
        else:
            keep.catch_up(thread, FreeLease())

    def end(self, run_id: str, chance: random.Random) -> None:
        status = chance.choice(["completed", "completed", "completed", "cancelled"])
        Run.objects.filter(pk=run_id).update(status=status, output="好的，图解如下。", finished_at=timezone.now())

    def one(self, number: int) -> None:
        chance = random.Random(self.seed * 100 + number)
        end = time.monotonic() + self.SECONDS
        try:
            while time.monotonic() < end:
                try:
                    self.act(chance)
                except (RunRefused, ThreadMismatch, keep.Moved):
                    continue
                except OperationalError as error:
                    if "locked" not in str(error):  # SQLite: a writer waits for its turn, and gives up at last
                        raise
        except Exception as error:  # noqa: BLE001
            self.troubles.append(error)
        finally:
            connection.close()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_crowd_leaves_recall_as_it_should_be(seed, settings):
    settings.RUNS_PER_MINUTE = 100_000
    crowd = Crowd(seed)
    tasks = [threading.Thread(target=crowd.one, args=(number,)) for number in range(5)]
    for task in tasks:
        task.start()
    for task in tasks:
        task.join()
    assert crowd.troubles == []
    for thread in Thread.objects.all():
        keep.catch_up(thread, FreeLease())
    wanted = Run.objects.filter(is_latest=True, status="completed").order_by("pk").values_list("pk", "input", "thread__title")
    kept = RecallEntry.objects.order_by("run_id").values_list("run_id", "input", "title")
    assert list(kept) == list(wanted)
    assert SearchIndex.objects.get().records == len(wanted)
    assert reindex(Owner(crowd.agent.tenant_id, crowd.user.pk))
    recalled = [one for row in RunLedger.objects.all() for one in row.segments if one["name"] == "recall" and "卷积" in one["text"]]
    assert recalled
    assert {name for one in recalled for name in one["source_ids"]} <= set(Run.objects.values_list("pk", flat=True))
