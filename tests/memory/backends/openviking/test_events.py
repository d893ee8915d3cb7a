"""What is logged and counted (seed 002 §14), and what never is."""

import contextlib
import logging
import re

import httpx
import pytest

from chat.memory.backends.base import BackendError, ContextBudget
from chat.memory.backends.openviking.events import alias
from tests.memory.backends.openviking.wire import IDENTITY, KEY, SCOPE, SESSION, Wire, World, once, recorded, said

SECRET_TEXTS = ("private-question", "private-message", "private-memory", KEY, "tn_1", "us_1", "ag_1", "th_1", IDENTITY.user, SESSION)


@pytest.fixture(autouse=True)
def everything(caplog):
    caplog.set_level(logging.DEBUG)


def lines(caplog, event):
    """The fields of each line of an event."""
    found = [record for record in caplog.records if record.getMessage().startswith(f"{event} ")]
    return [dict(part.split("=", 1) for part in record.getMessage().split()[1:]) for record in found]


async def everything_once(world):
    manager = world.manager()
    added = await manager.add(SCOPE, "th_1", said("We decided private-message.", "private-message too"))
    await manager.follow_up(SCOPE, "th_1")
    await manager.get_context(SCOPE, "private-question", ContextBudget(2_000, 1))
    await manager.search(SCOPE, "", limit=5)
    await manager.forget(SCOPE)
    return added


@pytest.mark.parametrize(
    ("event", "operation"),
    [
        ("openviking.health", "health"),
        ("openviking.session.ensure", "ensure"),
        ("openviking.messages.add", "add"),
        ("openviking.session.commit", "commit"),
        ("openviking.search", "find"),
        ("openviking.task.status", "task"),
        ("openviking.forget", "delete_memories"),
    ],
)
async def test_each_event_is_logged_with_its_fields(event, operation, caplog):
    await everything_once(World())
    line = next(one for one in lines(caplog, event) if one["operation"] == operation)
    assert line["success"] == "true" and line["status_code"] == "200" and line["retry_count"] == "0"
    assert re.fullmatch(r"\d+", line["duration_ms"]) and re.fullmatch(r"mem-[0-9a-f]{32}", line["trace_id"])
    assert (line["user"], line["account"]) == (alias(IDENTITY.user), alias(IDENTITY.account))


async def test_lines_tell_results_tasks_sessions_and_the_request_of_the_server(caplog):
    added = await everything_once(World())
    assert lines(caplog, "openviking.messages.add")[0]["result_count"] == "2"
    commit = lines(caplog, "openviking.session.commit")[0]
    assert (commit["task_id"], commit["session"]) == (added.task_id, alias(SESSION))
    assert lines(caplog, "openviking.task.status")[0]["task_status"] == "completed"
    wire = Wire(recorded("found"))
    await wire.client().find(IDENTITY, "x", limit=3)
    line = lines(caplog, "openviking.search")[-1]
    assert (line["result_count"], line["request_id"]) == ("3", "req-1")
    assert wire.requests[0].headers["x-request-id"] == line["trace_id"]


async def test_a_failed_call_is_logged_with_its_code_status_and_repetitions(caplog):
    with pytest.raises(BackendError):
        await Wire(recorded("upstream_500")).client().find(IDENTITY, "x", limit=3)
    line = lines(caplog, "openviking.search")[-1]
    assert (line["success"], line["error_type"], line["status_code"], line["retry_count"]) == ("false", "memory_unavailable", "503", "2")


@pytest.mark.parametrize(
    ("answer", "level"),
    [("upstream_500", "WARNING"), ("upstream_401", "WARNING"), ("health_wrong_key", "ERROR"), ("task_unknown", "INFO")],
)
async def test_a_refused_key_is_graver_than_trouble_and_what_is_gone_is_no_trouble(answer, level, caplog):
    client = Wire(recorded(answer)).client()
    with contextlib.suppress(BackendError):
        await client.get_task(IDENTITY, "t")
    assert [record.levelname for record in caplog.records if "openviking.task.status" in record.getMessage()] == [level]


async def test_an_identity_that_is_not_ours_is_logged_as_grave(caplog):
    with pytest.raises(BackendError):
        await World(auth_mode="api_key").manager().search(SCOPE, "x", limit=1)
    assert "ERROR" in {record.levelname for record in caplog.records if "openviking.health" in record.getMessage()}
    assert lines(caplog, "openviking.degraded")[0]["reason"] == "not_trusted"


async def test_a_failure_is_a_degradation_with_its_reason_and_code(caplog):
    world = World()
    world.before = once(httpx.Response(500), r"/find")
    with pytest.raises(BackendError):
        await world.manager().search(SCOPE, "x", limit=1)
    (line,) = lines(caplog, "openviking.degraded")
    assert (line["reason"], line["operation"], line["error_type"]) == ("read", "find", "memory_unavailable")


@pytest.mark.parametrize("fault", [None, httpx.ReadError(f"{KEY} private-message"), httpx.Response(500, content=b"private-memory"), "echo"])
async def test_nothing_forbidden_is_ever_logged(fault, caplog):
    world = World()
    if fault == "echo":
        error = {"code": "private-memory", "message": f"private-memory {KEY}", "details": {"uri": "private-memory"}}
        world.before = lambda request: httpx.Response(
            400, json={"status": "error", "error": error}, headers={"x-request-id": "private-memory\x00 b"}
        )
    elif fault:
        world.before = lambda request: None if request.url.path == "/health" else fault
    with contextlib.suppress(BackendError):
        await everything_once(world)
    ours = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith("chat."))
    assert "openviking." in ours and not [text for text in SECRET_TEXTS if text in ours]
    assert "\n" not in ours.replace("\nopenviking.", "")


async def test_metrics_have_the_names_and_labels_of_the_design_text():
    world = World()
    await everything_once(world)
    counts = world.counts
    assert counts.of("openviking_requests_total", operation="add", status="200") == 1
    assert counts.of("openviking_commit_total", status="accepted") == 1
    assert ("openviking_request_duration_seconds", {"operation": "find"}) in counts.observed
    assert ("openviking_search_results", {"operation": "find"}) in counts.observed
    names = {name for name, _ in counts.counted} | {name for name, _ in counts.observed}
    assert names <= {
        *("openviking_requests_total", "openviking_request_duration_seconds", "openviking_commit_total", "openviking_search_results"),
        "openviking_degraded_total",
    }


async def test_a_request_without_an_answer_is_counted_by_its_code():
    world = World()
    world.before = lambda request: httpx.ConnectError("x")
    with pytest.raises(BackendError):
        await world.manager().search(SCOPE, "x", limit=1)
    assert world.counts.of("openviking_requests_total", operation="health", status="memory_unreachable") == 1


async def test_no_metric_has_a_person_a_school_or_a_text_in_a_label():
    world = World()
    await everything_once(world)
    labels = {value for _, pairs in world.counts.counted for _, value in pairs} | {
        v for _, pairs in world.counts.observed for v in pairs.values()
    }
    assert not [text for text in SECRET_TEXTS if text in labels] and all(len(label) < 40 for label in labels)
