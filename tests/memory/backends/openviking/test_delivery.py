"""Writing: every message once, whatever fails in between (seed 002 §7.3)."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import httpx
import pytest

from chat.memory.backends.base import BackendError, MemoryScope, WatermarkMoved
from chat.memory.backends.openviking import errors
from chat.memory.backends.openviking.delivery import IDS_MOST
from tests.memory.backends.openviking.wire import SCOPE, SESSION, World, good, once, said

BATCH, COMMIT, ENSURE = r"POST .*/batch", r"POST .*/commit", r"GET .*/sessions/"
LONG_AGO = timedelta(seconds=11)  # longer than an unclear batch is waited for


async def broken(call, kind=BackendError):
    with pytest.raises(kind) as caught:
        await call
    return caught.value


def wait_long(world):
    """Makes the batch that is unclear one that was waited for."""
    mark = world.marks.mark()
    if mark.sending:
        world.marks.kept[SCOPE, "th_1"] = replace(mark, sending=replace(mark.sending, at=mark.sending.at - LONG_AGO))


async def test_an_add_ensures_the_session_sends_a_batch_commits_and_notes_it():
    world = World()
    added = await world.manager().add(SCOPE, "th_1", said("Which chalk?", "Blue."))
    session = f"/api/v1/sessions/{SESSION}"
    assert world.paths() == [session, f"{session}/messages/batch", f"{session}/commit"]
    assert world.state.messages(SESSION) == ["Which chalk?", "Blue."] and not world.state.live()
    mark = world.marks.mark()
    assert (mark.submitted, mark.committed, mark.sending) == (("m1", "m2"), ("m1", "m2"), None)
    assert (added.sent, [task.task_id for task in mark.tasks], mark.last_task_id) == (2, [added.task_id], added.task_id)
    assert mark.last_archive.endswith("/history/archive_001")


async def test_the_same_messages_are_not_sent_again_and_cost_no_request():
    world = World()
    await world.manager().add(SCOPE, "th_1", said("Which chalk?", "Blue."))
    requests = len(world.seen)
    added = await world.manager().add(SCOPE, "th_1", said("Which chalk?", "Blue."))
    assert (added.sent, added.task_id, len(world.seen)) == (0, "", requests)


async def test_only_what_is_new_is_sent():
    world = World()
    manager = world.manager()
    await manager.add(SCOPE, "th_1", said("one", "two"))
    assert (await manager.add(SCOPE, "th_1", said("one", "two", "three", "four"))).sent == 2
    assert world.state.messages(SESSION) == ["one", "two", "three", "four"]


async def test_nothing_to_say_is_nothing_to_send():
    world = World()
    assert (await world.manager().add(SCOPE, "th_1", said(" "))).sent == 0 and not world.seen


async def test_long_histories_go_in_batches_that_the_server_takes():
    world = World()
    added = await world.manager().add(SCOPE, "th_1", said(*(f"line {at}" for at in range(230))))
    assert (added.sent, [len(body["messages"]) for body in world.bodies("/batch")]) == (230, [100, 100, 30])
    assert world.state.messages(SESSION) == [f"line {at}" for at in range(230)] and len(world.bodies("/commit")) == 1


async def test_the_mark_holds_ids_in_a_bounded_window_and_no_text():
    world = World()
    manager = world.manager()
    for start in range(1, 602, 100):
        await manager.add(SCOPE, "th_1", said(*(f"line {at}" for at in range(100)), start=start))
    mark = world.marks.mark()
    assert len(mark.submitted) == len(mark.committed) == IDS_MOST and mark.submitted[-1] == "m700"
    assert "line" not in repr(mark)


async def test_more_than_the_window_at_once_is_not_sent_twice_when_it_is_repeated():
    world = World()
    messages = said(*(f"line {at}" for at in range(IDS_MOST + 150)))
    for _ in range(2):
        await world.manager().add(SCOPE, "th_1", messages)
    assert len(world.state.messages(SESSION)) == IDS_MOST + 150


async def test_a_batch_whose_answer_was_lost_is_found_to_have_arrived():
    world = World()
    manager = world.manager()
    world.after = once(httpx.ReadError("gone"), BATCH)
    await broken(manager.add(SCOPE, "th_1", said("one", "two")))
    assert world.marks.mark().sending.message_ids == ("m1", "m2")
    added = await manager.add(SCOPE, "th_1", said("one", "two"))
    assert (world.state.messages(SESSION), added.sent, bool(added.task_id)) == (["one", "two"], 0, True)
    assert world.marks.mark().committed == ("m1", "m2")


async def test_a_batch_that_never_arrived_is_sent_again_after_it_was_waited_for():
    world = World()
    manager = world.manager()
    world.before = once(httpx.ReadError("gone"), BATCH)
    await broken(manager.add(SCOPE, "th_1", said("one")))
    error = await broken(manager.add(SCOPE, "th_1", said("one")), errors.OpenVikingUnclearError)
    assert (error.code, error.is_retryable, world.state.messages()) == ("memory_unclear", True, [])
    wait_long(world)
    assert (await manager.add(SCOPE, "th_1", said("one"))).sent == 1
    assert world.state.messages(SESSION) == ["one"]


async def test_a_batch_that_arrives_late_is_not_sent_a_second_time():
    world = World()
    world.before = once(httpx.ReadError("gone"), BATCH)
    await broken(world.manager().add(SCOPE, "th_1", said("one")))
    await broken(world.manager().add(SCOPE, "th_1", said("one")), errors.OpenVikingUnclearError)
    late = World()  # the request that was on its way
    late.contract.state = world.state
    await late.manager().add(SCOPE, "th_1", said("one"))
    wait_long(world)
    await world.manager().add(SCOPE, "th_1", said("one"))
    assert (world.state.messages(SESSION), world.marks.mark().committed) == (["one"], ("m1",))


async def test_the_count_of_an_earlier_batch_is_not_taken_for_the_next():
    world = World()
    manager = world.manager()
    await manager.add(SCOPE, "th_1", said("one", "two"))
    world.before = once(httpx.ReadError("gone"), BATCH)
    await broken(manager.add(SCOPE, "th_1", said("three", "four", start=3)))
    assert world.marks.mark().sending.known_total == 2
    wait_long(world)
    await manager.add(SCOPE, "th_1", said("three", "four", start=3))
    assert world.state.messages(SESSION) == ["one", "two", "three", "four"]


@pytest.mark.parametrize("trouble", [httpx.ConnectError("x"), httpx.ConnectTimeout("x"), httpx.PoolTimeout("x"), httpx.Response(400)])
async def test_what_was_surely_not_taken_leaves_nothing_unclear(trouble):
    world = World()
    manager = world.manager()
    world.before = once(trouble, BATCH)
    await broken(manager.add(SCOPE, "th_1", said("one")))
    assert world.marks.mark().sending is None
    await manager.add(SCOPE, "th_1", said("one"))
    assert world.state.messages(SESSION) == ["one"]


@pytest.mark.parametrize(("status", "refuses_text"), [(400, True), (413, True), (422, True), (403, False), (404, False), (503, False)])
async def test_only_an_answer_about_the_messages_refuses_them_for_good(status, refuses_text):
    world = World()
    told = {
        "status": "error",
        "error": {"code": "INVALID_ARGUMENT", "message": "bad", "details": {"validation_errors": [{"loc": ["messages"]}]}},
    }
    world.before = lambda request: httpx.Response(status, json=told) if request.url.path.endswith("/batch") else None
    error = await broken(world.manager().add(SCOPE, "th_1", said("one")))
    assert error.refuses_text is refuses_text


async def test_after_a_failed_commit_nothing_is_added_twice_and_the_commit_is_repeated():
    world = World()
    manager = world.manager()
    world.before = once(httpx.Response(500), COMMIT)
    await broken(manager.add(SCOPE, "th_1", said("one")))
    assert (world.marks.mark().submitted, world.marks.mark().committed) == (("m1",), ())
    assert (await manager.add(SCOPE, "th_1", said("one"))).task_id
    assert (world.state.messages(SESSION), world.marks.mark().committed) == (["one"], ("m1",))


async def test_a_commit_whose_answer_was_lost_is_repeated_and_its_task_is_found():
    world = World()
    manager = world.manager()
    world.after = once(httpx.Response(500), COMMIT)
    await broken(manager.add(SCOPE, "th_1", said("one")))
    added = await manager.add(SCOPE, "th_1", said("one"))
    (task,) = world.marks.mark().tasks
    assert (task.task_id, task.message_ids) == (added.task_id, ("m1",)) and len(world.state.tasks()) == 1


async def test_each_task_is_about_the_messages_of_its_own_commit():
    world = World()
    manager = world.manager()
    world.after = once(httpx.Response(500), COMMIT)
    await broken(manager.add(SCOPE, "th_1", said("one")))
    await manager.add(SCOPE, "th_1", said("one", "two"))
    assert [task.message_ids for task in world.marks.mark().tasks] == [("m1",), ("m2",)]


async def test_an_earlier_task_is_not_taken_for_one_that_is_known_already():
    world = World()
    manager = world.manager()
    await manager.add(SCOPE, "th_1", said("one"))
    mark = world.marks.mark()
    world.marks.kept[SCOPE, "th_1"] = replace(mark, committed=())
    assert (await manager.add(SCOPE, "th_1", said("one"))).task_id == ""
    assert world.counts.of("openviking_degraded_total", reason="task_unknown") == 1
    assert world.marks.mark().committed == ("m1",) and [bool(task.task_id) for task in world.marks.mark().tasks] == [True, False]


async def test_messages_that_were_taken_without_a_task_are_told_as_lost():
    world = World()
    manager = world.manager()
    world.after = once(httpx.Response(500), COMMIT)
    await broken(manager.add(SCOPE, "th_1", said("one")))
    world.before = once(good([]), "GET .*/tasks$")  # as of a server that was killed between the archive and the task
    await manager.add(SCOPE, "th_1", said("one"))
    (ended,) = (await manager.follow_up(SCOPE, "th_1")).ended
    assert (ended.outcome, ended.message_ids) == ("lost", ("m1",))
    await manager.settled(SCOPE, "th_1", [ended.task_id])
    assert world.marks.mark().tasks == ()


async def test_a_session_that_was_lost_at_the_server_gets_what_waited_in_it_again():
    world = World()
    manager = world.manager()
    world.before = once(httpx.Response(500), COMMIT)
    await broken(manager.add(SCOPE, "th_1", said("one", "two")))
    empty = World()
    world.state = empty.state
    world.contract = empty.contract
    await manager.add(SCOPE, "th_1", said("one", "two"))
    assert world.state.messages(SESSION) == ["one", "two"]


async def test_two_processes_with_the_same_conversation_send_it_once():
    world = World()
    managers = [world.manager() for _ in range(4)]
    ends = await asyncio.gather(*(one.add(SCOPE, "th_1", said("one", "two")) for one in managers), return_exceptions=True)
    assert all(isinstance(end, WatermarkMoved | errors.OpenVikingUnclearError) for end in ends if isinstance(end, Exception))
    await world.manager().add(SCOPE, "th_1", said("one", "two"))
    assert world.state.messages(SESSION) == ["one", "two"]


@pytest.mark.parametrize("kill_after", range(14))  # four requests and three marks, before and after each
async def test_a_process_that_dies_anywhere_neither_loses_nor_doubles_a_message(kill_after):
    world = World()
    steps = iter(range(100))

    def die(request):
        if next(steps) >= kill_after:
            raise asyncio.CancelledError

    async def save(*what):
        die(what)
        mark = await real(*what)
        die(what)
        return mark

    world.before, world.after, real, world.marks.save = die, die, world.marks.save, save
    dying = asyncio.ensure_future(world.manager().add(SCOPE, "th_1", said("one", "two")))
    await asyncio.wait([dying])
    assert dying.cancelled()
    world.before, world.after, world.marks.save = lambda _: None, lambda _: None, real
    wait_long(world)
    added = await world.manager().add(SCOPE, "th_1", said("one", "two"))
    assert (world.state.messages(SESSION), world.state.live()) == (["one", "two"], [])
    assert (len(world.state.tasks()), added.task_id in (world.marks.mark().last_task_id, "")) == (1, True)


async def test_one_conversation_goes_in_order():
    world = World()
    manager = world.manager()
    await asyncio.gather(*(manager.add(SCOPE, "th_1", said(f"line {at}", start=at)) for at in range(1, 9)))
    assert world.state.messages(SESSION) == [f"line {at}" for at in range(1, 9)]


async def test_different_conversations_go_at_the_same_time():
    world, inside, most = World(), set(), []

    def enter(request):
        if request.url.path.endswith("/batch"):
            inside.add(request.url.path)
            most.append(len(inside))

    def leave(request):
        if request.url.path.endswith("/commit"):
            inside.discard(request.url.path.replace("/commit", "/messages/batch"))

    world.before, world.after = enter, leave
    manager = world.manager()
    await asyncio.gather(*(manager.add(SCOPE, f"th_{at}", said("hello")) for at in range(5)))
    assert max(most) > 1 and len(world.state.sessions()) == 5


@pytest.mark.parametrize("mode", ["api_key", "dev"])
async def test_no_text_goes_to_a_server_that_shares_one_store(mode):
    world = World(auth_mode=mode)
    await broken(world.manager().add(SCOPE, "th_1", said("private words")), errors.OpenVikingIdentityError)
    assert not [request for request in world.seen if b"private" in request.content]


async def test_no_text_goes_to_a_server_that_changed_its_mode_behind_our_back():
    world = World()
    manager = world.manager()
    await manager.add(SCOPE, "th_1", said("one"))
    world.contract.auth_mode = "api_key"
    await broken(manager.add(SCOPE, "th_1", said("private words", start=2)), errors.OpenVikingIdentityError)
    assert not [request for request in world.seen if b"private" in request.content]


async def test_the_end_of_a_task_is_told_until_it_was_noted():
    world = World()
    manager = world.manager()
    added = await manager.add(SCOPE, "th_1", said("We decided to buy chalk."))
    for _ in range(2):
        (ended,) = (await manager.follow_up(SCOPE, "th_1")).ended
        assert (ended.task_id, ended.outcome, ended.message_ids, ended.remembered) == (added.task_id, "completed", ("m1",), 1)
    await manager.settled(SCOPE, "th_1", [added.task_id])
    assert (await manager.follow_up(SCOPE, "th_1")).ended == () and world.marks.mark().committed == ("m1",)


async def test_a_task_that_goes_on_is_pending():
    world = World(extraction_seconds=60)
    manager = world.manager()
    await manager.add(SCOPE, "th_1", said("one"))
    assert (await manager.follow_up(SCOPE, "th_1")).pending == 1


async def test_a_failed_extraction_tells_which_messages_were_not_captured():
    world = World()
    world.contract.extraction_fails = True
    manager = world.manager()
    await manager.add(SCOPE, "th_1", said("one", "two"))
    (ended,) = (await manager.follow_up(SCOPE, "th_1")).ended
    assert (ended.outcome, ended.message_ids) == ("failed", ("m1", "m2"))


async def test_a_task_that_the_server_knows_no_more_is_lost():
    world = World()
    manager = world.manager()
    await manager.add(SCOPE, "th_1", said("one"))
    world.contract.state = World().state
    assert [one.outcome for one in (await manager.follow_up(SCOPE, "th_1")).ended] == ["lost"]


async def test_noting_an_end_goes_on_when_somebody_writes_the_mark_meanwhile():
    world = World()
    manager = world.manager()
    added = await manager.add(SCOPE, "th_1", said("one"))
    real, raced = world.marks.save, []

    async def save(scope, thread_id, mark):
        if not raced:
            raced.append(await real(scope, thread_id, world.marks.mark()))
        return await real(scope, thread_id, mark)

    world.marks.save = save
    await manager.settled(SCOPE, "th_1", [added.task_id])
    assert raced and world.marks.mark().tasks == ()


async def test_conversations_of_other_scopes_have_marks_of_their_own():
    world = World()
    manager, other = world.manager(), MemoryScope("tn_2", "us_1", "ag_1")
    await manager.add(SCOPE, "th_1", said("one"))
    assert (await manager.add(other, "th_1", said("one"))).sent == 1 and len(world.state.messages()) == 2
