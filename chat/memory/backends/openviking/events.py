"""What is logged and counted about calls (seed 002 §14): operations, figures and hashes, never a key, a header or a text.

A line is `event name=value name=value`; values hold no blanks. Users and sessions are hashes already, of which the beginning is told.
"""

import hashlib
import logging
from dataclasses import dataclass, field
from typing import Final

from chat.memory.backends.base import BackendError, Meter
from chat.memory.backends.openviking.errors import (
    OpenVikingAuthenticationError,
    OpenVikingError,
    OpenVikingIdentityError,
    OpenVikingNotFoundError,
    OpenVikingScopeError,
)
from chat.memory.backends.openviking.scope import Identity

log = logging.getLogger("chat.memory.backends.openviking")

EVENTS: Final = {
    "health": "openviking.health",
    "ensure": "openviking.session.ensure",
    "add": "openviking.messages.add",
    "commit": "openviking.session.commit",
    "find": "openviking.search",
    "list": "openviking.search",
    "read": "openviking.search",
    "task": "openviking.task.status",
    "tasks": "openviking.task.status",
    "cancel": "openviking.task.status",
    "sessions": "openviking.forget",
    "delete_session": "openviking.forget",
    "delete_memories": "openviking.forget",
}
# Nobody's mistake of the moment: somebody has to look at the installation.
_GRAVE: Final = (OpenVikingAuthenticationError, OpenVikingIdentityError, OpenVikingScopeError)


@dataclass(slots=True)
class Report:
    """What became of one call, filled in while it goes on."""

    operation: str
    identity: Identity
    session_id: str = ""
    trace_id: str = ""
    status: int = 0
    request_id: str = ""
    attempts: int = 0
    fields: dict[str, object] = field(default_factory=dict)


def alias(value: str) -> str:
    """Twelve characters that stand for an account, a user or a session and tell nothing of them."""
    return value[:12] if value.startswith("df_") else hashlib.sha256(value.encode()).hexdigest()[:12]


def called(meter: Meter, report: Report, seconds: float, error: BackendError | None) -> None:
    """Logs and counts a call that is over."""
    status = str(report.status) if report.status else error.code if error else ""
    meter.count("openviking_requests_total", operation=report.operation, status=status)
    meter.observe("openviking_request_duration_seconds", seconds, operation=report.operation)
    fields = {
        "operation": report.operation,
        "duration_ms": round(seconds * 1_000),
        "success": str(error is None).lower(),
        "status_code": report.status,
        "error_type": error.code if error else "",
        "retry_count": max(0, report.attempts - 1),
        "account": alias(report.identity.account),
        "user": alias(report.identity.user),
        "session": alias(report.session_id) if report.session_id else "",
        "trace_id": report.trace_id,
        "request_id": report.request_id,
        **report.fields,
    }
    is_expected = error is None or isinstance(error, OpenVikingNotFoundError)  # that there is no such thing is an answer
    level = logging.INFO if is_expected else logging.ERROR if isinstance(error, _GRAVE) else logging.WARNING
    log.log(level, "%s %s", EVENTS[report.operation], _line(fields))


def degraded(meter: Meter, reason: str, *, error: BackendError | None = None, is_incident: bool = False, **fields: object) -> None:
    """Says that memory does less than it should, and why. An incident is what must never happen."""
    meter.count("openviking_degraded_total", reason=reason)
    operation = error.details.operation if isinstance(error, OpenVikingError) else ""
    level = logging.ERROR if is_incident or isinstance(error, _GRAVE) else logging.WARNING
    log.log(level, "openviking.degraded %s", _line({"reason": reason, "operation": operation, **fields}))


def unsupported(version: str, supported: str) -> None:
    log.warning("openviking.health %s", _line({"operation": "health", "version": version, "supported": supported}))


def _line(fields: dict[str, object]) -> str:
    return " ".join(f"{name}={'_'.join(str(value).split())}" for name, value in fields.items() if value != "")
