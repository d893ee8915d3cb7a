"""What can go wrong with OpenViking (seed 002 §10.5).

An error holds the operation, the status, the server's error code when it is one that we know, the request's id, and whether
the same call may succeed later. Nothing else: no key, no header, no text of a user, no answer of the server.
"""

import re
from dataclasses import dataclass
from typing import Final

from chat.memory.backends.base import BackendError

# The codes that the server is known to give; any other word of an answer is not passed on.
SERVER_CODES: Final = frozenset(
    {
        *("INVALID_ARGUMENT", "INVALID_URI", "UNAUTHENTICATED", "PERMISSION_DENIED", "NOT_FOUND", "UNKNOWN", "ALREADY_EXISTS"),
        *("FAILED_PRECONDITION", "RESOURCE_EXHAUSTED", "UNAVAILABLE", "INTERNAL", "UNIMPLEMENTED", "DEADLINE_EXCEEDED"),
    }
)
_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._:/-]{1,128}")
_RETRIED_STATUSES: Final = frozenset({429, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class Details:
    """What is known of a call that failed."""

    operation: str
    status: int = 0
    server_code: str = ""
    request_id: str = ""


class OpenVikingError(BackendError):
    """`is_transient`: a call that may be repeated is repeated at once. `is_refused`: the server has done nothing for sure."""

    is_transient = False
    is_refused = False

    def __init__(self, details: Details) -> None:
        self.details = details
        said = [self.code, f"status {details.status}" if details.status else "", details.server_code]
        said.append(f"request {details.request_id}" if details.request_id else "")
        super().__init__(f"{details.operation}: {', '.join(word for word in said if word)}")


class OpenVikingConnectionError(OpenVikingError):
    """No connection, or one that broke."""

    code = "memory_unreachable"
    is_transient = True


class OpenVikingNotSentError(OpenVikingConnectionError):
    """There was no connection, so that nothing has been sent."""

    is_refused = True


class OpenVikingTimeoutError(OpenVikingError):
    code = "memory_timeout"


class OpenVikingAuthenticationError(OpenVikingError):
    """The server does not take our key. It may later, when the operator has put that right; until then it is no use to repeat."""

    code = "memory_key_refused"
    is_refused = True


class OpenVikingIdentityError(OpenVikingError):
    """The server does not keep people apart as it must: another mode, or an answer about somebody else."""

    code = "memory_not_trusted"


class OpenVikingProtocolError(OpenVikingError):
    """The answer is none that the supported version gives: no envelope, too long, a redirect."""

    code = "memory_protocol"


class OpenVikingRateLimitError(OpenVikingError):
    code = "memory_rate_limited"
    is_transient = True


class OpenVikingUnavailableError(OpenVikingError):
    """The server, or the model that it uses, is in trouble."""

    code = "memory_unavailable"


class OpenVikingRejectedError(OpenVikingError):
    """The server refuses this call, and would again."""

    code = "memory_rejected"
    is_retryable = False
    is_refused = True


class OpenVikingNotFoundError(OpenVikingRejectedError):
    code = "memory_not_found"


class OpenVikingUnclearError(OpenVikingError):
    """It is not known yet whether a batch has arrived; asked again later, it will be."""

    code = "memory_unclear"


class OpenVikingScopeError(OpenVikingError):
    """An id or a category that must not go into a request. Nothing was sent."""

    code = "memory_scope"
    is_retryable = False
    is_refused = True


def request_id_of(value: object) -> str:
    """An id of a request as the server told it, "" when it is none."""
    return value if isinstance(value, str) and _REQUEST_ID.fullmatch(value) else ""


def error_of(details: Details, *, is_upstream: bool = False, is_explained: bool = False) -> OpenVikingError:
    """The error of an answer that is not good. `is_upstream`: the server tells of a model of its own that failed.

    An INVALID_ARGUMENT without an explanation of which argument is trouble of the moment: 0.5.2 reads a session while it writes
    it and cannot parse it ("Expecting value", 13 of 270 calls beside adds and commits; also while one is deleted).
    """
    status = details.status
    is_torn = status == 400 and details.server_code == "INVALID_ARGUMENT" and not is_explained
    if status == 401 and not is_upstream:
        return OpenVikingAuthenticationError(details)
    if status == 429:
        return OpenVikingRateLimitError(details)
    if status in (401, 408) or status >= 500 or is_torn:
        error = OpenVikingUnavailableError(details)
        error.is_transient = status in _RETRIED_STATUSES or status == 401 or is_torn
        return error
    if status == 404:
        return OpenVikingNotFoundError(details)
    if 400 <= status < 500:
        return OpenVikingRejectedError(details)
    return OpenVikingProtocolError(details)
