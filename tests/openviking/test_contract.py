"""What our client relies on, asked of either server: the same statuses and the same make of answers."""

import time
import uuid
from typing import Any

import httpx
import pytest

from tests.openviking.real import ask
from tests.openviking.shape import shape, unlike
from tests.openviking_server.server import Server

SAID = "We decided to keep the marmots in room 305."  # an event: the one kind that the real server does not hold back for ten seconds

SOMETIMES = "queue_status"  # a key of some finished tasks


class Talk:
    """Asks both a server and a fresh one on loopback, and notes where the make of the two answers differs."""

    def __init__(self, server: Any, twin: Server) -> None:
        self.server, self.twin, self.user, self.differences = server, twin, f"df_{uuid.uuid4().hex}", list[str]()
        self.names = dict[str, str]()  # what the server made up, and what the twin did

    def __call__(self, method: str, path: str, body: Any = None, *, user: str = "") -> tuple[int, Any]:
        status, told = ask(self.server, method, path, user=user or self.user, body=body)
        for one, other in self.names.items():
            path = path.replace(one, other)
        twin_status, twin_told = ask(self.twin, method, path, user=user or self.user, body=body)
        found = unlike(shape(told), shape(twin_told))
        found += [f"{status} / {twin_status}"] if status != twin_status else []
        self.differences += [f"{method} {path}: {one}" for one in found if not one.endswith(SOMETIMES)]
        if status == 200 and isinstance(told.get("result"), dict) and told["result"].get("task_id"):
            self.names[told["result"]["task_id"]] = twin_told["result"]["task_id"]
        return status, told

    def settled(self, task_id: str) -> dict[str, Any]:
        end = time.monotonic() + 60
        while True:
            told = ask(self.server, "GET", f"/api/v1/tasks/{task_id}", user=self.user)[1]["result"]
            if told["status"] not in ("pending", "running") or time.monotonic() > end:
                return told
            time.sleep(0.2)

    def found(self, query: str) -> list[dict[str, Any]]:
        """Searched until something is found: a completed task is not searchable at once."""
        asked = {"query": query, "level": 2, "context_type": "memory", "limit": 8, "read_content": True}
        asked |= {"target_uri": f"viking://user/{self.user}/memories", "score_threshold": 0.55}
        end = time.monotonic() + 20
        while True:
            hits = ask(self.server, "POST", "/api/v1/search/find", user=self.user, body=asked)[1]["result"]["memories"]
            if hits or time.monotonic() > end:
                self("POST", "/api/v1/search/find", asked)
                twin_hits = ask(self.twin, "POST", "/api/v1/search/find", user=self.user, body=asked)[1]["result"]["memories"]
                self.names |= {one["uri"]: other["uri"] for one, other in zip(hits, twin_hits, strict=True)}
                return hits
            time.sleep(0.2)


@pytest.fixture
def talk(memory_server):
    with Server() as twin:
        told = Talk(memory_server, twin)
        yield told
        for path in (f"/api/v1/fs?uri=viking://user/{told.user}/memories&recursive=true&wait=true", "/api/v1/sessions/s"):
            ask(memory_server, "DELETE", path, user=told.user)
    assert not told.differences


def batch(*texts: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text} for text in texts]}


def test_health_tells_who_asks(talk):
    status, told = talk("GET", "/health")
    assert status == 200 and told["auth_mode"] == "trusted"
    assert (told["account_id"], told["user_id"]) == (talk.server.account, talk.user)
    assert told["version"] == "0.5.2"


def test_a_session_is_made_once_and_counts_what_comes(talk):
    assert talk("GET", "/api/v1/sessions/s")[0] == 404
    first = talk("GET", "/api/v1/sessions/s?auto_create=true")[1]["result"]
    assert (first["total_message_count"], first["user"]["user_id"]) == (0, talk.user)
    assert talk("POST", "/api/v1/sessions/s/messages/batch", batch("a", "b"))[1]["result"]["added"] == 2
    again = talk("GET", "/api/v1/sessions/s?auto_create=true")[1]["result"]
    assert (again["message_count"], again["total_message_count"]) == (2, 2)
    assert [one["session_id"] for one in talk("GET", "/api/v1/sessions")[1]["result"]] == ["s"]


def test_the_same_batch_twice_is_stored_twice_and_a_long_one_not_at_all(talk):
    for _ in range(2):
        talk("POST", "/api/v1/sessions/s/messages/batch", batch("same"))
    status, told = talk("POST", "/api/v1/sessions/s/messages/batch", batch(*["x"] * 101))
    assert (status, told["error"]["code"]) == (400, "INVALID_ARGUMENT")
    assert talk("GET", "/api/v1/sessions/s")[1]["result"]["total_message_count"] == 2


