"""Settings that would hurt, found at every start."""

import ipaddress
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning
from django.utils.module_loading import import_string

from chat.memory.backends.base import BackendMisconfigured

LOOPBACK_NAMES = ("localhost", "")


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host in LOOPBACK_NAMES


def check_settings(app_configs: Sequence[Any] | None, **_options: object) -> list[CheckMessage]:
    found: list[CheckMessage] = []
    if settings.DEBUG and not is_loopback(settings.HOST):
        found.append(
            Error(
                f"DEBUG is on and HOST is {settings.HOST}: error pages would show settings to everybody.",
                hint="Unset DEBUG, or HOST.",
                id="chat.E001",
            )
        )
    if "*" in settings.ALLOWED_HOSTS and not settings.DEBUG:
        found.append(
            Warning(
                "ALLOWED_HOSTS is *: any page could open a socket with a visitor's session, for the origin check lets every name pass.",
                hint="Name the hosts, for example ALLOWED_HOSTS=chat.example.org.",
                id="chat.W001",
            )
        )
    served = {"localhost", "127.0.0.1", "[::1]"}
    if not is_loopback(settings.HOST) and set(settings.ALLOWED_HOSTS) <= served:
        found.append(
            Warning(
                f"HOST is {settings.HOST}, but ALLOWED_HOSTS names this machine only: pages asked for by another name answer 400.",
                hint="Name the hosts, for example ALLOWED_HOSTS=chat.example.org,localhost.",
                id="chat.W002",
            )
        )
    return found


def check_memory_backend(app_configs: Sequence[Any] | None, **_options: object) -> list[CheckMessage]:
    """Whether MEMORY_MANAGER names a backend, and its configuration is one for it; without asking any server."""
    # By its name, as this module is imported before the rows are there.
    installed = import_string("chat.memory.external.chosen.installed")
    try:
        installed()
    except BackendMisconfigured as error:
        hint = "Look at MEMORY_MANAGER and MEMORY_BACKEND_CONFIG; no other store is used in its place."
        return [Error(str(error), hint=hint, id="chat.E003")]
    return []
