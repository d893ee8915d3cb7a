"""What the operator may set about OpenViking (seed 002 §12), checked before anything is sent.

A message names the field and the way out, and never quotes a value that could be the key.
"""

import ipaddress
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self
from urllib.parse import urlsplit

from chat.memory.backends.base import BackendMisconfigured

# The server closes an idle connection after 5 s: one that is kept for longer is met closed now and then.
KEEPALIVE_MOST_SECONDS: Final = 4.5
# There is no word of the user's to search by when a question is blank; this asks for what is true of a person in general (seed 002 §8.1).
INJECTION_QUERY: Final = "user profile preferences important entities events ongoing goals constraints and prior decisions"

_ACCOUNT: Final = re.compile(r"[A-Za-z0-9.@-][A-Za-z0-9_.@-]{0,254}")
_VARIABLE: Final = re.compile(r"[A-Z][A-Z0-9_]{0,99}")


class _Section:
    """Takes the fields of one object out of the configuration; those that are left over are unknown."""

    def __init__(self, told: Mapping[str, Any], prefix: str = "") -> None:
        self.told, self.prefix = dict(told), prefix

    def take(self, name: str, default: Any = None) -> Any:  # noqa: ANN401
        return self.told.pop(name, default)

    def number(self, name: str, default: float, least: float, most: float) -> float:
        value = self.take(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or not least <= value <= most:
            raise self.wrong(name, f"must be a number from {least:g} to {most:g}")
        return float(value)

    def count(self, name: str, default: int, least: int, most: int) -> int:
        value = self.take(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise self.wrong(name, f"must be a whole number from {least} to {most}")
        return value

    def flag(self, name: str, default: bool) -> bool:
        value = self.take(name, default)
        if not isinstance(value, bool):
            raise self.wrong(name, "must be true or false")
        return value

    def choice(self, name: str, default: str, *others: str) -> str:
        value = self.take(name, default)
        if value not in (default, *others):
            raise self.wrong(name, f"must be {' or '.join((default, *others))}")
        return str(value)

    def text(self, name: str, default: str = "", most: int = 2_000) -> str:
        value = self.take(name, default)
        if not isinstance(value, str) or not value.strip() or len(value) > most:
            raise self.wrong(name, f"must be a text of at most {most} characters")
        return value.strip()

    def section(self, name: str) -> "_Section":
        value = self.take(name, {})
        if not isinstance(value, Mapping):
            raise self.wrong(name, "must be an object with fields of its own")
        return _Section(value, f"{self.prefix}{name}.")

    def end(self) -> None:
        if self.told:
            raise self.wrong(sorted(map(str, self.told))[0][:60], "is no field of the backend openviking; is it spelled right?")

    def wrong(self, name: str, what: str) -> BackendMisconfigured:
        return BackendMisconfigured(f"{self.prefix}{name}: {what}.")


@dataclass(frozen=True, slots=True)
class Retry:
    """How often, and with which waits, a call is repeated that may be repeated."""

    attempts: int = 3
    base_seconds: float = 0.2
    max_seconds: float = 2.0

    @classmethod
    def of(cls, told: _Section) -> Self:
        retry = cls(
            attempts=told.count("attempts", 3, 1, 10),
            base_seconds=told.number("base_seconds", 0.2, 0.001, 10),
            max_seconds=told.number("max_seconds", 2.0, 0.001, 60),
        )
        told.end()
        return retry


@dataclass(frozen=True, slots=True)
class Retrieval:
    """How much is remembered with a question, and how long it is waited for.

    A score is (1 + cosine) / 2: what has nothing to do with the question has about 0.5, so that 0.25, the default of the
    design text, keeps nothing out. 0.55 is a start for a real embedding model and is to be tuned on it.
    """

    top_k: int = 8
    score_threshold: float = 0.55
    max_injection_chars: int = 2_000
    max_item_chars: int = 400
    timeout_seconds: float = 1.0
    injection_query: str = INJECTION_QUERY

    @classmethod
    def of(cls, told: _Section) -> Self:
        retrieval = cls(
            top_k=told.count("top_k", 8, 1, 50),
            score_threshold=told.number("score_threshold", 0.55, 0, 1),
            max_injection_chars=told.count("max_injection_chars", 2_000, 100, 20_000),
            max_item_chars=told.count("max_item_chars", 400, 40, 4_000),
            timeout_seconds=told.number("timeout_seconds", 1.0, 0.05, 10),
            injection_query=told.text("injection_query", INJECTION_QUERY, 1_000),
        )
        told.end()
        return retrieval


@dataclass(frozen=True, slots=True)
class Limits:
    """Time limits of a call, and how many connections there may be."""

    connect_seconds: float
    read_seconds: float
    write_seconds: float
    pool_seconds: float
    flush_seconds: float
    connections: int
    kept_connections: int
    keepalive_seconds: float

    @property
    def total_seconds(self) -> float:
        """The longest that one call can take, its repetitions included: a server that sends a byte now and then must not hold it."""
        return self.connect_seconds + self.read_seconds + self.write_seconds + self.pool_seconds

    @classmethod
    def of(cls, told: _Section) -> Self:
        return cls(
            connect_seconds=told.number("connect_timeout_seconds", 2, 0.05, 60),
            read_seconds=told.number("read_timeout_seconds", 10, 0.05, 120),
            write_seconds=told.number("write_timeout_seconds", 10, 0.05, 120),
            pool_seconds=told.number("pool_timeout_seconds", 2, 0.05, 60),
            flush_seconds=told.number("shutdown_flush_timeout_seconds", 20, 0.05, 120),
            connections=told.count("max_connections", 20, 1, 500),
            kept_connections=told.count("max_keepalive_connections", 10, 0, 500),
            keepalive_seconds=told.number("keepalive_expiry_seconds", 2.5, 0, KEEPALIVE_MOST_SECONDS),
        )


@dataclass(frozen=True, slots=True)
class Configuration:
    """What is set, checked. `api_key` is in no text that is made of it."""

    base_url: str
    account: str
    api_key_env: str
    api_key: str = field(repr=False)
    allow_plain_http: bool
    limits: Limits
    retry: Retry
    retrieval: Retrieval
    startup_policy: str
    write_policy: str
    unclear_wait_seconds: float
    wait_for_extraction: bool

    @classmethod
    def of(cls, mapping: Mapping[str, Any], secret: Callable[[str], str]) -> Self:
        """Reads and checks everything; `secret` gives the value of an environment variable. Raises BackendMisconfigured."""
        told = _Section(mapping)
        told.choice("mode", "middleware")
        told.choice("auth_mode", "trusted")
        plain = told.flag("allow_plain_http", False)
        limits = Limits.of(told)
        failure, session = told.section("failure_policy"), told.section("session")
        failure.choice("read", "fail_open")
        variable = _variable(told)
        configuration = cls(
            base_url=_base_url(told, plain),
            account=_account(told),
            api_key_env=variable,
            api_key=_key(told, secret(variable)),
            allow_plain_http=plain,
            limits=limits,
            retry=Retry.of(told.section("retry")),
            retrieval=Retrieval.of(told.section("retrieval")),
            startup_policy=told.choice("startup_policy", "fail_fast", "warn"),
            write_policy=failure.choice("write", "retry", "log_and_drop"),
            unclear_wait_seconds=told.number("unclear_wait_seconds", limits.read_seconds, 0.05, 600),
            wait_for_extraction=session.flag("wait_for_extraction", False),
        )
        for section in (failure, session, told):
            section.end()
        return configuration

    @property
    def place(self) -> str:
        """The host that text goes to, with its port."""
        return urlsplit(self.base_url).netloc

    def masked(self) -> dict[str, object]:
        """What may be shown and logged: all that is set, and of the key only the name of its variable."""
        return {
            "base_url": self.base_url,
            "auth_mode": "trusted",
            "account": self.account,
            "api_key_env": self.api_key_env,
            "allow_plain_http": self.allow_plain_http,
            "startup_policy": self.startup_policy,
            "failure_policy": {"read": "fail_open", "write": self.write_policy},
            "unclear_wait_seconds": self.unclear_wait_seconds,
            "session": {"wait_for_extraction": self.wait_for_extraction},
            **{name: _fields(getattr(self, name)) for name in ("limits", "retry", "retrieval")},
        }


def _fields(section: Limits | Retry | Retrieval) -> dict[str, object]:
    return {name: getattr(section, name) for name in section.__slots__}


def _base_url(told: _Section, is_plain_allowed: bool) -> str:
    value = told.text("base_url", most=300)
    wrong = told.wrong("base_url", "must be an address such as https://openviking.school.example:1933, with nothing after the path")
    try:
        parts = urlsplit(value)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise wrong from None
    is_sound = value.isascii() and value.isprintable() and " " not in value
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment or not is_sound:
        raise wrong
    if "@" in parts.netloc:
        raise told.wrong("base_url", "must hold no name and no password; the key is read from the variable that api_key_env names")
    if parts.scheme == "http" and not is_plain_allowed and not is_loopback(host):
        raise told.wrong("base_url", "must begin with https:// unless the server is on this machine, or set allow_plain_http to true")
    return value.rstrip("/")


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, without asking the network."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _account(told: _Section) -> str:
    value = told.take("account")
    is_sound = isinstance(value, str) and _ACCOUNT.fullmatch(value) and value not in (".", "..") and value.count("@") < 2
    if not is_sound:
        raise told.wrong("account", "must be set in trusted mode: letters, digits and _ . - (not _ in front), at most 255 characters")
    return str(value)


def _variable(told: _Section) -> str:
    value = told.take("api_key_env")
    if not isinstance(value, str) or not _VARIABLE.fullmatch(value):
        raise told.wrong("api_key_env", "must be the name of the environment variable that holds the key, such as OPENVIKING_API_KEY")
    return value


def _key(told: _Section, value: str) -> str:
    key = value.strip()
    if not key:
        raise told.wrong("api_key_env", "the environment variable that it names is not set; a server in trusted mode needs a key")
    if not key.isascii() or not key.isprintable() or " " in key or len(key) > 4_096:
        raise told.wrong("api_key_env", "the key must be printable ASCII characters without spaces")
    return key
