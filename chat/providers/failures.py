"""What went wrong, in words of the error tree. Bodies are looked at here and forgotten."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from chat.providers.base import (
    ContextTooLong,
    ModelNotFound,
    ProviderAuthError,
    ProviderError,
    ProviderOverloaded,
    ProviderRateLimited,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnreachable,
    StreamBroken,
)

# How services say that a prompt does not fit: OpenAI and compatible ones, llama.cpp, vLLM, Anthropic's and Ollama's wording.
_CONTEXT = re.compile(
    r"context[_ -]?(length|size|window)|maximum context|exceed_context|prompt is too long|too many (input )?tokens|"
    r"(prompt|input) (length )?exceeds|reduce the length of the (messages|prompt)"
)
_WORDS: tuple[tuple[re.Pattern[str], type[ProviderError]], ...] = (
    (_CONTEXT, ContextTooLong),
    (re.compile(r"rate.?limit|too many requests|quota"), ProviderRateLimited),
    (re.compile(r"invalid_api_key|authentication|permission|unauthori[sz]ed"), ProviderAuthError),
    (re.compile(r"model_not_found|model .*not found"), ModelNotFound),
    (re.compile(r"invalid_request|bad_request|content_filter|content policy"), ProviderRejected),
)


def failure_of_status(status: int, body: bytes = b"", retry_after: str = "") -> ProviderError:
    """The error that an answer with `status` means; `body` only decides whether a 400 is about the context window."""
    kind: type[ProviderError] = ProviderRejected
    if status in (401, 403):
        kind = ProviderAuthError
    elif status == 404:
        kind = ModelNotFound
    elif status == 429:
        kind = ProviderRateLimited
    elif status == 408 or status >= 500:
        kind = ProviderOverloaded
    elif status == 413 or (status in (400, 422) and _CONTEXT.search(_words_of(_error_in(body)))):
        kind = ContextTooLong
    return kind(status=status, retry_after_seconds=retry_after_seconds(retry_after))


def failure_of_object(error: object) -> ProviderError:
    """The error that an error object in an answer with status 200 means."""
    code = error.get("code") or error.get("status") if isinstance(error, dict) else None
    if isinstance(code, int | str) and str(code).isdecimal() and 400 <= int(code) < 600:
        return failure_of_status(int(code), json.dumps({"error": error}).encode())
    words = _words_of(error)
    return next((kind() for pattern, kind in _WORDS if pattern.search(words)), ProviderOverloaded())


def failure_of_exception(error: Exception, *, is_answering: bool) -> ProviderError:
    """The error that a failure of the connection means. `is_answering`: the head of the answer had arrived."""
    if isinstance(error, httpx.TimeoutException):
        return ProviderUnreachable() if isinstance(error, httpx.ConnectTimeout) else ProviderTimeout()
    return StreamBroken() if is_answering else ProviderUnreachable()


def retry_after_seconds(value: str, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> float | None:
    """The wait that a Retry-After header asks for, in seconds or as a date; None when it says nothing usable."""
    value = value.strip()
    if re.fullmatch(r"\d{1,9}(\.\d+)?", value):
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now()).total_seconds())


def _error_in(body: bytes) -> object:
    """The error object of a JSON body, or the body's text when it is none."""
    text = body.decode("utf-8", "replace")
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value.get("error", value) if isinstance(value, dict) else value


def _words_of(error: object) -> str:
    if isinstance(error, dict):
        return " ".join(str(error.get(name) or "") for name in ("code", "type", "message", "detail")).lower()
    return str(error).lower()
