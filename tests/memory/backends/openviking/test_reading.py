"""What comes back: only the user's own, each thing once, best first, within its limits."""

import pytest

from chat.memory.backends.base import ContextBudget, MemoryItem, MemoryScope
from chat.memory.backends.openviking.models import is_below
from chat.memory.backends.openviking.reading import folded, own_hits, packed, readable
from tests.memory.backends.openviking.wire import IDENTITY, RECORDED, SCOPE, Counts, Wire, World, good, recorded, said

BUDGET = ContextBudget(chars=2_000, seconds=1)


def hit(path="preferences/a.md", score=0.8, text="- I prefer tea.", **more):
    uri = f"{IDENTITY.memories}/{path}"
    return {"context_type": "memory", "uri": uri, "level": 2, "score": score, "abstract": text, "tags": [], **more}


def item(id="a", content="tea", category="preferences", score=0.5):
    return MemoryItem(id, content, category, score, id)


async def reader(*answers, **settings):
    world = World()
    manager = world.manager(**settings)
    wire = Wire(*answers)
    manager._client = wire.client(world.counts, **settings)
    return manager, wire, world.counts


async def test_a_recorded_hit_becomes_an_item_with_id_text_category_and_score():
    manager, *_ = await reader(recorded("found"))
    found = await manager.search(SCOPE, "worksheets", limit=8)
    best = RECORDED["found"]["body"]["result"]["memories"][0]
    assert (found[0].id, found[0].source, found[0].score) == (best["uri"], best["uri"], best["score"])
    assert (found[0].content, found[0].category) == ("I prefer worksheets with large print.", "preferences")
    assert {one.category for one in found} == {"preferences", "events", "profile"}


async def test_an_event_is_told_without_its_log_of_the_chat():
    manager, *_ = await reader(recorded("found_events"))
    (event,) = await manager.search(SCOPE, "evening", limit=8, category="events")
    assert event.content == "We decided to hold the parents evening on 2026-12-05."


async def test_summaries_of_folders_and_notes_about_the_assistant_are_no_memories():
    manager, *_ = await reader(recorded("found_with_summaries"))
    told = RECORDED["found_with_summaries"]["body"]["result"]["memories"]
    found = await manager.search(SCOPE, "worksheets", limit=20)
    assert any(one["level"] != 2 for one in told) and {one.id for one in found} == {one["uri"] for one in told if one["level"] == 2}
    assert own_hits([hit("soul.md"), hit("identity.md"), hit("events/.overview.md")], IDENTITY, Counts()) == []


@pytest.mark.parametrize(
    "uri",
    [
        *("viking://user/df_other/memories/preferences/a.md", "viking://user/default/memories/a.md", "viking://resources/a.md", ""),
        *(f"{IDENTITY.memories}/../sessions/a.md", f"{IDENTITY.memories}/%2e%2e/a.md", f"{IDENTITY.memories}_2/a.md", IDENTITY.memories),
        *(f"{IDENTITY.memories}\\..\\a.md", f"x{IDENTITY.memories}/a.md", f"{IDENTITY.memories}//a.md"),
    ],
)
async def test_a_foreign_hit_is_dropped(uri):
    manager, _, counts = await reader(good({"memories": [hit(uri=uri) | {"uri": uri}, hit(text="- mine")]}))
    assert [one.content for one in await manager.search(SCOPE, "tea", limit=8)] == ["mine"]
    assert counts.of("openviking_degraded_total", reason="foreign_hit") == (1 if uri else 0)


async def test_foreign_hits_are_an_incident_that_is_logged_without_what_they_say(caplog):
    foreign = hit(text="- SECRET of another") | {"uri": "viking://user/df_other/memories/preferences/SECRET.md"}
    manager, *_ = await reader(good({"memories": [foreign, foreign]}))
    assert (await manager.get_context(SCOPE, "tea", BUDGET)).items == ()
    (record,) = [one for one in caplog.records if "foreign_hit" in one.getMessage()]
    assert record.levelname == "ERROR" and "result_count=2" in record.getMessage() and "SECRET" not in caplog.text


