"""The memory server, the web process and the worker are killed in mid-work: nothing is said twice there, and nothing is lost."""

from collections import Counter

import pytest

from tests.openviking_server.process import ServerProcess
from tests.processes.memory_processes import processes, talk_among_kills

pytestmark = [pytest.mark.process, pytest.mark.timeout(150)]
LATE_SECONDS = 0.15  # between what is done and its answer, so that kills hit just there
ORDER = ["server", "worker", "web", "server", "worker", "server", "worker"]


@pytest.mark.long
def test_what_was_acknowledged_is_at_the_server_once_whatever_was_killed(tmp_path):
    with (
        ServerProcess(tmp_path, extraction_seconds=0.3, late_seconds=LATE_SECONDS) as server,
        processes(tmp_path / "school", server, 2) as school,
    ):
        talkers = talk_among_kills(school, ORDER, (0.2, 0.8), seed=20261130)
        state = school.ended()
        assert state["left"] == [] and state["gaps"] == 0
        said = Counter(text for thread in state["threads"] for text in thread["said"])
        assert not [text for talker in talkers for text in talker.acknowledged if text not in said]
        for thread in state["threads"]:
            assert server.state.messages(thread["session"]) == thread["said"]
            assert server.state.live(thread["session"]) == []
        assert set(server.state.tasks()) == {"completed"}
        assert sorted(server.state.users()) == sorted({thread["user"] for thread in state["threads"]})
