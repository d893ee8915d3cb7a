"""Each call that the client makes, with a good answer and the request that it must be."""

import pytest

from chat.memory.backends.openviking import errors
from tests.memory.backends.openviking.wire import IDENTITY, RECORDED, SESSION

HELLO = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "Good morning."}]  # as many as were recorded
TASK = RECORDED["committed"]["body"]["result"]["task_id"]
MEMORIES = IDENTITY.memories

# Each call with a good answer, and the request that it must be: method, address, query, body.
CALLS = {
    "ensure": (
        lambda c: c.ensure_session(IDENTITY, SESSION),
        "session",
        "GET",
        f"/api/v1/sessions/{SESSION}",
        {"auto_create": "true"},
        None,
    ),
    "add": (
        *(lambda c: c.add_messages(IDENTITY, SESSION, HELLO), "added", "POST", f"/api/v1/sessions/{SESSION}/messages/batch"),
        *({}, {"messages": HELLO}),
    ),
    "commit": (
        *(lambda c: c.commit_session(IDENTITY, SESSION), "committed", "POST", f"/api/v1/sessions/{SESSION}/commit"),
        *({}, {"keep_recent_count": 0}),
    ),
    "task": (lambda c: c.get_task(IDENTITY, TASK), "task_completed", "GET", f"/api/v1/tasks/{TASK}", {}, None),
    "tasks": (
        *(lambda c: c.list_tasks(IDENTITY, SESSION, "running"), "tasks", "GET", "/api/v1/tasks"),
        *({"task_type": "session_commit", "limit": "200", "resource_id": SESSION, "status": "running"}, None),
    ),
    "cancel": (lambda c: c.cancel_task(IDENTITY, TASK), "cancel_finished", "POST", f"/api/v1/tasks/{TASK}/cancel", {}, None),
    "find": (
        *(lambda c: c.find(IDENTITY, "chalk", limit=8, category="events"), "found", "POST", "/api/v1/search/find", {}),
        {
            **{"query": "chalk", "target_uri": MEMORIES, "context_type": "memory", "level": 2, "limit": 8},
            **{"score_threshold": 0.55, "read_content": True, "tags": ["memory_type=events"]},
        },
    ),
    "list": (
        *(lambda c: c.list_memories(IDENTITY), "tree", "GET", "/api/v1/fs/tree"),
        *({"uri": MEMORIES, "output": "original", "level_limit": "12", "node_limit": "5000"}, None),
    ),
    "read": (
        *(lambda c: c.read_memory(IDENTITY, f"{MEMORIES}/profile.md"), "read", "GET", "/api/v1/content/read"),
        *({"uri": f"{MEMORIES}/profile.md"}, None),
    ),
    "sessions": (lambda c: c.list_sessions(IDENTITY), "sessions", "GET", "/api/v1/sessions", {}, None),
    "delete_session": (
        *(lambda c: c.delete_session(IDENTITY, SESSION), "session_deleted", "DELETE", f"/api/v1/sessions/{SESSION}"),
        *({}, None),
    ),
    "delete_memories": (
        *(lambda c: c.delete_memories(IDENTITY), "memories_deleted", "DELETE", "/api/v1/fs"),
        *({"uri": MEMORIES, "recursive": "true", "wait": "true"}, None),
    ),
}
REPEATED = [name for name in CALLS if name != "add"]


async def failing(wire, call="find", **settings):
    with pytest.raises(errors.OpenVikingError) as caught:
        await CALLS[call][0](wire.client(**settings))
    return caught.value
