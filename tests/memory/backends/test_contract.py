"""Every backend that is there keeps the contract; what it lacks it says by its capabilities, and then does nothing."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import fields

import pytest
from django.db import connections

from chat.memory import backends
from chat.memory.backends.base import (
    BackendClosed,
    BackendMisconfigured,
    Capabilities,
    ContextBudget,
    FollowUp,
    MemoryContext,
    MemoryMessage,
)
from tests.memory.backends.keeping import Kept, said, strangers_of

pytestmark = pytest.mark.django_db(transaction=True)
EXAM = "We decided that the spring exam has forty marks."
TRIP = "We decided that the museum trip leaves at eight."
ASKED = "spring exam forty marks"
BUDGET = ContextBudget(chars=2_000, seconds=5.0)


@pytest.fixture(params=backends.names())
def kept(request) -> Iterator[Kept]:
    with ExitStack() as stack:
        yield Kept(request.param, stack)
    connections.close_all()


def test_the_backends_are_the_folders_that_are_there():
    assert {"builtin", "noop", "openviking"} <= set(backends.names())


async def test_it_says_what_it_can(kept):
    can = kept.manager.capabilities
    assert isinstance(can, Capabilities) and can.title
    assert all(isinstance(getattr(can, field.name), bool) for field in fields(can) if field.name not in ("title", "place"))
    assert bool(can.place) == can.sends_text
    assert kept.manager.read_seconds > 0 and kept.manager.flush_seconds > 0
    assert (await kept.manager.warm()).is_usable


async def test_a_field_that_it_does_not_know_stops_it_by_name(kept):
    with pytest.raises(BackendMisconfigured, match="no_such_field"):
        kept.make(kept.needs | {"no_such_field": 1})


async def test_what_was_said_is_found_again_if_it_can_search(kept):
    await kept.hear(await kept.talk(), EXAM, TRIP)
    found = await kept.manager.search(kept.scope(), ASKED, limit=5)
    if not kept.manager.capabilities.can_search:
        assert found == []
        return
    assert "forty marks" in found[0].content
    assert all(0 <= item.score <= 1 and item.id and item.category and item.source for item in found)
    assert [item.score for item in found] == sorted((item.score for item in found), reverse=True)


async def test_a_blank_query_lists_and_a_limit_is_kept(kept):
    await kept.hear(await kept.talk(), EXAM, TRIP)
    everything = await kept.all_of(kept.scope())
    assert len(everything) == (2 if kept.manager.capabilities.can_search else 0)
    assert len(await kept.manager.search(kept.scope(), " ", limit=1)) <= 1
    assert await kept.manager.search(kept.scope(), ASKED, limit=0) == []


async def test_a_category_is_chosen_before_the_limit_cuts(kept):
    await kept.hear(await kept.talk(), EXAM, TRIP)
    for item in await kept.all_of(kept.scope()):
        same = await kept.manager.search(kept.scope(), ASKED, limit=1, category=item.category)
        assert [one.category for one in same] == [item.category]


async def test_no_verb_reaches_another_scope(kept):
    thread = await kept.talk()
    await kept.hear(thread, EXAM)
    before = await kept.all_of(kept.scope())
    for stranger in strangers_of(kept):
        assert await kept.manager.search(stranger, ASKED, limit=50) == []
        assert await kept.all_of(stranger) == []
        assert await kept.manager.get_context(stranger, ASKED, BUDGET) == MemoryContext()
        assert await kept.manager.follow_up(stranger, thread.pk) == FollowUp()
        await kept.manager.settled(stranger, thread.pk, ["task"])
        assert await kept.manager.forget(stranger, thread.pk)
        assert await kept.manager.forget(stranger)
    assert await kept.all_of(kept.scope()) == before


async def test_the_same_messages_once_more_change_nothing(kept):
    thread = await kept.talk()
    await kept.hear(thread, EXAM)
    before = await kept.all_of(kept.scope())
    messages = [
        MemoryMessage(f"{run.pk}:{role}", role, text)
        async for run in thread.runs.all()
        for role, text in (("user", run.input), ("assistant", run.output))
    ]
    assert (await kept.hand_over(thread, messages)).sent == 0
    assert await kept.all_of(kept.scope()) == before


async def test_what_no_person_sees_is_not_kept(kept):
    hidden = [
        MemoryMessage("run_x:system", "system", EXAM),
        MemoryMessage("run_x:tool", "tool", EXAM),
        MemoryMessage("run_x:user", "user", EXAM, is_hidden=True),
    ]
    await kept.hand_over(await kept.talk(), hidden)
    assert await kept.all_of(kept.scope()) == []


async def test_what_the_red_lines_forbid_is_not_kept(kept):
    await kept.hear(await kept.talk(), f"{EXAM} We decided to call 13812345678 about it.")
    assert "13812345678" not in said(await kept.all_of(kept.scope()))


async def test_the_context_of_a_question_is_within_its_budget(kept):
    await kept.hear(await kept.talk(), EXAM, EXAM, TRIP)
    context = await kept.manager.get_context(kept.scope(), ASKED, BUDGET)
    assert bool(context.items) == kept.manager.capabilities.can_search
    assert len({item.content for item in context.items}) == len(context.items)
    assert context.text.count("\n") == max(0, len(context.items) - 1)
    for chars in (0, 10, len(context.text) - 1):
        assert len((await kept.manager.get_context(kept.scope(), ASKED, ContextBudget(chars, 5.0))).text) <= max(0, chars)


async def test_a_thread_that_it_never_heard_of_has_no_tasks(kept):
    assert await kept.manager.follow_up(kept.scope(), "th_unknown") == FollowUp()
    await kept.manager.settled(kept.scope(), "th_unknown", ["task"])


async def test_everything_of_a_scope_can_be_forgotten_and_only_that(kept):
    await kept.hear(await kept.talk(), EXAM)
    await kept.hear(await kept.talk(user=1), TRIP)
    other = await kept.all_of(kept.scope(user=1))
    for _ in range(2):  # False: something may still come, so it is asked again
        assert await kept.manager.forget(kept.scope()) in (True, False)
        assert await kept.all_of(kept.scope()) == []
    assert await kept.all_of(kept.scope(user=1)) == other


async def test_a_conversation_can_be_forgotten(kept):
    thread, other = await kept.talk(), await kept.talk()
    await kept.hear(thread, EXAM)
    await kept.hear(other, TRIP)
    assert [await kept.manager.forget(kept.scope(), thread.pk) for _ in range(2)] == [True, True]
    left = said(await kept.all_of(kept.scope()))
    assert not kept.manager.capabilities.forgets_with_thread or "forty marks" not in left
    assert not kept.manager.capabilities.can_search or "museum" in left


async def test_after_the_flush_it_takes_nothing_new(kept):
    assert await kept.manager.flush(1.0)
    with pytest.raises(BackendClosed):
        await kept.manager.add(kept.scope(), "th_late", [MemoryMessage("run_x:user", "user", EXAM)])
    await kept.manager.close()
    await kept.manager.close()
