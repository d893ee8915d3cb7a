"""The real server, the web process and the worker are killed in mid-work: nothing is there twice, and nothing acknowledged is lost."""

import json
import sys
from urllib.parse import quote

import pytest

from tests.openviking.real import ask, count, real_server
from tests.processes.memory_processes import processes, talk_among_kills

pytestmark = [pytest.mark.openviking, pytest.mark.timeout(1200)]
ORDER = ["worker", "server", "web", "worker", "server", "worker", "web", "server", "worker"]


def texts(server, user, session):
    """All that ever arrived in a session, in order: what the commits took, and what waits for the next."""
    path = f"/api/v1/sessions/{quote(session)}"
    commits = ask(server, "GET", path, user=user)[1]["result"]["commit_count"]
    told = []
    for number in range(1, commits + 1):
        status, archive = ask(server, "GET", f"{path}/archives/archive_{number:03}", user=user)
        told += archive["result"]["messages"] if status == 200 else unfinished(server, user, session, number)
    told += ask(server, "GET", f"{path}/context", user=user)[1]["result"]["messages"]
    return ["".join(part["text"] for part in message["parts"]) for message in told]


def unfinished(server, user, session, number):
    """The messages of an archive whose task has failed, as one can that a kill has hit: it is there, and nothing is made of it."""
    uri = f"viking://user/{user}/sessions/{session}/history/archive_{number:03}/messages.jsonl"
    lines = ask(server, "GET", f"/api/v1/content/read?uri={quote(uri)}", user=user)[1]["result"].splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def test_what_was_acknowledged_is_at_the_real_server_once(tmp_path):
    with real_server() as server, processes(tmp_path / "school", server, 3) as school:
        talkers = talk_among_kills(school, ORDER, (0.3, 2.0), seed=20261130)
        state = school.ended()
        assert state["left"] == [] and state["gaps"] == 0
        said = [text for thread in state["threads"] for text in thread["said"]]
        assert not [text for talker in talkers for text in talker.acknowledged if said.count(text) != 1]
        for thread in state["threads"]:
            assert texts(server, thread["user"], thread["session"]) == thread["said"]
            assert count(server, thread["user"], thread["session"]) == len(thread["said"])
            listed = ask(server, "GET", f"/api/v1/tasks?resource_id={thread['session']}", user=thread["user"])[1]["result"]
            assert {task["status"] for task in listed} == {"completed"}
        sys.stdout.write(f"\n{len(said)} messages in {len(state['threads'])} conversations, killed: {school.kills}")
