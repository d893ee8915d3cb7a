"""The wording of a removed note: kept for undo, then gone from the log, frozen notes, ledgers and backups; on both storages."""

import os
from datetime import timedelta

import pytest
from django.db.models import F

from chat.memory.ledger import ERASED
from chat.memory.notes import decide, erasing, journal, snapshot, store
from chat.memory.notes import told as told_module
from chat.memory.notes.erasing import UNDO_KEPT, Eraser, erase, erase_for_good
from chat.memory.notes.snapshot import has_changed
from chat.memory.notes.storage import READ_MOST_BYTES
from chat.models import Agent, NoteOp, NoteSnapshot, NoteTarget, Run, RunLedger, Thread
from chat.note_lines import note_line
from chat.runs import start
from chat.runs.delete import erase_thread
from chat.runs.finish import Outcome, finish_run
from chat.runs.start import Order, start_run
from tests import builders
from tests.memory.notes.world import HAND, World

SECRET, KEPT = "小红书账号是 hong_2008\n只在周五用", "这个项目的文档任务用反向工作流"


def say(world: World, text: str, thread_id: str = "") -> Run:
    started = start_run(Order(user_id=world.user.pk, agent_id=world.agent.pk, input=text, thread_id=thread_id))
    finish_run(started.run_id, started.thread_id, Outcome(status=Run.Status.COMPLETED, output="好"))
    return Run.objects.get(pk=started.run_id)


def everything(world: World) -> str:
    """All text that is kept of the teacher's notes, anywhere but in the store."""
    ops = [(op.changes, op.request, op.reason) for op in world.ops()]
    frozen = list(NoteSnapshot.objects.filter(thread__user=world.user).values_list("text", flat=True))
    ledgers = list(RunLedger.objects.filter(run__user=world.user).values_list("segments", flat=True))
    return "\n".join([str(ops).replace("\\n", "\n"), *frozen, str(ledgers).replace("\\n", "\n"), str(world.kept())])


def long_ago(world: World) -> None:
    more = UNDO_KEPT + timedelta(days=1)
    NoteOp.objects.filter(user=world.user).update(created_at=F("created_at") - more, decided_at=F("decided_at") - more)


@pytest.fixture
def talked(world: World) -> Run:
    """A conversation that knows both notes, of which one is removed behind its first round."""
    world.write("add", SECRET)
    world.write("add", KEPT)
    world.write("add", SECRET, place=world.profile)
    run = say(world, "你好")
    world.write("remove", "", "小红书", author=HAND)
    return run


def test_a_removal_stays_for_undo_and_then_its_wording_goes_from_everywhere(world, talked):
    assert erase(world.memory) == 0 and everything(world).count("hong_2008") > 4
    long_ago(world)
    ledger = RunLedger.objects.get(run=talked).segments[0]["text"]
    frozen = NoteSnapshot.objects.get(thread=talked.thread).text
    assert erase(world.memory) == 1
    after = RunLedger.objects.get(run=talked).segments[0]["text"]
    # The profile's own block still tells it: there it stands.
    assert after == ledger.replace(SECRET, ERASED, 1) and after.count(SECRET) == 1
    assert NoteSnapshot.objects.get(thread=talked.thread).text == frozen.replace(SECRET, ERASED, 1)
    assert "hong_2008" not in str([(op.changes, op.request) for op in world.ops(target="memory")])
    assert world.entries() == [KEPT] and world.entries(world.profile) == [SECRET]
    assert KEPT in after and str(world.ops()[1].changes).count(KEPT) == 1


def test_ids_places_and_times_stay_and_doing_it_twice_is_doing_it_once(world, talked):
    long_ago(world)
    before = [(op.pk, op.action, op.state, op.created_at) for op in world.ops()]
    erase(world.memory)
    once = everything(world)
    assert erase(world.memory) == 0 and everything(world) == once
    assert [(op.pk, op.action, op.state, op.created_at) for op in world.ops()] == before
    assert world.ops()[-1].changes[0] == {"place": 0, "old": ERASED, "new": None, "is_erased": True}


def test_the_teachers_word_erases_at_once(world, talked):
    assert erase_for_good(world.user, world.ops()[-1].pk).payload["changed"]
    assert "hong_2008" not in str([(op.changes, op.request) for op in world.ops(target="memory")])
    assert erase_for_good(builders.teacher(), world.ops()[-1].pk).code == "gone"


