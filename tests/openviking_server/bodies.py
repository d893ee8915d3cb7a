"""What answers look like: sessions, tasks, errors."""

from datetime import UTC, datetime
from typing import Any

from tests.openviking_server.state import Session, Task, Who

TYPES = ["entities", "events", "identity", "preferences", "profile", "soul"]
FEW_TOKENS = {"total_tokens": 0, "cached_tokens": 0, "reasoning_tokens": 0}
NO_TOKENS = {"prompt_tokens": 0, "completion_tokens": 0} | FEW_TOKENS


class Refused(Exception):
    """An error answer. `is_bare` leaves the null keys out, as the server does for validation and for routes."""

    def __init__(self, status: int, code: str, message: str, *, details: dict[str, Any] | None = None, is_bare: bool = False) -> None:
        super().__init__(message)
        error = {"code": code, "message": message}
        if details is not None or not is_bare:
            error["details"] = details or {}
        self.status = status
        self.body = {"status": "error", "error": error} | ({} if is_bare else {"result": None, "telemetry": None, "profile": None})


def invalid(place: str, message: str, kind: str) -> Refused:
    found = {"loc": place.split("."), "message": message, "type": kind}
    text = f"Invalid request parameters: {place}: {message}"
    return Refused(400, "INVALID_ARGUMENT", text, details={"validation_errors": [found]}, is_bare=True)


def missing(what: str, name: str) -> Refused:
    text = "Task not found or expired" if what == "task" else f"{what.title()} not found: {name}"
    return Refused(404, "NOT_FOUND", text, details={"type": what, "resource": name})


def denied(uri: str) -> Refused:
    return Refused(403, "PERMISSION_DENIED", f"Access denied for {uri}: read permission required", details={"resource": uri})


def session_body(who: Who, session: Session, remembered: int) -> dict[str, Any]:
    return {
        "session_id": session.id,
        "created_at": shown_time(session.created_at),
        "updated_at": shown_time(session.updated_at),
        "created_by_account_id": who.account,
        "created_by_user_id": who.user,
        "message_count": len(session.live),
        "commit_count": len(session.archives),
        "memories_extracted": {"total": remembered} | ({"memory_write": remembered} if remembered else {}),
        "last_commit_at": shown_time(session.last_commit_at),
        "llm_token_usage": NO_TOKENS,
        "embedding_token_usage": {"total_tokens": 0},
        "pending_tokens": pending(session),
        "keep_recent_count": 0,
        "retention_mode": "",
        "keep_recent_turn_count": 0,
        "retained_message_token_budget": 0,
        "min_raw_tail_steps": 1,
        "memory_policy": None,
        "auto_commit_policy": None,
        "last_message_at": shown_time(session.last_message_at),
        "last_auto_commit_at": "",
        "last_idle_commit_accepted_at": "",
        "total_message_count": len(session.messages),
        "uri": f"viking://user/{who.user}/sessions/{session.id}",
        "user": {"account_id": who.account, "user_id": who.user},
        "memory_extraction_config": {"events": {"tags": []}},
    }


def task_body(task: Task) -> dict[str, Any]:
    status = task.status
    result = {
        "session_id": task.session_id,
        "archive_uri": task.archive_uri,
        "memories_extracted": {"memory_write": task.written} if task.written else {},
        "session_skills_extracted": 0,
        "session_skill_uris": [],
        "memory_extraction": {"skipped": 0, "skipped_operations": []},
        "usage_events_extracted": 0,
        "effective_memory_types": TYPES,
        "agent_evolution_enabled": False,
        "agent_memory_skip_reason": "agent_evolution_disabled",
        "token_usage": {
            "llm": NO_TOKENS,
            "embedding": {"total_tokens": 0},
            "total": {"total_tokens": 0, "cached_tokens": 0, "reasoning_tokens": 0},
        },
        "memory_diff_uri": f"{task.archive_uri}/memory_diff.json",
    }
    has_ended = status in ("completed", "failed")
    until = task.ready_at if has_ended else task.created_at
    return {
        "task_id": task.id,
        "task_type": "session_commit",
        "status": status,
        "created_at": task.created_at,
        "updated_at": until,
        "processing_seconds": None if status == "pending" else until - task.created_at,
        "resource_id": task.session_id,
        "meta": {},
        "stage": status if has_ended else None,
        "result": result if status == "completed" else None,
        "error": task.error if status == "failed" else None,
        "created_at_iso": datetime.fromtimestamp(task.created_at, UTC).isoformat(),
        "updated_at_iso": datetime.fromtimestamp(until, UTC).isoformat(),
    }


def pending(session: Session) -> int:
    return sum(len(one.get("content") or "") // 4 + 1 for one in session.live)


def shown_time(at: float, unit: str = "milliseconds") -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec=unit).replace("+00:00", "Z") if at else ""
