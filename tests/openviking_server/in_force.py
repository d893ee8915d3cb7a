"""The product with a memory server as its backend, for the length of a `with`."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol
from unittest.mock import patch

from django.test import override_settings

from chat.memory.external import chosen
from chat.memory.meaning import breaker

KEY_VARIABLE = "OPENVIKING_API_KEY"


class Place(Protocol):
    """What a server must have: one of ours, in a thread or a process, or the real one."""

    base_url: str
    key: str
    account: str


def configuration(server: Place, **more: Any) -> dict[str, Any]:
    """The file of MEMORY_BACKEND_CONFIG; `more` is laid over its fields."""
    return {
        "base_url": server.base_url,
        "auth_mode": "trusted",
        "account": server.account,
        "api_key_env": KEY_VARIABLE,
        "retry": {"attempts": 2, "base_seconds": 0.01, "max_seconds": 0.05},
    } | more


@contextmanager
def in_force(server: Place, **more: Any) -> Iterator[None]:
    """MEMORY_MANAGER=openviking, pointed at the server; `more` are further fields of the configuration."""
    with tempfile.TemporaryDirectory(prefix="memory-") as folder:
        path = Path(folder) / "memory.json"
        path.write_text(json.dumps(configuration(server, **more)))
        with (
            override_settings(MEMORY_MANAGER="openviking", MEMORY_BACKEND_CONFIG=str(path)),
            patch.dict("os.environ", {KEY_VARIABLE: server.key}),
        ):
            forget()
            try:
                yield
            finally:
                forget()


def forget() -> None:
    """What this process has found out about a backend."""
    chosen.forget_managers()
    breaker.forget_all()