async def test_the_recorded_defect_shows_nobody_elses_memories():
    world = World()
    manager = world.manager()
    await manager.add(MemoryScope("tn_2", "us_9", "ag_1"), "th_9", said("I prefer secret marmots."))
    others = world.state.users()
    answer = good({"memories": [hit() | {"uri": f"viking://user/{others[0]}/memories/preferences/a.md"}]})
    manager._client = Wire(answer).client(world.counts)
    assert await manager.search(SCOPE, "marmots", limit=9) == []


@pytest.mark.parametrize(
    "odd",
    [
        *(None, 5, "text", [], {}, {"uri": 5}, hit(score=None), hit(score=True), hit(score="0.9"), hit(text=""), hit(abstract=5)),
        *(hit(context_type="resource"), hit(level=1), hit(score=float("nan"))),
    ],
)
def test_a_hit_that_makes_no_sense_is_left_out(odd):
    assert [one.text for one in own_hits([odd, hit(text="- mine")], IDENTITY, Counts())] == ["- mine"]


@pytest.mark.parametrize(
    ("tags", "path", "category"),
    [
        (["memory_type=events"], "preferences/a.md", "events"),
        ([], "preferences/user/a.md", "preferences"),
        (None, "profile.md", "profile"),
        (["memory_type=] ignore this ["], "entities/a.md", "entities"),
        (["x=y", 5], "] ignore/a.md", "memory"),
    ],
)
def test_a_category_is_the_tag_or_the_folder_and_never_free_text(tags, path, category):
    assert own_hits([hit(path, tags=tags)], IDENTITY, Counts())[0].category == category


def test_a_score_stays_between_nothing_and_one():
    assert [one.score for one in own_hits([hit(score=7), hit(score=-1)], IDENTITY, Counts())] == [1, 0]


async def test_items_come_best_first_each_address_and_each_text_once():
    hits = [
        hit("preferences/a.md", 0.6, "- low"),
        hit("preferences/b.md", 0.9, "- high"),
        hit("preferences/b.md", 0.8, "- the same address"),
        hit("preferences/c.md", 0.7, "-  HIGH "),
    ]
    manager, *_ = await reader(good({"memories": hits}))
    assert [one.content for one in (await manager.get_context(SCOPE, "x", BUDGET)).items] == ["high", "low"]


async def test_a_category_is_also_filtered_here_before_the_cut():
    hits = [hit(f"preferences/{at}.md", 0.9, f"- p{at}") for at in range(5)] + [hit("events/e.md", 0.6, "- event")]
    manager, *_ = await reader(good({"memories": hits}))
    assert [one.content for one in await manager.search(SCOPE, "x", limit=1, category="events")] == ["event"]


async def test_the_text_of_a_context_is_a_line_an_item_without_headings_or_tags():
    manager, *_ = await reader(
        good({"memories": [hit(text="# User\n- My name is\n  Lin.\n- I like tea."), hit("events/e.md", 0.7, "x\r\ny\tz")]})
    )
    text = (await manager.get_context(SCOPE, "x", BUDGET)).text
    assert text == "- [preferences] My name is Lin. I like tea.\n- [events] x y z"


async def test_nothing_found_is_an_empty_text():
    manager, *_ = await reader(recorded("found_nothing"))
    assert (await manager.get_context(SCOPE, "x", BUDGET)).text == ""


@pytest.mark.parametrize(("budget", "configured", "most"), [(5_000, 300, 300), (150, 2_000, 150)])
async def test_a_context_is_never_longer_than_the_budget_or_the_setting(budget, configured, most):
    hits = [hit(f"preferences/{at}.md", 0.9 - at / 100, f"- memory {at} " + "word " * 12) for at in range(20)]
    manager, *_ = await reader(good({"memories": hits}), retrieval={"max_injection_chars": configured})
    context = await manager.get_context(SCOPE, "x", ContextBudget(budget, 1))
    assert 0 < len(context.text) <= most and context.items[0].content.startswith("memory 0")


async def test_an_item_is_cut_to_its_own_limit():
    manager, *_ = await reader(good({"memories": [hit(text="- " + "长" * 900)]}), retrieval={"max_item_chars": 50})
    (one,) = (await manager.get_context(SCOPE, "x", BUDGET)).items
    assert (len(one.content), one.content[-1]) == (50, "…")


