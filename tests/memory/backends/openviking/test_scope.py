"""Whose memory: hashes of ids, apart for every school, teacher, assistant and conversation, and bad ids refused before any request."""

import base64
import hashlib
import itertools
import json
import re

import pytest

from chat.memory.backends.base import ContextBudget, MemoryScope
from chat.memory.backends.openviking.errors import OpenVikingScopeError
from chat.memory.backends.openviking.scope import DEFAULT_AGENT, identity_of, prober_of, session_of
from tests.memory.backends.openviking.wire import SCOPE, World, said

BAD = ["", " ", "a\0b", "a/b", "a\\b", ".", "..", "a..b", "line\nbreak", "tab\t", "\x7f", "\u202e", "\ud800", "x" * 201, " a"]


def test_users_and_sessions_are_the_two_formulas_that_never_change():
    joined = "\0".join(("recorded", "tn_1", "us_1", "ag_1"))
    assert identity_of("recorded", SCOPE).user == f"df_{hashlib.sha256(joined.encode()).hexdigest()[:40]}"
    digest = hashlib.sha256("\0".join(("memoryapp-openviking-v1", joined, "th_1")).encode()).digest()
    assert session_of("recorded", SCOPE, "th_1") == f"df_{base64.b32encode(digest).decode().rstrip('=').lower()}"


def test_users_and_sessions_stay_as_they_were_released():
    assert identity_of("recorded", SCOPE).user == "df_1aaa108903efd0706f747720cb7fd04c45ea863f"
    assert session_of("recorded", SCOPE, "th_1") == "df_2jftgjuexpx67ipd56g6237cfwfvyuutwbgh2uymsbmouwk7prba"


def test_every_part_of_the_scope_makes_another_user_and_another_session():
    scopes = [MemoryScope(*parts) for parts in itertools.product(("tn_1", "tn_2"), ("us_1", "us_2"), ("", "ag_1", "ag_2"))]
    users = {identity_of(account, scope).user for scope in scopes for account in ("one", "two")}
    sessions = {session_of(account, scope, thread) for scope in scopes for account in ("one", "two") for thread in ("th_1", "th_2")}
    assert (len(users), len(sessions)) == (24, 48)


def test_parts_do_not_run_into_each_other():
    assert identity_of("a", MemoryScope("bc", "d", "e")) != identity_of("a", MemoryScope("b", "cd", "e"))
    assert identity_of("a", MemoryScope("b", "c", "de")).user != identity_of("a", MemoryScope("b", "cd", "e")).user


def test_no_assistant_is_the_default_scope_each_time():
    joined = "\0".join(("recorded", "tn_1", "us_1", DEFAULT_AGENT))
    user = f"df_{hashlib.sha256(joined.encode()).hexdigest()[:40]}"
    assert {identity_of("recorded", MemoryScope("tn_1", "us_1")).user for _ in range(3)} == {user}


def test_no_assistant_can_take_the_default_scope():
    with pytest.raises(OpenVikingScopeError):
        identity_of("recorded", MemoryScope("tn_1", "us_1", DEFAULT_AGENT))


def test_what_goes_out_is_fit_for_headers_and_addresses_and_holds_no_id():
    user, session = identity_of("recorded", SCOPE).user, session_of("recorded", SCOPE, "th_1")
    assert re.fullmatch(r"df_[0-9a-f]{40}", user) and re.fullmatch(r"df_[a-z2-7]{52}", session)
    assert not [one for one in ("tn_1", "us_1", "ag_1", "th_1") if one in user + session]


def test_the_prober_is_nobody():
    assert prober_of("recorded").user != identity_of("recorded", SCOPE).user and prober_of("a").user == prober_of("b").user


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("part", ["tenant", "user", "agent", "thread"])
async def test_a_bad_id_is_refused_before_any_request(part, bad):
    if part == "agent" and bad == "":
        return
    world = World()
    manager = world.manager()
    scope = MemoryScope(*(bad if part == name else "ok" for name in ("tenant", "user", "agent")))
    thread = bad if part == "thread" else "th_1"
    with pytest.raises(OpenVikingScopeError) as caught:
        await manager.add(scope, thread, said("hello"))
    assert not world.seen and not caught.value.is_retryable
    assert bad.strip() in ("", ".") or bad not in str(caught.value)


async def test_reading_and_forgetting_refuse_a_bad_id_too():
    world = World()
    manager, scope = world.manager(), MemoryScope("tn_1", "../us_2", "ag_1")
    for call in (
        manager.search(scope, "x", limit=3),
        manager.get_context(scope, "x", ContextBudget(100, 1)),
        manager.forget(scope),
        manager.follow_up(scope, "th_1"),
    ):
        with pytest.raises(OpenVikingScopeError):
            await call
    assert not world.seen and world.counts.of("openviking_degraded_total", reason="scope") == 4


async def test_different_teachers_send_different_headers_and_sessions():
    world = World()
    manager = world.manager()
    for scope in (SCOPE, MemoryScope("tn_1", "us_2", "ag_1"), MemoryScope("tn_2", "us_1", "ag_1")):
        await manager.add(scope, "th_1", said("hello"))
    adds = [request for request in world.seen if request.url.path.endswith("/batch")]
    assert len({request.headers["x-openviking-user"] for request in adds}) == len({request.url.path for request in adds}) == 3
    assert {request.headers["x-openviking-account"] for request in adds} == {"recorded"}


async def test_two_assistants_of_one_teacher_are_two_users():
    world = World()
    manager = world.manager()
    for agent in ("", "ag_1", "ag_2"):
        await manager.add(MemoryScope("tn_1", "us_1", agent), "th_1", said("hello"))
    assert len(world.state.users()) == 3


async def test_a_category_is_filtered_at_the_server_before_the_cut():
    world = World()
    manager = world.manager()
    await manager.add(SCOPE, "th_1", said("I prefer blue chalk. I prefer red chalk. We decided to buy chalk."))
    found = await manager.search(SCOPE, "chalk", limit=1, category="events")
    assert [item.category for item in found] == ["events"]
    assert world.bodies("/find")[-1]["tags"] == ["memory_type=events"]


@pytest.mark.parametrize("category", ["nonsense", "preferences,events", "../events", "memory_type=events", "identity"])
async def test_a_category_that_is_not_known_is_refused_before_any_request(category):
    world = World()
    with pytest.raises(OpenVikingScopeError):
        await world.manager().search(SCOPE, "chalk", limit=1, category=category)
    assert not world.seen


async def test_a_search_is_always_bound_to_memories_of_the_own_user_on_the_level_of_files():
    world = World()
    manager = world.manager()
    await manager.search(SCOPE, "chalk", limit=3)
    await manager.get_context(SCOPE, "chalk", ContextBudget(500, 1))
    for body in world.bodies("/find"):
        assert (body["context_type"], body["level"]) == ("memory", 2)
        assert body["target_uri"] == f"viking://user/{identity_of('recorded', SCOPE).user}/memories"
        assert "filter" not in body and "session_id" not in json.dumps(body)
