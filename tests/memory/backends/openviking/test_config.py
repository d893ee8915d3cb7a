"""What the operator may set, and what stops the start."""

import json

import pytest

from chat.memory.backends.base import BackendMisconfigured
from chat.memory.backends.openviking.config import Configuration
from tests.memory.backends.openviking.wire import KEY, SETTINGS, configured

TIMEOUTS = ("connect", "read", "write", "pool", "shutdown_flush")


def refused(**more):
    with pytest.raises(BackendMisconfigured) as caught:
        Configuration.of({**SETTINGS, **more}, {"OPENVIKING_API_KEY": KEY}.get)
    return str(caught.value)


def test_the_least_configuration_has_the_defaults_of_the_design():
    found = Configuration.of(SETTINGS, {"OPENVIKING_API_KEY": KEY}.get)
    limits, retrieval = found.limits, found.retrieval
    assert (limits.connect_seconds, limits.read_seconds, limits.write_seconds, limits.pool_seconds) == (2, 10, 10, 2)
    assert (limits.flush_seconds, limits.connections, limits.kept_connections) == (20, 20, 10)
    assert (retrieval.top_k, retrieval.score_threshold, retrieval.max_injection_chars, retrieval.max_item_chars) == (8, 0.55, 2000, 400)
    assert (retrieval.timeout_seconds, found.unclear_wait_seconds, found.startup_policy) == (1, 10, "fail_fast")
    assert (found.write_policy, found.wait_for_extraction, found.retry.attempts) == ("retry", False, 3)


def test_every_key_of_the_design_text_is_taken():
    found = configured(
        **{f"{name}_timeout_seconds": 3 for name in TIMEOUTS},
        **{"mode": "middleware", "auth_mode": "trusted", "max_connections": 5, "max_keepalive_connections": 4},
        **{"keepalive_expiry_seconds": 1, "startup_policy": "warn", "unclear_wait_seconds": 6, "allow_plain_http": True},
        failure_policy={"read": "fail_open", "write": "log_and_drop"},
        retrieval={
            "top_k": 3,
            "score_threshold": 0.6,
            "max_injection_chars": 900,
            "max_item_chars": 90,
            "injection_query": "what is known",
        },
        session={"wait_for_extraction": True},
    )
    assert (found.limits.read_seconds, found.limits.connections, found.limits.keepalive_seconds) == (3, 5, 1)
    assert (found.startup_policy, found.write_policy, found.unclear_wait_seconds, found.wait_for_extraction) == (
        "warn",
        "log_and_drop",
        6,
        True,
    )
    assert (found.retrieval.top_k, found.retrieval.injection_query) == (3, "what is known")


def test_an_unclear_batch_is_waited_for_as_long_as_an_answer():
    assert configured(read_timeout_seconds=7).unclear_wait_seconds == 7


@pytest.mark.parametrize(
    ("field", "more"),
    [
        ("base_ulr", {"base_ulr": "x"}),
        ("api_key", {"api_key": "secret-value"}),
        ("retrieval.topk", {"retrieval": {"topk": 3}}),
        ("failure_policy.reed", {"failure_policy": {"reed": "fail_open"}}),
        ("session.wait", {"session": {"wait": True}}),
        ("retry.tries", {"retry": {"tries": 3}}),
    ],
)
def test_an_unknown_field_is_refused_by_its_name(field, more):
    message = refused(**more)
    assert message.startswith(f"{field}: ") and "secret-value" not in message


@pytest.mark.parametrize(
    "url",
    [
        *(
            "",
            "localhost:1933",
            "ftp://localhost",
            "http://",
            "https://host/?a=1",
            "https://host/#a",
            "https://ho st",
            "https://host:99999",
        ),
        *("https://[::1", "https://hösт.example", 17, None),
    ],
)
def test_a_url_that_is_none_is_refused(url):
    assert refused(base_url=url).startswith("base_url: ")


def test_a_url_with_a_password_is_refused_and_not_repeated():
    message = refused(base_url="https://me:hunter2@host")
    assert message.startswith("base_url: ") and "hunter2" not in message