def test_what_was_said_can_be_searched_after_the_task(talk):
    talk("POST", "/api/v1/sessions/s/messages/batch", batch(SAID))
    told = talk("POST", "/api/v1/sessions/s/commit", {})[1]["result"]
    assert told["status"] == "accepted"
    assert talk("POST", "/api/v1/sessions/s/commit", {})[1]["result"]["status"] == "skipped"
    task = talk.settled(told["task_id"])
    assert (task["status"], task["resource_id"], task["error"]) == ("completed", "s", None)
    talk("GET", f"/api/v1/tasks/{told['task_id']}")
    listed = talk("GET", "/api/v1/tasks?resource_id=s&task_type=session_commit")[1]["result"]
    assert [one["task_id"] for one in listed] == [told["task_id"]]
    hits = talk.found("where are the marmots, what was decided")
    assert hits and "marmots" in hits[0]["content"]
    assert hits[0]["uri"].startswith(f"viking://user/{talk.user}/memories/events/")
    assert hits[0]["tags"] == ["memory_type=events"] and 0.5 < hits[0]["score"] < 1
    after = talk("GET", "/api/v1/sessions/s")[1]["result"]
    assert (after["message_count"], after["total_message_count"], after["commit_count"]) == (0, 1, 1)


def test_a_failed_extraction_is_final_and_says_so(talk):
    talk("POST", "/api/v1/sessions/s/messages/batch", batch(f"{SAID} [[stub:garbage]]"))
    task = talk.settled(talk("POST", "/api/v1/sessions/s/commit", {})[1]["result"]["task_id"])
    assert task["status"] == "failed" and task["error"] and task["result"] is None


def test_searching_is_strict_about_what_it_is_asked(talk):
    find = "/api/v1/search/find"
    assert talk("POST", find, {"query": "marmots", "top_k": 3})[0] == 400
    assert talk("POST", find, {"query": "marmots", "limit": 0})[0] == 400
    assert talk("POST", find, {"query": "marmots", "target_uri": "viking://user/memories"})[1]["error"]["code"] == "INVALID_URI"
    status, told = talk("POST", find, {"query": "marmots", "level": 2, "target_uri": "viking://user/somebody/memories"})
    assert (status, told["error"]["code"]) == (403, "PERMISSION_DENIED")
    assert talk("POST", find, {"query": "marmots", "level": 2})[1]["result"] == {"memories": [], "resources": [], "skills": [], "total": 0}


def test_what_is_kept_can_be_listed_read_and_deleted(talk):
    talk("POST", "/api/v1/sessions/s/messages/batch", batch(SAID))
    talk.settled(talk("POST", "/api/v1/sessions/s/commit", {})[1]["result"]["task_id"])
    uri = talk.found("marmots decided")[0]["uri"]
    root = f"viking://user/{talk.user}/memories"
    assert uri not in talk("GET", f"/api/v1/fs/ls?uri={root}&recursive=true&simple=true")[1]["result"]  # too deep for it
    assert uri in [one["uri"] for one in talk("GET", f"/api/v1/fs/tree?uri={root}&level_limit=9&output=original")[1]["result"]]
    assert "marmots" in talk("GET", f"/api/v1/content/read?uri={uri}")[1]["result"]
    assert talk("GET", "/api/v1/fs/ls?uri=viking://user/somebody/memories")[0] == 403
    assert talk("GET", f"/api/v1/content/read?uri={root}/nothing.md")[0] == 404
    assert talk("DELETE", f"/api/v1/fs?uri={root}&recursive=true&wait=true")[1]["result"]["estimated_deleted_count"] >= 1
    assert talk("DELETE", f"/api/v1/fs?uri={root}&recursive=true&wait=true")[0] == 200
    assert talk("POST", "/api/v1/search/find", {"query": "marmots decided", "level": 2})[1]["result"]["memories"] == []
    assert talk("DELETE", "/api/v1/sessions/s")[0] == 200
    assert talk("DELETE", "/api/v1/sessions/s")[0] == 404


def test_one_user_never_meets_another(talk):
    talk("POST", "/api/v1/sessions/s/messages/batch", batch(SAID))
    told = talk("POST", "/api/v1/sessions/s/commit", {})[1]["result"]
    talk.settled(told["task_id"])
    assert talk.found("marmots decided")
    stranger = f"df_{uuid.uuid4().hex}"
    assert talk("GET", "/api/v1/sessions/s", user=stranger)[0] == 404
    assert talk("GET", f"/api/v1/tasks/{told['task_id']}", user=stranger)[0] == 404
    assert talk("POST", "/api/v1/search/find", {"query": "marmots decided", "level": 2}, user=stranger)[1]["result"]["memories"] == []


@pytest.mark.parametrize(("user", "status"), [("", 400), ("a/b", 400), ("..", 400), ("a b", 400), ("x" * 256, 400)])
def test_an_odd_user_is_refused(memory_server, user, status):
    headers = {"X-API-Key": memory_server.key, "X-OpenViking-Account": memory_server.account}
    assert odd(memory_server, headers | ({"X-OpenViking-User": user} if user else {})) == status


@pytest.mark.parametrize("key", ["", "wrong"])
def test_a_wrong_key_is_refused(memory_server, key):
    headers = {"X-API-Key": key, "X-OpenViking-Account": memory_server.account, "X-OpenViking-User": "df_x"}
    assert odd(memory_server, headers) == 401


def odd(server: Any, headers: dict[str, str]) -> int:
    with httpx.Client(trust_env=False) as client:
        return client.get(f"{server.base_url}/api/v1/sessions", headers=headers).status_code