def test_what_stands_in_the_notes_is_never_erased(world, talked):
    assert erase_for_good(world.user, world.ops()[1].pk).payload["changed"] is False
    world.write("add", SECRET)
    long_ago(world)
    assert erase(world.memory) == 0 and not erase_for_good(world.user, world.ops()[0].pk).payload["changed"]
    assert NoteSnapshot.objects.get(thread=talked.thread).text.count(SECRET) == 2


def test_what_is_erased_cannot_be_taken_back(world, talked):
    removal = world.ops()[-1]
    stale = NoteOp.objects.get(pk=removal.pk)
    erase_for_good(world.user, removal.pk)
    assert decide.undo(world.user, removal.pk).code == "erased"
    task = decide._Undo(world.memory, HAND, stale)  # of a window in which it was still there
    with pytest.raises(decide.Refusal, match="erased"):
        task.apply()
    assert world.entries() == [KEPT]
    assert ERASED in note_line(NoteOp.objects.get(pk=removal.pk)).words and not note_line(NoteOp.objects.get(pk=removal.pk)).is_undoable


def test_the_conversation_says_that_the_notes_have_changed_and_its_next_prompt_has_no_word_of_it(world, talked):
    erase_for_good(world.user, world.ops()[-1].pk)
    thread = Thread.objects.select_related("agent", "note_snapshot").get(pk=talked.thread_id)
    assert has_changed(thread)
    system = RunLedger.objects.get(run=say(world, "再来", thread.pk)).segments[0]
    assert system["text"].count(ERASED) == 1 and system["text"].count("hong_2008") == 1
    assert system["source_ids"][1] == snapshot.source_id(thread.note_snapshot)


def test_a_run_that_was_starting_meanwhile_reads_the_notes_again(world, talked, monkeypatch):
    removal, real = world.ops()[-1].pk, start.assemble

    def slow(turn):
        monkeypatch.setattr(start, "assemble", real)
        ledger = real(turn)
        assert erase_for_good(world.user, removal).payload["changed"]
        return ledger

    monkeypatch.setattr(start, "assemble", slow)
    run = say(world, "再来", talked.thread_id)
    assert RunLedger.objects.get(run=run).segments[0]["text"].count("hong_2008") == 1  # that of the profile


def test_what_comes_back_while_it_is_being_erased_stays_in_the_log(world, talked, monkeypatch):
    removal, real = world.ops()[-1].pk, erasing.forget_told

    def slow(*arguments):
        assert decide.undo(world.user, removal).is_done
        return real(*arguments)

    monkeypatch.setattr(erasing, "forget_told", slow)
    erase_for_good(world.user, removal)
    assert SECRET in world.entries() and not any(journal.is_erased(op) for op in world.ops())


@pytest.mark.parametrize("how", ["edit", "replace", "batch", "undo", "outside"])
def test_however_it_was_removed(world, how):
    op_id = world.write("add", SECRET).op_id
    world.write("add", KEPT)
    if how == "edit":
        world.edit(KEPT)
    elif how == "replace":
        world.write("replace", "只在周五用", "小红书")
    elif how == "batch":
        world.batch({"action": "remove", "old_text": "hong_2008"}, {"action": "add", "content": "丙"})
    elif how == "undo":
        decide.undo(world.user, op_id)
    else:
        world.put(KEPT)
        erase(world.memory)
        assert (world.ops()[-1].action, world.ops()[-1].changes[0]["old"]) == ("edit", SECRET)
    long_ago(world)
    assert erase(world.memory) == 1
    assert "hong_2008" not in everything(world) and KEPT in everything(world)


def test_a_removal_from_outside_can_be_taken_back_for_as_long(world):
    world.write("add", SECRET)
    world.write("add", KEPT)
    long_ago(world)
    world.put(KEPT)
    assert erase(world.memory) == 0
    assert decide.undo(world.user, world.ops()[-1].pk).is_done and set(world.entries()) == {SECRET, KEPT}


def test_a_folder_that_is_not_there_is_not_taken_for_one_in_which_all_was_removed(files):
    files.write("add", SECRET)
    long_ago(files)
    notes = files.folder().parents[1]
    notes.rename(notes.with_name("unmounted"))
    assert Eraser().sweep() == 0
    assert [op.action for op in files.ops()] == ["add"]


