"""What is in the way of notes: full disks, a database that is away, files that cannot be opened, locks that others hold."""

import os
import threading
from queue import Queue

import pytest
from django.db import OperationalError

from chat.memory.notes import files as files_module
from chat.memory.notes import journal, moving, rows, shortcut, store
from chat.memory.notes.moving import move
from chat.memory.notes.storage import LONG_WAITS_MOST, READ_MOST_BYTES, Busy, Unreadable, long_wait
from chat.models import NoteOp, Notice, Run
from chat.runs.start import Order, start_run
from tests.memory.notes.test_storage import driver_error
from tests.memory.notes.test_tools import Turn
from tests.memory.notes.world import World


def refuse(*_arguments, **_more):
    raise OperationalError("the database is away")


def full(*_arguments, **_more):
    raise OSError(28, "No space left on device")


# The disk


def test_a_full_disk_in_a_tool_is_a_code_that_stops_and_a_notice_for_the_teacher(files, monkeypatch):
    turn = Turn(files, "记住：甲")
    monkeypatch.setattr(files_module, "_create", full)
    assert turn.call("add", content="甲")["code"] == "unwritable"
    assert [one.code for one in Notice.objects.all()] == ["notes_failed"]
    assert files.raw() == b""


def test_what_has_failed_behind_the_text_in_place_is_made_up_for(files, monkeypatch):
    for broken in ("fsync", "keep", "unlink"):
        with monkeypatch.context() as patch:
            if broken == "keep":
                patch.setattr(journal, "keep", refuse)
            else:
                real, new = getattr(files_module.os, broken), f"{broken}!".encode()
                there = lambda *args, real=real, new=new, **more: full() if files.raw() == new else real(*args, **more)  # noqa: E731
                patch.setattr(files_module.os, broken, there)
            assert files.write("replace" if files.entries() else "add", f"{broken}!", *files.entries()).is_done
        with store.storage().hold(files.memory):
            pass
    assert files.entries() == ["unlink!"] and [op.changes[0]["new"] for op in files.ops()] == ["fsync!", "keep!", "unlink!"]


# "记住：…"


@pytest.fixture
def plain(files) -> World:
    files.agent.has_tools = False
    files.agent.save()
    return files


def say(world: World, text: str) -> Run:
    return Run.objects.get(pk=start_run(Order(user_id=world.user.pk, agent_id=world.agent.pk, input=text)).run_id)


def test_what_was_noted_is_not_said_to_be_not_noted_when_the_database_fails_behind_it(plain, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(journal, "keep", refuse)
        say(plain, "记住：甲")
    assert plain.raw() == "甲".encode() and not Notice.objects.exists()
    with store.storage().hold(plain.memory):
        pass
    assert [op.state for op in plain.ops()] == ["applied"]


def test_no_run_is_left_behind_when_not_even_the_notice_can_be_kept(plain, monkeypatch):
    monkeypatch.setattr(store, "write", refuse)
    monkeypatch.setattr(shortcut, "_tell", refuse)
    started = start_run(Order(user_id=plain.user.pk, agent_id=plain.agent.pk, input="记住：甲"))
    assert started.prepared is not None


# What cannot be opened


@pytest.mark.parametrize("kind", ["huge", "link", "pipe", "folder"])
def test_what_cannot_be_opened_is_put_aside_when_a_person_replaces_it(files, tmp_path, kind):
    path = files.path()
    path.parent.mkdir(parents=True)
    if kind == "huge":
        with path.open("wb") as file:
            file.truncate(READ_MOST_BYTES + 1)
    elif kind == "link":
        path.symlink_to(tmp_path / "elsewhere")
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    assert files.look().trouble == "unreadable"
    assert files.edit("\n§\n".join(char * 1_200 for char in "长短")).code == "over_budget" and not store.backups(files.memory)
    assert files.edit("甲\n§\n乙").is_done and files.entries() == ["甲", "乙"]
    [backup] = store.backups(files.memory)
    file = store.open_file(files.memory, backup.name)
    assert (file is not None) == (kind == "huge")
    if file is not None:
        with file:
            assert file.seek(0, os.SEEK_END) == READ_MOST_BYTES + 1
    store.storage().drop_backups(files.memory, [backup.name])
    assert not store.backups(files.memory)


def test_only_what_is_a_backup_is_opened_as_one(world):
    world.write("add", "甲")
    for name in ("MEMORY.md", "../USER.md", "MEMORY.md.lock", "MEMORY.md.bak.none"):
        assert store.open_file(world.memory, name) is None
    with pytest.raises(Unreadable):
        store.storage().open_backup(world.memory, "MEMORY.md")


# Locks


def test_of_many_who_meet_a_held_lock_few_wait_for_it(files, settings):
    settings.NOTES_LOCK_SECONDS = 30
    files.write("add", "甲")
    ends: Queue[str] = Queue()

    def write() -> None:
        try:
            with store.storage().hold(files.memory):
                ends.put("held")
        except Busy:
            ends.put("busy")

    threads = [threading.Thread(target=write) for _ in range(12)]
    with store.storage().hold(files.memory):
        for thread in threads:
            thread.start()
        refused = [ends.get(timeout=10) for _ in range(12 - LONG_WAITS_MOST)]
        assert set(refused) == {"busy"} and ends.empty()
    assert [ends.get(timeout=10) for _ in range(LONG_WAITS_MOST)] == ["held"] * LONG_WAITS_MOST
    for thread in threads:
        thread.join()


def test_rows_are_busy_at_once_when_the_places_to_wait_are_taken(settings, db, notes_folder, monkeypatch):
    settings.NOTES_STORAGE, settings.NOTES_LOCK_SECONDS = "database", 30
    world, tried = World(), []

    def locked(*_arguments: object) -> None:
        tried.append(1)
        raise driver_error(Exception(), sqlstate="55P03")

    monkeypatch.setattr(rows, "_write", locked)
    with long_wait(), long_wait():
        assert world.write("add", "甲").code == "busy"
    assert len(tried) == 1
    world.write("add", "甲")
    assert len(tried) == 3


# Moving


def test_nobody_writes_between_the_look_and_the_move(world, settings, monkeypatch):
    world.write("add", "甲")
    old = settings.NOTES_STORAGE
    settings.NOTES_STORAGE = "database" if old == "files" else "files"
    meanwhile: list[str] = []
    real = moving._take

    def take(*arguments):
        settings.NOTES_LOCK_SECONDS = 0
        try:
            if old == "files":  # a process that still has the other setting
                with store.STORAGES[old].hold(world.memory):
                    meanwhile.append("wrote")
        except Busy:
            meanwhile.append("busy")
        settings.NOTES_LOCK_SECONDS = 5
        return real(*arguments)

    monkeypatch.setattr(moving, "_take", take)
    assert move().moved == 1 and world.entries() == ["甲"]
    assert meanwhile == (["busy"] if old == "files" else [])
    assert move().moved == 0


def test_a_text_that_came_there_meanwhile_is_never_replaced(world, settings):
    world.write("add", "甲")
    settings.NOTES_STORAGE = "database" if settings.NOTES_STORAGE == "files" else "files"
    world.put("新的")
    assert [reason for _name, reason in move().left] == ["another text is there"]
    assert world.entries() == ["新的"] and NoteOp.objects.count() == 1
