"""Several web processes and workers on PostgreSQL and Redis with the real server, among kills and while everything is forgotten."""

import sys

import pytest

from tests.openviking.cluster import cluster, kill_some, remembered, talking
from tests.openviking.cluster_world import WORDS
from tests.openviking.real import ask, count, real_server
from tests.openviking.test_kills import texts, unfinished

pytestmark = [pytest.mark.openviking, pytest.mark.timeout(600)]
AMONG = ["worker0", "web0", "server", "worker1", "web1", "server", "worker0"]
CONVERSATIONS = 3


def sessions_of(server, user):
    return [one["session_id"] for one in ask(server, "GET", "/api/v1/sessions", user=user)[1]["result"]]


def files_of(server, user):
    status, told = ask(server, "GET", f"/api/v1/fs/tree?uri=viking://user/{user}/memories&output=original&level_limit=12", user=user)
    return [one["uri"] for one in told["result"] if not one["isDir"]] if status == 200 else []


def failed_rounds(server, thread):
    """Of how many rounds the server has made nothing, because its tasks failed; a kill can do that, and teachers are told of each."""
    path = f"/api/v1/sessions/{thread['session']}"
    status, told = ask(server, "GET", path, user=thread["user"])
    rounds = 0
    for number in range(1, told["result"]["commit_count"] + 1 if status == 200 else 1):
        if ask(server, "GET", f"{path}/archives/archive_{number:03}", user=thread["user"])[0] != 200:
            rounds += sum(one["role"] == "user" for one in unfinished(server, thread["user"], thread["session"], number))
    return rounds


def assert_each_is_there_once(server, threads, talkers):
    said = [text for thread in threads for text in thread["said"]]
    assert not [text for talker in talkers for text in talker.acknowledged if said.count(text) != 1]
    for thread in threads:
        assert texts(server, thread["user"], thread["session"]) == thread["said"]
        assert count(server, thread["user"], thread["session"]) == len(thread["said"])


def test_two_schools_on_many_processes(tmp_path):
    with real_server() as server, cluster(tmp_path / "cluster", server) as school:
        *agreed, silent = school.speakers
        with talking(school, school.speakers, CONVERSATIONS, "first") as talkers:
            kill_some(school, AMONG, (0.3, 1.5), seed=20261201)
        state = school.settled()
        assert state["gaps"] == sum(failed_rounds(server, thread) for thread in state["threads"])
        heard = [talker for talker in talkers if talker.speaker["has_agreed"]]
        threads = [thread for thread in state["threads"] if thread["user"] != silent["user"]]
        assert len(threads) == len(heard) == CONVERSATIONS * len(agreed)
        assert_each_is_there_once(server, threads, heard)
        assert sessions_of(server, silent["user"]) == [] and files_of(server, silent["user"]) == []

        for speaker in agreed:
            told = remembered(school, speaker)
            assert [word for word in WORDS if word in told] == [speaker["word"]]
        school.settled()

        leaving = agreed[2]  # who teaches in both schools, in the first
        with talking(school, agreed, 1, "meanwhile") as meanwhile:
            school.world("forget", leaving["school"], str(leaving["teacher"]))
            kill_some(school, ["worker1", "server", "web0"], (0.5, 1.5), seed=1)
        school.world("forget", leaving["school"], str(leaving["teacher"]))
        state = school.settled()
        assert sessions_of(server, leaving["user"]) == [] and files_of(server, leaving["user"]) == []
        others = [thread for thread in state["threads"] if thread["user"] not in (silent["user"], leaving["user"])]
        stay = [talker for talker in [*heard, *meanwhile] if talker.speaker != leaving]
        assert_each_is_there_once(server, others, stay)
        messages = sum(len(thread["said"]) for thread in others)
        sys.stdout.write(f"\n{messages} messages in {len(others)} conversations, killed: {school.kills}")
