"""Folders of notes whose owner is gone: removed with whom was deleted here, put aside for whom the database does not know."""

import time
from pathlib import Path

from django.contrib.auth.models import User

from chat.memory.notes.erasing import Eraser
from chat.memory.notes.files import root
from chat.memory.notes.lost import LostFolders, forget_lost, put_aside
from chat.models import Agent, NoteText
from tests import builders
from tests.memory.notes.world import World


def test_nothing_is_left_of_a_teacher_who_is_deleted(world, django_capture_on_commit_callbacks):
    world.write("add", "甲")
    world.write("add", "教高一", place=world.profile)
    colleague = World(builders.teacher(builders.school_of(world.user)))
    colleague.write("add", "别人的")
    with django_capture_on_commit_callbacks(execute=True):
        User.objects.get(pk=world.user.pk).delete()
    assert not list(root().glob(f"*/*{world.owner.user_id}"))
    assert not NoteText.objects.filter(target="user").exists() and colleague.entries() == ["别人的"]


def test_nothing_is_left_of_an_assistant_or_a_school_that_is_deleted(files, django_capture_on_commit_callbacks):
    files.write("add", "甲")
    files.write("add", "教高一", place=files.profile)
    other = World()
    other.write("add", "乙")
    with django_capture_on_commit_callbacks(execute=True):
        files.agent.delete()
    assert (files.path().parent.exists(), files.entries(files.profile)) == (False, ["教高一"])
    with django_capture_on_commit_callbacks(execute=True):
        builders.school_of(files.user).delete()
    assert not files.folder().parent.exists() and other.entries() == ["乙"] and forget_lost() == 0


def test_folders_of_owners_whom_an_older_database_does_not_know_are_put_aside_and_come_back(
    files, caplog, django_capture_on_commit_callbacks
):
    files.write("add", "甲")
    World().write("add", "乙")
    was = Agent.objects.get(pk=files.agent.pk)
    Agent.objects.filter(pk=was.pk)._raw_delete("default")  # as if it had never been there
    assert (forget_lost(), put_aside(), files.path().exists()) == (1, 1, False)
    assert "put aside" in caplog.text and forget_lost() == 0 and put_aside() == 1
    was.save(force_insert=True)
    assert (forget_lost(), put_aside(), files.entries()) == (1, 0, ["甲"])


def test_what_was_put_aside_is_removed_after_its_time(files, monkeypatch):
    World().write("add", "乙")
    folder = files.folder().parent.with_name(".lost-1000-tn_gone")
    (folder / "1").mkdir(parents=True)
    newer = folder.with_name(f".lost-{int(time.time()) - 86400}-tn_gone2")
    newer.mkdir()
    assert (forget_lost(), folder.exists(), newer.exists()) == (1, False, True)


def test_a_folder_that_is_not_ours_to_touch_holds_up_nothing_and_is_told_once(files, monkeypatch, caplog):
    files.write("add", "甲")
    for name in ("tn_foreign", "tn_other"):
        (root() / name).mkdir()
    real = Path.rename

    def rename(self, target):
        if self.name == "tn_foreign":
            raise PermissionError(13, "not yours")
        return real(self, target)

    monkeypatch.setattr(Path, "rename", rename)
    assert [forget_lost() for _ in range(3)] == [1, 0, 0]
    assert caplog.text.count("tn_foreign") == 1 and put_aside() == 1


def test_a_database_that_knows_none_of_the_schools_removes_nothing(files):
    files.write("add", "甲")
    folder = files.folder().parent
    folder.rename(folder.with_name("tn_of_another_database"))
    builders.tenant()
    assert forget_lost() == 0
    assert (folder.with_name("tn_of_another_database")).exists()


def test_what_a_removal_has_left_is_removed_and_looked_for_once_a_minute(files):
    files.write("add", "甲")
    left = files.folder().with_name(".gone-12-abcd")
    left.mkdir()
    (left / "USER.md").write_text("秘密")
    sweeper = LostFolders()
    assert (sweeper.sweep(), left.exists(), files.entries()) == (0, False, ["甲"])
    files.agent.delete()
    assert sweeper.sweep() == 0


def test_the_eraser_takes_what_was_put_aside_for_nothing_removed_and_it_comes_back(files):
    files.write("add", "甲")
    World().write("add", "乙")
    was = Agent.objects.get(pk=files.agent.pk)
    Agent.objects.filter(pk=was.pk)._raw_delete("default")
    assert (forget_lost(), put_aside()) == (1, 1)
    was.save(force_insert=True)
    Eraser().sweep()
    assert ([op.action for op in files.ops()], files.path().parent.exists()) == (["add"], False)
    files.path().parent.mkdir()
    files.path().with_name("MEMORY.md.lock").touch()
    assert (forget_lost(), put_aside(), files.entries()) == (1, 0, ["甲"])


def test_a_teachers_own_write_brings_back_what_was_put_aside(files):
    files.write("add", "甲")
    folder = files.path().parent
    folder.rename(folder.with_name(f".lost-{int(time.time())}-{folder.name}"))
    files.write("add", "乙")
    assert (files.entries(), put_aside()) == (["甲", "乙"], 0)