def test_a_text_that_lies_in_the_storage_that_is_not_in_use_is_not_taken_for_removed(world, settings):
    world.write("add", SECRET)
    long_ago(world)
    settings.NOTES_STORAGE = "database" if settings.NOTES_STORAGE == "files" else "files"
    World().write("add", "甲")  # so that there is something in the other
    assert Eraser().sweep() == 0
    assert [op.action for op in world.ops()] == ["add"] and "hong_2008" in everything(world)


def test_a_proposal_for_what_is_gone_waits_no_more_and_one_that_was_turned_down_is_blank(world):
    world.write("add", SECRET)
    refused = world.write("replace", "新的", "小红书", is_staged=True).op_id
    decide.reject(world.user, refused)
    world.write("remove", "", "小红书", is_staged=True)
    world.write("remove", "", "hong_2008")
    erase_for_good(world.user, world.ops(state="applied")[-1].pk)
    assert [op.state for op in world.ops()] == ["applied", "rejected", "applied"]
    assert "小红书" not in everything(world) and "hong_2008" not in everything(world)
    assert decide.reconsider(world.user, refused).code == "erased"


def test_a_word_in_the_wording_of_what_was_turned_down_goes_when_it_is_said(world):
    refused = world.write("add", SECRET, is_staged=True).op_id
    decide.reject(world.user, refused)
    long_ago(world)
    assert erase(world.memory) == 0 and SECRET in str(world.ops()[0].request["content"])  # so that it is not proposed again
    assert erase_for_good(world.user, refused).payload["changed"]
    assert "hong_2008" not in everything(world)


# Backups


def test_backups_go_with_what_they_hold_and_with_their_age(world):
    world.write("add", SECRET)
    world.put("\r\n§\r\n".join([SECRET.replace("\n", "\r\n"), "长" * 3000]))
    assert world.write("add", "甲").code == "drift"
    world.put("短" * 5000)
    assert world.write("add", "甲").code == "drift" and len(world.kept()) == 2
    world.put(KEPT)
    erase(world.memory)
    erase_for_good(world.user, world.ops()[-1].pk)
    assert world.kept() == [("短" * 5000).encode()]
    for kept_in in store.STORAGES.values():
        for backup in kept_in.backups(world.memory):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(erasing.timezone, "now", lambda at=backup.kept_at: at + UNDO_KEPT + timedelta(days=1))
                erase(world.memory)
    assert world.kept() == []


def test_what_is_put_aside_by_a_save_is_as_old_as_that_save(files):
    files.put(b"x" * (READ_MOST_BYTES + 1))
    os.utime(files.path(), (0, 0))
    assert files.edit("新的").is_done and len(store.backups(files.memory)) == 1
    erase(files.memory)
    assert len(store.backups(files.memory)) == 1


def test_a_short_wording_takes_only_backups_of_which_it_is_an_entry(world):
    world.write("add", "好")
    removed = world.write("remove", "", "好").op_id
    for text in ("很好的长文本", "好\n§\n别的"):
        store.storage().keep_backup(world.memory, text.encode())
    erase_for_good(world.user, removed)
    assert world.kept() == ["很好的长文本".encode()]


def test_a_folder_of_files_that_cannot_be_read_keeps_nothing_from_being_erased_in_rows(world, settings, tmp_path):
    settings.NOTES_STORAGE, settings.DATA_DIR = "database", tmp_path / "other"
    settings.DATA_DIR.mkdir()
    (settings.DATA_DIR / "notes").write_text("no folder")
    world.write("add", SECRET)
    removed = world.write("remove", "", "小红书").op_id
    assert "is_later" not in erase_for_good(world.user, removed).payload
    assert "hong_2008" not in str([(op.changes, op.request) for op in world.ops()])


def test_an_entry_of_which_only_the_beginning_was_told_goes_too(world):
    long = "秘密编号八七六五\n" + "\n".join(f"短行内容{i}春夏秋冬" for i in range(100, 240)) + "\n" + "最后一行非常非常长" * 6
    Agent.objects.filter(pk=world.agent.pk).update(context_tokens=2048, shared_tokens=300, reply_tokens=200)
    world.write("add", long, author=HAND)
    run = say(world, "你好")
    assert snapshot.TOO_LONG in NoteSnapshot.objects.get().text
    erase_for_good(world.user, world.write("remove", "", "秘密编号").op_id)
    told = NoteSnapshot.objects.get().text + RunLedger.objects.get(run=run).segments[0]["text"]
    assert "秘密编号" not in told


