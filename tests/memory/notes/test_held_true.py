"""What is kept stays true: of odd characters, of a store that changed before a yes, of repeats and of half-written files."""

import errno
from typing import Any

import pytest

from chat.memory.notes import decide, files, store
from chat.models import NoteOp
from chat.runs.start import Order, start_run
from tests.memory.notes.test_tools import Turn
from tests.memory.notes.world import World


@pytest.fixture(params=["files", "database"])
def world(transactional_db: None, settings: Any, tmp_path: Any, request: pytest.FixtureRequest) -> World:
    settings.DATA_DIR, settings.NOTES_STORAGE = tmp_path, request.param
    return World()


@pytest.mark.parametrize("content", ["甲\x00乙", "甲\ud800乙"])
def test_characters_that_no_database_holds_keep_nobody_from_going_on(world: World, content: str) -> None:
    assert Turn(world, "记住：甲乙").call("add", content=content, target="user")["changed"]
    start_run(Order(user_id=world.user.pk, agent_id=world.agent.pk, input="你好"))
    assert Turn(world, "记住：丙丁").call("add", content="丙丁", target="user")["changed"]
    assert NoteOp.objects.filter(state="applied").count() == 2


def test_operations_of_a_batch_are_kept_as_the_log_can_hold_them(world: World) -> None:
    odd = [{"action": "add", "content": "甲\x00", "weight": float("nan"), "\x00": "x"}]
    assert Turn(world).call("batch", operations=odd)["staged"]
    assert NoteOp.objects.get().request["operations"] == [{"action": "add", "content": "甲"}]


@pytest.mark.parametrize(("tool", "more"), [("remove", {}), ("replace", {"new_content": "教高三"})])
def test_a_yes_reaches_only_the_entry_that_was_shown(world: World, tool: str, more: dict[str, str]) -> None:
    world.put("我教高二物理")
    Turn(world).call(tool, old_text="高二", **more)
    world.put("高二（3）班周五小测，不能删")
    op = NoteOp.objects.get(state="staged")
    assert decide.approve(world.user, op.pk).code == "changed"
    assert world.entries() == ["高二（3）班周五小测，不能删"]
    assert NoteOp.objects.get(pk=op.pk).state == "staged"


def test_what_a_model_says_again_waits_once(world: World) -> None:
    turn = Turn(world)
    said = {turn.call("add", content="学校有两个机房")["pending_id"] for _ in range(5)}
    assert said == {NoteOp.objects.get(state="staged").pk}


def test_half_a_backup_does_not_pass_for_the_whole(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_file: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    store_of_files, content = store.STORAGES["files"], b"x" * 9_000
    with monkeypatch.context() as patch, pytest.raises(OSError, match="space"):
        patch.setattr(files.os, "fsync", full)
        store_of_files.keep_backup(world.memory, content)
    store_of_files.keep_backup(world.memory, content)
    assert [store_of_files.open_backup(world.memory, one.name).read() for one in store_of_files.backups(world.memory)] == [content]
