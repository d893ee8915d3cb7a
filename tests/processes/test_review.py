"""Workers make reviews of notes side by side, undisturbed and killed: each is due once, none is left going, nothing stands twice."""

import itertools
import random
import time
from pathlib import Path
from typing import Any

import pytest

from tests.processes.forked import Workers, World

pytestmark = [pytest.mark.process, pytest.mark.timeout(240)]
TITLES = [f"{teacher}之{number}" for teacher in range(3) for number in range(2)]
WORKERS, KILLS = 3, 40


class ReviewWorld(World):
    """Six conversations whose tenth message is still going."""

    module = "tests.processes.review_world"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, DEMO_DELAY_SECONDS="0.02")


def wait_until_idle(world: World, seconds: float = 150) -> None:
    end = time.monotonic() + seconds
    while world.database.count("chat_work"):
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.1)


def check(state: dict[str, Any]) -> None:
    """What holds whatever happened."""
    assert (state["left"], state["open"], state["waiting"]) == (0, 0, 0)
    assert [one[:2] for one in state["reviews"]] == [[title, 10] for title in TITLES]
    assert {one[2] for one in state["reviews"]} <= {"done", "failed"}
    assert state["totals"] == [10] * len(TITLES)
    for entries in state["entries"]:
        assert len(set(entries)) == len(entries)
        assert set(entries) <= set(state["ops"])
    assert len(set(state["ops"])) == len(state["ops"])
    assert len(set(state["notices"])) == len(state["notices"])


@pytest.mark.long
def test_three_workers_make_each_review_once_and_one_of_a_teacher_at_a_time(tmp_path):
    world = ReviewWorld(tmp_path)
    with Workers(world, WORKERS):
        world.say("end")
        wait_until_idle(world)
    state = world.state()
    check(state)
    assert {(one[2], one[3]) for one in state["reviews"]} == {("done", "")}
    assert state["ops"] == sorted(f"以后请附上第{title}号细目表" for title in TITLES)
    assert state["notices"] == TITLES
    for _teacher, reviews in itertools.groupby(sorted(state["reviews"], key=lambda one: (one[4], one[5])), key=lambda one: one[4]):
        first, second = list(reviews)
        assert first[6] <= second[5]


def test_workers_that_are_killed_leave_no_review_going_and_write_nothing_twice(tmp_path):
    world = ReviewWorld(tmp_path)
    chance, kills = random.Random(20261130), 0
    with Workers(world, WORKERS) as workers:
        world.say("end")
        while kills < KILLS and world.database.count("chat_work"):
            time.sleep(chance.uniform(0.05, 0.3))
            workers.kill(chance.randrange(WORKERS))
            kills += 1
        wait_until_idle(world)
    state = world.state()
    check(state)
    assert kills >= KILLS // 2
    assert state["ops"]
