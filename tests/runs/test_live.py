"""The text of a run that goes, and who is told."""

import asyncio

from chat.models import Run
from chat.runs import live
from chat.runs.events import TextAdded
from chat.runs.live import LiveRun


def going(run_id: str = "run_a") -> LiveRun:
    return LiveRun(Run(pk=run_id, thread_id="th_a"))


async def test_first_piece_goes_out_at_once_and_later_ones_are_gathered() -> None:
    events: list[TextAdded] = []
    end = live.subscribe("th_a", events.append)
    run = going()
    for piece in ("一", "二", "三"):
        run.add(piece)
    assert [event.text for event in events] == ["一"]
    run.flush()
    end()
    assert [(event.start, event.text) for event in events] == [(0, "一"), (1, "二三")]


async def test_what_is_gathered_goes_out_without_a_further_piece() -> None:
    events: list[TextAdded] = []
    end = live.subscribe("th_a", events.append)
    run = going()
    run.add("一")
    run.add("二")
    await asyncio.sleep(live.COALESCE_SECONDS * 2)
    end()
    assert "".join(event.text for event in events) == "一二"


async def test_closed_blocks_and_open_tail_make_up_the_text() -> None:
    events: list[TextAdded] = []
    end = live.subscribe("th_a", events.append)
    run = going()
    for piece in ("第一段。\n", "\n第二", "段。\n\n第三段"):
        run.add(piece)
        run.flush()
    end()
    assert "".join(event.closed_text for event in events) + events[-1].open_text == run.text
    assert events[-1].open_text == "第三段" == run.text[run.closed :]


async def test_viewer_that_joins_late_misses_nothing_and_sees_nothing_twice() -> None:
    run = going()
    run.add("一")
    run.add("二")  # still gathered
    events: list[TextAdded] = []
    text, end = run.text, live.subscribe("th_a", events.append)
    run.flush()
    run.add("三")
    run.flush()
    end()
    assert text + "".join(event.text for event in events) == "一二三"
    assert events[0].start == len(text)


async def test_mirror_takes_only_what_is_new_and_notices_a_gap() -> None:
    mirror = going()
    assert mirror.catch_up(0, "一二")
    assert mirror.catch_up(1, "二三四")
    assert not mirror.catch_up(9, "…")
    assert mirror.text == "一二三四"


async def test_text_that_cannot_be_stored_is_mended() -> None:
    run = going()
    run.add("a\x00b\ud800c")
    assert run.text == "ab\ufffdc"


async def test_ended_subscription_gets_nothing() -> None:
    events: list[TextAdded] = []
    live.subscribe("th_a", events.append)()
    going().add("一")
    assert events == [] and "th_a" not in live.watched_threads()
