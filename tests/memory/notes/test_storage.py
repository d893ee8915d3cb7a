"""§1.9: locks, atomic writes, permissions, and what a crash leaves, where notes are files; and what both storages promise."""

import os
import sqlite3
import stat
from pathlib import Path

import pytest
from django.db import OperationalError, transaction

from chat.memory.notes import files as files_module
from chat.memory.notes import journal, rows, store
from chat.memory.notes.base import Place
from chat.memory.notes.storage import Busy, NoOwner
from chat.models import NoteOp, NoteTarget, NoteText, Owner
from tests import builders
from tests.memory.notes.world import TOOL, Killed, MortalOs, World, replayed


def modes(folder: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*")}


@pytest.fixture
def open_umask():
    old = os.umask(0)
    yield
    os.umask(old)


@pytest.mark.usefixtures("open_umask")
def test_folders_are_0700_and_all_files_0600(files: World):
    files.write("add", "甲")
    files.write("add", "乙", place=files.profile)
    files.put("丙" * 5000)
    files.write("add", "丁")
    found = modes(files_module.root())
    assert {name for name in found if "." in name} >= {"MEMORY.md", "MEMORY.md.lock", "USER.md", "USER.md.lock"}
    assert any(".bak." in name for name in found)
    files.put("戊")
    files.write("add", "己")
    found = modes(files_module.root())
    assert {mode for name, mode in found.items() if ".md" in name} == {0o600}
    assert {mode for name, mode in found.items() if ".md" not in name} == {0o700}


def test_a_file_that_others_could_read_is_private_after_a_write(files):
    files.put("甲")
    files.path().chmod(0o644)
    files.write("add", "乙")
    assert stat.S_IMODE(files.path().stat().st_mode) == 0o600


def test_nothing_is_left_beside_the_text(files):
    files.write("add", "甲")
    files.write("remove", "", "甲")
    assert sorted(path.name for path in files.path().parent.iterdir()) == ["MEMORY.md", "MEMORY.md.lock"]
    assert files.raw() == b""


def test_a_link_in_place_of_the_file_is_not_followed(files, tmp_path):
    target = tmp_path / "other"
    target.write_text("秘密")
    files.path().parent.mkdir(parents=True)
    files.path().symlink_to(target)
    assert (files.look().trouble, files.look().entries, files.write("add", "甲").code) == ("unreadable", (), "unreadable")
    assert target.read_text() == "秘密" and store.raw(files.memory) is None


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_link_in_place_of_a_folder_is_not_followed(files, tmp_path, depth):
    elsewhere = tmp_path / "elsewhere"
    folder = [files.folder().parent, files.folder(), files.path().parent][depth - 1]
    elsewhere.mkdir()
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.symlink_to(elsewhere)
    assert files.write("add", "甲").code == "unreadable"
    assert not list(elsewhere.iterdir())


@pytest.mark.parametrize("name", ["MEMORY.md.lock", "MEMORY.md.new", "MEMORY.md.op"])
def test_a_link_in_place_of_a_side_file_is_not_followed(files, tmp_path, name):
    target = tmp_path / "other"
    target.write_text("秘密")
    files.write("add", "甲")
    (files.path().parent / name).unlink(missing_ok=True)
    (files.path().parent / name).symlink_to(target)
    files.write("add", "乙")
    assert target.read_text() == "秘密"
    assert files.entries() in (["甲"], ["甲", "乙"])


def test_a_pipe_in_place_of_the_file_does_not_hang(files):
    files.path().parent.mkdir(parents=True)
    os.mkfifo(files.path())
    assert files.look().trouble == "unreadable"


def test_a_file_of_any_size_is_not_read_into_memory(files):
    files.path().parent.mkdir(parents=True)
    with files.path().open("wb") as file:
        file.truncate(files_module.READ_MOST_BYTES + 1)
    assert files.look().trouble == "unreadable"


@pytest.mark.parametrize("owner", [Owner("../../etc", 1, "a"), Owner("tn_a", 1, "../x"), Owner("tn_a", 1, "a/b"), Owner("", 1, "a")])
def test_no_path_is_made_of_anything_but_ids(files, owner):
    with pytest.raises(NoOwner):
        store.look(Place(owner, NoteTarget.MEMORY))


def test_a_store_that_somebody_holds_is_busy_for_writers_and_open_for_readers(files, settings):
    files.write("add", "甲")
    settings.NOTES_LOCK_SECONDS = 0
    with store.storage().hold(files.memory):
        assert files.entries() == ["甲"]
        assert files.write("add", "乙").code == "busy"
        assert files.write("add", "别处", place=files.profile).is_done
        assert World().write("add", "别人").is_done


def test_no_room_on_the_disk_leaves_everything_as_it_was(files, monkeypatch):
    files.write("add", "甲")

    def full(_file: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files_module.os, "fsync", full)
    assert (files.write("add", "乙").code, files.write("add", "乙").is_terminal) == ("unwritable", True)
    monkeypatch.undo()
    assert (files.entries(), len(files.ops())) == (["甲"], 1)
    assert sorted(path.name for path in files.path().parent.iterdir()) == ["MEMORY.md", "MEMORY.md.lock"]


# A crash


def crash(world: World, monkeypatch, dies_at: int) -> bool:
    """Writes once and dies at that call; says whether it died."""
    mortal = MortalOs(dies_at)
    with monkeypatch.context() as patch:
        patch.setattr(files_module, "os", mortal)
        patch.setattr(journal, "keep", mortal.counted(journal.keep))
        try:
            world.write("replace", "新的甲", "甲")
        except Killed:
            return True
    return False


def test_a_crash_at_any_moment_leaves_the_text_and_the_log_agreeing(files, monkeypatch):
    outcomes = []
    for dies_at in range(100):
        world = World()
        world.write("add", "甲")
        has_died = crash(world, monkeypatch, dies_at)
        with store.storage().hold(world.memory):  # whoever comes next
            pass
        assert world.entries() == replayed(world.ops()) and world.entries() in (["甲"], ["新的甲"])
        assert sorted(path.name for path in world.path().parent.iterdir()) == ["MEMORY.md", "MEMORY.md.lock"]
        outcomes.append(world.entries() == ["新的甲"])
        if not has_died:
            break
    assert not has_died and len(outcomes) > 12
    assert outcomes == sorted(outcomes) and not outcomes[0] and outcomes.count(True) > 2


def test_a_crash_while_the_rest_of_one_is_put_away_changes_nothing(files, monkeypatch):
    for first in range(100):
        for second in range(8, 14):  # the calls that put it away come after those that open the folders
            world = World()
            world.write("add", "甲")
            if not crash(world, monkeypatch, first):
                return
            is_written = world.raw() == "新的甲".encode()
            with monkeypatch.context() as patch:
                patch.setattr(files_module, "os", MortalOs(second))
                try:
                    with store.storage().hold(world.memory):
                        pass
                except Killed:
                    pass
            with store.storage().hold(world.memory):
                pass
            assert world.entries() == replayed(world.ops()) == (["新的甲"] if is_written else ["甲"])


def test_a_text_that_was_edited_by_hand_after_a_crash_keeps_its_line_in_the_log(files, monkeypatch):
    files.write("add", "甲")
    died = [dies_at for dies_at in range(5, 40) if crash(files, monkeypatch, dies_at) and files.raw() == "新的甲".encode()]
    assert died
    files.put("手改的")
    files.write("add", "后来的")
    assert [op.action for op in files.ops()] == ["add", "replace", "add"]
    assert files.entries() == ["手改的", "后来的"]


@pytest.mark.django_db(transaction=True)
def test_the_next_look_keeps_the_line_of_a_writer_that_died(settings, notes_folder, monkeypatch):
    settings.NOTES_STORAGE = "files"
    world = World()
    world.write("add", "甲")
    with monkeypatch.context() as patch:
        patch.setattr(journal, "keep", MortalOs(0).counted(journal.keep))
        with pytest.raises(Killed):
            world.write("add", "乙")
    assert len(world.ops()) == 1
    assert world.entries() == ["甲", "乙"] == replayed(world.ops())


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("storage_name", ["files", "database"], indirect=True)
def test_notes_are_not_written_within_a_transaction_that_may_be_undone(storage_name):
    world = World()
    with pytest.raises(RuntimeError), transaction.atomic():
        world.write("add", "甲")
    assert world.entries() == replayed(world.ops())


def test_the_line_of_a_dead_writer_whose_conversation_is_gone_is_kept_without_it(files, monkeypatch):
    thread = builders.thread(files.user, files.agent)
    author = TOOL.__class__(NoteOp.Origin.TOOL, thread_id=thread.pk, reason="老师说的")
    with monkeypatch.context() as patch:
        patch.setattr(journal, "keep", MortalOs(0).counted(journal.keep))
        with pytest.raises(Killed):
            files.write("add", "甲", author=author)
    thread.delete()
    files.write("add", "乙")
    assert [(op.thread_id, op.reason) for op in files.ops()] == [(None, ""), (None, "")]


# Rows


def test_on_rows_the_step_is_done_again_on_what_somebody_faster_has_written(settings, db, notes_folder, monkeypatch):
    settings.NOTES_STORAGE = "database"
    world, real, others = World(), rows._row, ["乙"]
    world.write("add", "甲")

    def read(place: Place) -> NoteText | None:
        row = real(place)
        if others:
            NoteText.objects.update(text=f"甲\n§\n{others.pop()}", revision=row.revision + 1)
        return row

    monkeypatch.setattr(rows, "_row", read)
    world.write("add", "丙")
    assert (world.entries(), len(world.ops())) == (["甲", "乙", "丙"], 2)


def driver_error(cause: Exception, **facts: object) -> OperationalError:
    """As Django raises it: the driver's own behind it, in whatever language that speaks."""
    for name, value in facts.items():
        setattr(cause, name, value)
    error = OperationalError("…")
    error.__cause__ = cause
    return error


LOCKED = [
    driver_error(sqlite3.OperationalError(), sqlite_errorcode=sqlite3.SQLITE_BUSY),
    driver_error(sqlite3.OperationalError(), sqlite_errorcode=sqlite3.SQLITE_BUSY_SNAPSHOT),
    driver_error(Exception(), sqlstate="55P03"),
    rows._Moved(),
]


@pytest.mark.parametrize("trouble", LOCKED)
def test_rows_that_cannot_be_had_in_time_are_busy(settings, db, notes_folder, monkeypatch, trouble):
    settings.NOTES_STORAGE, settings.NOTES_LOCK_SECONDS = "database", 0
    world = World()

    def refuse(*_arguments: object) -> None:
        raise trouble

    monkeypatch.setattr(rows, "_write", refuse)
    assert world.write("add", "甲").code == "busy"


@pytest.mark.parametrize("trouble", [OperationalError("the block of the disk is broken"), driver_error(Exception(), sqlstate="57P01")])
def test_another_trouble_of_the_database_is_not_taken_for_busy(settings, db, notes_folder, monkeypatch, trouble):
    settings.NOTES_STORAGE = "database"
    world = World()

    def refuse(*_arguments: object) -> None:
        raise trouble

    monkeypatch.setattr(rows, "_write", refuse)
    with pytest.raises(OperationalError):
        world.write("add", "甲")


def test_a_store_that_is_held_is_busy_on_files(files, settings):
    settings.NOTES_LOCK_SECONDS = 0
    with store.storage().hold(files.memory), pytest.raises(Busy), store.storage().hold(files.memory):
        pass