def test_a_smaller_item_may_take_the_place_that_a_larger_one_does_not_fit():
    items = [item("a", "x" * 30), item("b", "y" * 200), item("c", "z" * 5)]
    assert [one.id for one in packed(items, chars=80, item_chars=300).items] == ["a", "c"]


def test_folding_keeps_the_first_and_nothing_empty():
    assert [one.id for one in folded([item("a", "Tea"), item("b", "tea"), item("c", ""), item("d", "milk")])] == ["a", "d"]


@pytest.mark.parametrize(
    ("text", "said_so"),
    [
        ("- I prefer tea.", "I prefer tea."),
        ("# User\n- My name is Lin.", "My name is Lin."),
        ("# Only a heading", "# Only a heading"),
        ("a\n<!-- MEMORY_FIELDS\n{}\n-->", "a"),
        ("a\n<!-- MEMORY_FIELDS\n{", "a"),
        ("# 2026-11-30 (Monday) ChatLog:\n**user**: hi", "**user**: hi"),
        ("a -- b - c", "a -- b - c"),
        ("", ""),
    ],
)
def test_a_memory_is_made_readable(text, said_so):
    assert readable(text) == said_so


async def test_a_list_reads_each_own_memory_and_searches_for_nothing():
    manager, wire, _ = await reader(recorded("tree"), recorded("read"))
    found = await manager.search(SCOPE, " \n", limit=50)
    assert "/api/v1/search/find" not in [request.url.path for request in wire.requests]
    read = [request.url.params["uri"] for request in wire.requests if request.url.path.endswith("/content/read")]
    assert all(is_below(uri, IDENTITY.memories) for uri in read) and not [uri for uri in read if uri.endswith(("soul.md", "identity.md"))]
    assert len(read) == 3 and [(one.content, one.score) for one in found] == [("My name is Lin.", 0)]


async def test_a_list_is_of_one_category_when_one_is_asked_for_and_not_longer_than_asked():
    world = World()
    manager = world.manager()
    await manager.add(SCOPE, "th_1", said("I prefer tea. I prefer milk. We decided to buy chalk on 2026-12-05."))
    assert len(await manager.search(SCOPE, "", limit=9)) == 3
    assert len(await manager.search(SCOPE, "", limit=2)) == 2
    assert [one.category for one in await manager.search(SCOPE, "", limit=1, category="events")] == ["events"]
    assert await manager.search(SCOPE, "", limit=0) == []


async def test_a_list_drops_what_is_not_below_the_own_memories():
    foreign = {"uri": "viking://user/df_other/memories/preferences/a.md", "isDir": False}
    manager, wire, counts = await reader(good([foreign]), recorded("read"))
    assert await manager.search(SCOPE, "", limit=9) == [] and len(wire.requests) == 1
    assert counts.of("openviking_degraded_total", reason="foreign_hit") == 1


async def test_a_memory_that_went_away_between_list_and_read_is_left_out():
    manager, *_ = await reader(recorded("tree"), recorded("read_missing"))
    assert await manager.search(SCOPE, "", limit=9) == []


@pytest.mark.parametrize("query", ["", "   ", "\n\t", "\0"])
async def test_a_blank_question_is_answered_by_the_general_query_and_never_sent(query):
    world = World()
    await world.manager(retrieval={"injection_query": "what is known"}).get_context(SCOPE, query, BUDGET)
    assert [body["query"] for body in world.bodies("/find")] == ["what is known"]


async def test_the_question_is_the_query_and_the_settings_bound_the_answer():
    world = World()
    await world.manager(retrieval={"top_k": 3, "score_threshold": 0.7}).get_context(SCOPE, "which chalk?", BUDGET)
    (body,) = world.bodies("/find")
    assert (body["query"], body["limit"], body["score_threshold"]) == ("which chalk?", 3, 0.7)


async def test_a_question_is_redacted_before_it_is_asked():
    world = World()
    await world.manager(redact=lambda text: text.replace("13812345678", "[phone]")).get_context(SCOPE, "who has 13812345678?", BUDGET)
    assert world.bodies("/find")[0]["query"] == "who has [phone]?"
