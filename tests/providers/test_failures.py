"""Statuses, error objects and headers in words of the error tree."""

from datetime import UTC, datetime

import pytest

from chat.providers.base import (
    ContextTooLong,
    ModelNotFound,
    ProviderAuthError,
    ProviderOverloaded,
    ProviderRateLimited,
    ProviderRejected,
)
from chat.providers.failures import failure_of_object, failure_of_status, retry_after_seconds


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (302, ProviderRejected),
        (400, ProviderRejected),
        (401, ProviderAuthError),
        (403, ProviderAuthError),
        (404, ModelNotFound),
        (408, ProviderOverloaded),
        (413, ContextTooLong),
        (422, ProviderRejected),
        (429, ProviderRateLimited),
        (500, ProviderOverloaded),
        (502, ProviderOverloaded),
        (503, ProviderOverloaded),
        (504, ProviderOverloaded),
        (529, ProviderOverloaded),
    ],
)
def test_each_status_has_its_error(status, kind):
    error = failure_of_status(status)
    assert type(error) is kind
    assert error.status == status


@pytest.mark.parametrize(
    "body",
    [
        b'{"error": {"code": "context_length_exceeded", "message": "x"}}',
        b'{"error": {"message": "This model\'s maximum context length is 8192 tokens", "code": null}}',
        b'{"error": {"type": "exceed_context_size_error", "message": "the request exceeds the available context size"}}',
        b'{"error": "prompt is too long: 9000 tokens > 8000 maximum"}',
        b'{"object": "error", "message": "Please reduce the length of the messages"}',
        b"input exceeds context window",
    ],
)
def test_a_bad_request_about_the_window_is_told_apart(body):
    assert type(failure_of_status(400, body)) is ContextTooLong


@pytest.mark.parametrize("body", [b"", b"\xff\xfe", b"[1]", b'{"error": null}', b'{"error": {"message": "no such parameter: top_k"}}'])
def test_any_other_bad_request_is_a_refusal(body):
    assert type(failure_of_status(400, body)) is ProviderRejected


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"code": 401, "message": "x"}, ProviderAuthError),
        ({"code": 400, "message": "maximum context length is 10"}, ContextTooLong),
        ({"type": "invalid_request_error", "message": "x"}, ProviderRejected),
        ({"type": "authentication_error"}, ProviderAuthError),
        ({"code": 12}, ProviderOverloaded),
        (None, ProviderOverloaded),
    ],
)
def test_an_error_object_has_its_error(error, kind):
    assert type(failure_of_object(error)) is kind


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        (" 0.5 ", 0.5),
        ("Wed, 01 Jul 2026 12:00:30 GMT", 30.0),
        ("Wed, 01 Jul 2026 11:00:00 GMT", 0.0),
        ("-3", None),
        ("soon", None),
        ("", None),
        ("inf", None),
        ("9" * 400, None),
    ],
)
def test_the_wait_asked_for_is_read_in_both_forms(value, seconds):
    assert retry_after_seconds(value, lambda: datetime(2026, 7, 1, 12, tzinfo=UTC)) == seconds
