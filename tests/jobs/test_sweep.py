"""What the sweep ends and removes."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone

from chat.jobs import sweep as sweep_module
from chat.jobs.sweep import end_lost_ops, remove_old_ledgers, sweep
from chat.memory.notes import store
from chat.memory.notes.base import Author, Place, Write
from chat.memory.notes.erasing import Eraser
from chat.models import MemoryOp, NoteOp, NoteTarget, Owner, Run, RunLedger, Work
from chat.runs.sweep import LOOKS_APART_SECONDS, RunSweeper
from tests import builders

pytestmark = pytest.mark.django_db


def op(thread, minutes: int, **fields) -> MemoryOp:
    return MemoryOp.objects.create(
        tenant_id=thread.tenant_id,
        user_id=thread.user_id,
        thread=thread,
        kind="summary",
        created_at=timezone.now() - timedelta(minutes=minutes),
        **fields,
    )


def test_operations_of_a_killed_worker_are_ended():
    thread = builders.thread(builders.teacher())
    lost, going, done = op(thread, 11), op(thread, 9), op(thread, 11, outcome="done")
    assert end_lost_ops() == 1
    assert end_lost_ops() == 0
    states = {row.pk: (row.outcome, row.error_code) for row in MemoryOp.objects.all()}
    assert states == {lost.pk: ("failed", "interrupted"), going.pk: ("running", ""), done.pk: ("done", "")}


def test_ledgers_are_kept_as_long_as_the_setting_says(settings):
    settings.LEDGER_KEEP_DAYS = 30
    thread = builders.thread(builders.teacher())
    old, young = builders.run(thread), builders.run(thread)
    RunLedger.objects.create(run=old, created_at=timezone.now() - timedelta(days=31))
    RunLedger.objects.create(run=young, created_at=timezone.now() - timedelta(days=29))
    assert remove_old_ledgers() == 1
    assert RunLedger.objects.get().run_id == young.pk
    assert Run.objects.count() == 2


def test_a_dead_run_is_ended_and_its_thread_marked():
    thread = builders.thread(builders.teacher())
    dead = builders.run(thread, output="一、选", status="running", heartbeat_at=timezone.now() - timedelta(minutes=5))
    ticks = iter((0.0, LOOKS_APART_SECONDS, 2 * LOOKS_APART_SECONDS))
    runs = RunSweeper(lambda: next(ticks))
    assert [sweep(runs), sweep(runs)] == [0, 1]
    dead.refresh_from_db()
    assert (dead.status, dead.error_code, dead.output) == ("failed", "interrupted", "一、选")
    assert Work.objects.get().subject_id == thread.pk
    assert sweep(runs) == 0


def test_wording_of_notes_that_was_removed_long_ago_goes_with_the_sweep(settings, tmp_path, monkeypatch):
    settings.DATA_DIR = tmp_path
    monkeypatch.setattr(sweep_module, "_eraser", Eraser())
    agent = builders.agent(builders.school_of(user := builders.teacher()))
    place = Place(Owner(agent.tenant_id, user.pk, agent.pk), NoteTarget.MEMORY)
    for write in (Write("add", "小红书账号"), Write("add", "留着的"), Write("remove", old_text="小红书")):
        store.write(place, write, Author(NoteOp.Origin.PANEL))
    assert sweep(RunSweeper()) == 0
    NoteOp.objects.update(created_at=F("created_at") - timedelta(days=31))
    monkeypatch.setattr(sweep_module, "_eraser", Eraser())
    assert sweep(RunSweeper()) == 1
    assert "小红书" not in str(list(NoteOp.objects.values_list("changes", "request")))
