"""Twenty runs end at once and three workers keep them, undisturbed and killed: no entry is lost, none doubled."""

import random
import time
from pathlib import Path

import pytest

from tests.processes.forked import Workers, World

pytestmark = [pytest.mark.process, pytest.mark.timeout(240)]
WORKERS, THREADS, KILLS = 3, 20, 40


class RecallWorld(World):
    """Conversations of `rounds` rounds whose last one is still going."""

    module = "tests.processes.recall_world"

    def __init__(self, folder: Path, rounds: int) -> None:
        super().__init__(folder, str(rounds))
        self.rounds = rounds

    def finish(self) -> None:
        """Nobody is killed any more: what is left is done."""
        time.sleep(1.1)  # a lease of a worker that was killed runs out
        self.run("manage.py", "worker", "--once")

    def check(self) -> None:
        state = self.state()
        wanted = [f"第{number}会话第{place}问" for number in range(THREADS) for place in range(self.rounds)]
        assert state["inputs"] == sorted(wanted)
        assert (state["numbers"], state["records"], state["left"], state["is_whole"]) == (len(wanted), len(wanted), 0, True)


def test_three_workers_keep_each_run_once(tmp_path):
    world = RecallWorld(tmp_path, rounds=1)
    with Workers(world, WORKERS):
        world.say("end")
        end = time.monotonic() + 60
        while world.database.count("chat_work") and time.monotonic() < end:
            time.sleep(0.1)
    assert not world.database.count("chat_work")
    world.check()


def test_workers_that_are_killed_lose_and_double_nothing(tmp_path):
    world = RecallWorld(tmp_path, rounds=12)
    chance, kills = random.Random(20261130), 0
    ending = None
    with Workers(world, WORKERS) as workers:
        while kills < KILLS and world.database.count("chat_work"):
            time.sleep(chance.uniform(0.02, 0.12))
            workers.kill(chance.randrange(WORKERS))
            kills += 1
            if ending is None and kills == 5:
                ending = world.begin("end")
    assert ending is not None and ending.wait(60) == 0
    assert kills >= KILLS // 2
    world.finish()
    world.check()
