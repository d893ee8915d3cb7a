"""Every recorded exchange of the endpoints that we use, asked again: the same status, error code and make of the answer."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import shared_folder
from tests.openviking.shape import shape, unlike
from tests.openviking_server.contract import Request
from tests.openviking_server.server import Server

pytestmark = pytest.mark.mock
FILES = ["01_health", "02_full_loop", "03_sessions", "04_messages", "06_commits", "07_tasks", "08_search", "09_authentication"]
# Endpoints, options and steps that this product does not use, so that the server on loopback does not have them.
NOT_USED = (
    "/search/search",
    "/context",
    "/archives/",
    "/system/",
    "/cancel",
    "/ready",
    "include_events",
    "user_id=",
    "memory_diff",
    "a%2Fb",
)
STEPS_NOT_USED = ("keep two", "keep two again", "create with unknown memory type", "bad message kind", "role root asserted")
SOMETIMES = "queue_status"  # a key of some finished tasks


def recorded(name: str) -> dict[str, Any]:
    folder = shared_folder()
    if folder is None:
        pytest.skip("needs the recorded exchanges (SHARED_DIR)")
    return json.loads((Path(folder) / "openviking" / "fixtures" / f"{name}.json").read_text())


def raw(body: Any) -> bytes:
    if isinstance(body, dict) and "$raw" in body:
        return body["$raw"].encode()
    return b"" if body is None else json.dumps(body).encode()


def same_ids(one: Any, other: Any) -> dict[str, str]:
    """The recorded task ids, and ours in their places."""
    if isinstance(one, dict) and isinstance(other, dict):
        found = {one["task_id"]: other["task_id"]} if one.get("task_id") and other.get("task_id") else {}
        for key in one.keys() & other.keys():
            found |= same_ids(one[key], other[key])
        return found
    if isinstance(one, list) and isinstance(other, list):
        return {key: value for pair in zip(one, other, strict=False) for key, value in same_ids(*pair).items()}
    return {}


def is_ours(exchange: dict[str, Any]) -> bool:
    asked = json.dumps(exchange["request"])
    return exchange["step"] not in STEPS_NOT_USED and "$abbreviated" not in asked and not any(part in asked for part in NOT_USED)


@pytest.mark.parametrize("name", [*FILES, "10_isolation"])
def test_what_was_recorded_is_answered_in_the_same_way(name: str) -> None:
    told = recorded(name)
    server, ids, wrong, compared = Server(auth_mode=told["auth_mode"]), dict[str, str](), [], 0
    for exchange in filter(is_ours, told["exchanges"]):
        asked, answered = exchange["request"], exchange["response"]
        path = asked["path"]
        for one, other in ids.items():
            path = path.replace(one, other)
        status, body = server.contract.answer(Request(asked["method"], path, asked["headers"], raw(asked["body"])))
        if status == 404 and answered["status"] == 200:
            continue  # what it speaks of was made in a step that was not recorded
        ids |= same_ids(answered["body"], body)
        compared += 1
        code = [(one.get("error") or {}).get("code") for one in (answered["body"], body)]
        differences = [one for one in unlike(shape(answered["body"]), shape(body)) if not one.endswith(SOMETIMES)]
        if answered["status"] != status or code[0] != code[1] or differences:
            wrong.append((exchange["step"], answered["status"], status, code, differences))
    assert not wrong
    assert compared >= 6