def test_a_sweep_ends_after_its_time_and_the_next_goes_on(world, monkeypatch):
    for place in (world.memory, world.profile):
        world.write("add", SECRET, place=place)
        world.write("remove", "", "小红书", place=place)
    long_ago(world)
    clock = iter(range(1000))
    monkeypatch.setattr(erasing.time, "monotonic", lambda: next(clock) * 0.7)
    eraser = Eraser()
    assert [eraser.sweep() for _ in range(3)] == [1, 1, 0]


def test_what_takes_too_long_for_a_request_is_done_by_the_sweep(world, talked, monkeypatch):
    monkeypatch.setattr(erasing, "REQUEST_SECONDS", 0)
    assert erase_for_good(world.user, world.ops()[-1].pk).payload["is_later"]
    assert RunLedger.objects.get(run=talked).segments[0]["text"].count("hong_2008") == 2
    assert Eraser().sweep() == 1
    assert RunLedger.objects.get(run=talked).segments[0]["text"].count("hong_2008") == 1


# What came from a conversation


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("storage_name", ["files", "database"], indirect=True)
def test_what_came_from_a_deleted_conversation_and_was_removed_goes_with_it(storage_name):
    world = World()
    run = say(world, "你好")
    author = HAND.__class__(NoteOp.Origin.TOOL, thread_id=run.thread_id, run_id=run.pk)
    world.write("add", SECRET, author=author)
    world.write("add", KEPT, author=author)
    say(world, "另一个会话")
    world.write("remove", "", "小红书")
    world.write("add", "别处来的")
    world.write("remove", "", "别处来的")
    erase_thread(world.user, run.thread_id)
    assert "hong_2008" not in everything(world)
    assert world.entries() == [KEPT] and KEPT in everything(world) and "别处来的" in everything(world)
    assert not any(op.request.get("erase") for op in world.ops())
    world.write("remove", "", KEPT)  # which is another matter, with its own time for undo
    Eraser().sweep()
    assert KEPT in str(world.ops()[-1].changes)


# A crash, and others at the same time


@pytest.mark.parametrize("dies_in", ["forget_told", "_drop_backups", "_blank"])
def test_whoever_comes_next_ends_what_was_begun(world, talked, monkeypatch, dies_in):
    class Killed(BaseException):
        pass

    def die(*_arguments, **_more):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(erasing, dies_in, die)
        with pytest.raises(Killed):
            erase_for_good(world.user, world.ops()[-1].pk)
    assert Eraser().sweep() == 1
    assert "hong_2008" not in str([(op.changes, op.request) for op in world.ops(target="memory")])
    assert RunLedger.objects.get(run=talked).segments[0]["text"].count("hong_2008") == 1


def test_what_somebody_is_writing_to_is_erased_by_the_sweep(files, settings):
    settings.NOTES_LOCK_SECONDS = 0
    files.write("add", SECRET)
    op_id = files.write("remove", "", "小红书").op_id
    with store.storage().hold(files.memory):
        assert erase_for_good(files.user, op_id).payload["is_later"]
        assert "hong_2008" in str(journal.history(files.user, files.memory)[0].changes)
    Eraser().sweep()
    assert "hong_2008" not in everything(files)


def test_many_stores_are_looked_through_some_at_a_time(world, monkeypatch):
    monkeypatch.setattr(erasing, "STORES_AT_ONCE", 1)
    for place in (world.memory, world.profile):
        world.write("add", SECRET, place=place)
        world.write("remove", "", "小红书", place=place)
    long_ago(world)
    eraser = Eraser()
    assert sum(eraser.sweep() for _ in range(4)) == 2 and eraser.sweep() == 0


def test_only_whole_entries_of_the_stores_own_block_are_taken(world):
    for place, entries in ((world.memory, ["短", "短的那条"]), (world.profile, ["短"])):
        for entry in entries:
            world.write("add", entry, place=place)
    text = snapshot.freeze(world.owner, world.agent, asks=False).text
    left = snapshot.without(text, NoteTarget.MEMORY, ["短"])
    assert left.count(ERASED) == 1 and "短的那条" in left and "\n短\n" in left
    assert snapshot.without(left, NoteTarget.MEMORY, ["短"]) == left
    assert snapshot.without(f"短\n\n{text}\n\n短", NoteTarget.USER, ["短"]).startswith("短\n\n")
    assert told_module.NEEDLES_AT_ONCE > 1
