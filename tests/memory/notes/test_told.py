"""What tools of notes were given goes with the wording of a note that is erased; on both storages."""

import json

import pytest
from django.db import connection

from chat.memory.ledger import ERASED
from chat.memory.notes.base import Author
from chat.memory.notes.erasing import Eraser, erase_for_good
from chat.models import NoteOp, Run
from chat.runs.finish import Outcome, finish_run
from chat.runs.start import Order, start_run
from tests.memory.notes.world import HAND, World

SECRET, KEPT = "小红书账号是 hong_2008", "回答先给结论"
BLANK = json.dumps({"text": ERASED}, ensure_ascii=False)


def call(name: str, *, is_ok: bool = True, **arguments: object) -> dict[str, object]:
    return {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False), "is_ok": is_ok}


def begun(world: World) -> tuple[str, str]:
    started = start_run(Order(user_id=world.user.pk, agent_id=world.agent.pk, input="记住", thread_id=""))
    return started.run_id, started.thread_id


def ended(world: World, *calls: dict[str, object]) -> Run:
    run_id, thread_id = begun(world)
    finish_run(run_id, thread_id, Outcome(status=Run.Status.COMPLETED, output="好", tool_calls=list(calls)))
    return Run.objects.get(pk=run_id)


def removed_op(world: World) -> str:
    world.write("remove", "", "小红书", author=HAND)
    return world.ops()[-1].pk


@pytest.mark.parametrize(
    "made",
    [
        call("memory_add", content=f" {SECRET} "),
        call("memory_add", is_ok=False, content=SECRET, target="memory"),
        call("memory_replace", old_text="别的", new_content=SECRET),
        call("memory_remove", old_text="hong_2008"),
        call("memory_batch", operations=[{"action": "add", "content": KEPT}, {"action": "add", "content": SECRET}]),
        {"name": "memory_add", "arguments": '{"content": "' + SECRET, "is_ok": False},
    ],
)
def test_what_a_tool_was_given_goes_with_the_note_and_that_it_was_called_stays(world, made):
    world.write("add", SECRET)
    run = ended(world, made)
    assert erase_for_good(world.user, removed_op(world)).payload["changed"]
    run.refresh_from_db()
    assert run.tool_calls == [{"name": made["name"], "arguments": BLANK, "is_ok": made["is_ok"], "is_erased": True}]


def test_other_calls_stay_as_they_were_made(world):
    others = [
        call("memory_add", content=KEPT),
        call("memory_add", content=SECRET, target="user"),  # another store, where it may stand
        call("memory_show"),
        call("kb_search", query=SECRET),
        call("memory_remove", old_text="红楼梦"),
    ]
    world.write("add", SECRET)
    run = ended(world, *others)
    erase_for_good(world.user, removed_op(world))
    run.refresh_from_db()
    assert run.tool_calls == others


def test_another_teachers_calls_stay_as_they_were_made(world):
    other = World()
    run = ended(other, call("memory_add", content=SECRET))
    world.write("add", SECRET)
    erase_for_good(world.user, removed_op(world))
    run.refresh_from_db()
    assert SECRET in run.tool_calls[0]["arguments"]


def test_a_run_that_is_still_going_is_waited_for(world):
    run_id, thread_id = begun(world)
    world.write("add", SECRET, author=Author(NoteOp.Origin.TOOL, thread_id, run_id))
    assert erase_for_good(world.user, removed_op(world)).payload["is_later"]
    made = call("memory_add", content=SECRET)
    finish_run(run_id, thread_id, Outcome(status=Run.Status.COMPLETED, output="好", tool_calls=[made]))
    assert Eraser().sweep() == 1
    assert Run.objects.get(pk=run_id).tool_calls[0]["arguments"] == BLANK


def test_a_run_that_ends_while_the_calls_are_looked_through_is_not_missed(world):
    run_id, thread_id = begun(world)
    world.write("add", SECRET, author=Author(NoteOp.Origin.TOOL, thread_id, run_id))
    removed, is_ended = removed_op(world), []

    def end_behind(execute, sql, params, many, context):
        found = execute(sql, params, many, context)
        if "tool_calls" in sql and "LIKE" in sql and not is_ended:
            is_ended.append(True)
            made = call("memory_add", content=SECRET)
            finish_run(run_id, thread_id, Outcome(status=Run.Status.COMPLETED, output="好", tool_calls=[made]))
        return found

    with connection.execute_wrapper(end_behind):
        erase_for_good(world.user, removed)
    Eraser().sweep()
    assert is_ended
    assert Run.objects.get(pk=run_id).tool_calls[0]["arguments"] == BLANK


def test_a_run_that_is_still_going_is_waited_for_when_its_call_has_changed_nothing(world):
    world.write("add", SECRET)
    run_id, thread_id = begun(world)
    refused = call("memory_add", is_ok=False, content=SECRET)  # it stands there already
    erase_for_good(world.user, removed_op(world))
    finish_run(run_id, thread_id, Outcome(status=Run.Status.COMPLETED, output="好", tool_calls=[refused]))
    Eraser().sweep()
    assert Run.objects.get(pk=run_id).tool_calls[0]["arguments"] == BLANK


@pytest.mark.parametrize("target", ["memories", "", None, ["user"]])
def test_a_call_that_named_no_store_tells_no_wording_either(world, target):
    world.write("add", SECRET)
    run = ended(world, call("memory_add", is_ok=False, content=SECRET, target=target))
    erase_for_good(world.user, removed_op(world))
    run.refresh_from_db()
    assert run.tool_calls[0]["arguments"] == BLANK