@pytest.mark.parametrize("host", ["openviking:1933", "10.0.0.5:1933", "localhost.example", "127.0.0.1.example"])
def test_plain_http_to_another_machine_needs_to_be_allowed(host):
    assert "allow_plain_http" in refused(base_url=f"http://{host}")
    assert configured(base_url=f"http://{host}", allow_plain_http=True).place == host


@pytest.mark.parametrize(
    "url", ["http://localhost:1933/", "http://127.0.0.8", "http://[::1]:1933", "https://openviking.school.example/base/"]
)
def test_this_machine_and_https_need_no_leave(url):
    assert configured(base_url=url).base_url == url.rstrip("/")


@pytest.mark.parametrize(
    ("field", "bad"),
    [
        *[
            (f"{name}_timeout_seconds", bad)
            for name in ("connect", "read", "write", "pool", "shutdown_flush")
            for bad in (0, -1, 1e9, "2", True)
        ],
        ("read_timeout_seconds", float("nan")),
        ("read_timeout_seconds", float("inf")),
        ("max_connections", 0),
        ("max_connections", 2.5),
        ("keepalive_expiry_seconds", 5),
        ("unclear_wait_seconds", 0),
        ("allow_plain_http", "yes"),
        ("retry", {"attempts": 0}),
        ("retry", 3),
        ("retrieval", {"top_k": 0}),
        ("retrieval", {"top_k": 51}),
        ("retrieval", {"score_threshold": 1.1}),
        ("retrieval", {"max_injection_chars": 0}),
        ("retrieval", {"max_item_chars": 1}),
        ("retrieval", {"timeout_seconds": 60}),
        ("retrieval", {"injection_query": "  "}),
        ("startup_policy", "silent"),
        ("failure_policy", {"write": "forget"}),
        ("failure_policy", {"read": "fail_closed"}),
        ("session", {"wait_for_extraction": 1}),
        ("session", []),
    ],
)
def test_values_out_of_bounds_are_refused_by_their_field(field, bad):
    assert refused(**{field: bad}).startswith(field)


@pytest.mark.parametrize("mode", ["tool", "", None])
def test_tool_mode_is_refused(mode):
    assert refused(mode=mode).startswith("mode: ")


@pytest.mark.parametrize("mode", ["api_key", "dev", None])
def test_every_mode_of_authentication_but_trusted_is_refused(mode):
    assert refused(auth_mode=mode).startswith("auth_mode: ")


@pytest.mark.parametrize("account", [None, "", "_hidden", "a b", "a/b", "a@b@c", "..", "a+b", "x" * 256, "学校"])
def test_trusted_mode_needs_an_account_that_the_server_takes(account):
    assert refused(account=account).startswith("account: ")


def test_the_key_is_read_from_the_variable_that_is_named():
    asked = []
    found = Configuration.of({**SETTINGS, "api_key_env": "OTHER_KEY"}, lambda name: asked.append(name) or f" {KEY}\n")
    assert (asked, found.api_key) == (["OTHER_KEY"], KEY)


@pytest.mark.parametrize("value", ["", "   ", "with space", "naïve", "line\nbreak"])
def test_trusted_mode_needs_a_key_that_can_be_sent_and_never_repeats_it(value):
    with pytest.raises(BackendMisconfigured) as caught:
        Configuration.of(SETTINGS, lambda name: value)
    assert str(caught.value).startswith("api_key_env: ") and (not value.strip() or value not in str(caught.value))


@pytest.mark.parametrize("name", [None, "", "sk-live-123456", "has space", "lower_case", 5])
def test_what_is_no_name_of_a_variable_is_refused_and_not_repeated(name):
    message = refused(api_key_env=name)
    assert message.startswith("api_key_env: ") and "sk-live" not in message


def test_the_masked_summary_and_every_text_of_a_configuration_are_without_the_key():
    found = configured(retrieval={"top_k": 3})
    summary = json.dumps(found.masked())
    assert KEY not in summary + repr(found) + str(found)
    assert '"api_key_env": "OPENVIKING_API_KEY"' in summary and '"top_k": 3' in summary
