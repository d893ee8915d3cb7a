"""Which memory backend is in force: the installation's (MEMORY_MANAGER), or what an administrator chose for an assistant."""

import json
import os
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings

from chat.memory.backends import manager_class
from chat.memory.backends.base import BackendMisconfigured, MemoryManager, Services
from chat.memory.external.figures import METER
from chat.memory.external.watermarks import Watermarks
from chat.models import Agent
from chat.models.agent import MemoryManagerChoice
from chat.text.redlines import redact


@cache
def manager(name: str) -> MemoryManager:
    """The one object of a backend in this process. Raises BackendMisconfigured; never gives another backend instead."""
    return make(name)


def make(name: str) -> MemoryManager:
    """An object of a backend for a single look, which whoever makes it closes. Raises as `manager` does."""
    configuration = read_configuration() if name == settings.MEMORY_MANAGER else {}
    services = Services(Watermarks(name), redact, METER, lambda variable: os.environ.get(variable, ""))
    return manager_class(name).from_configuration(configuration, services)


def installed() -> MemoryManager:
    """The installation's backend."""
    return manager(settings.MEMORY_MANAGER)


def manager_of_earlier(name: str) -> MemoryManager:
    """The backend of something that went there earlier. Raises BackendMisconfigured when it is not set up any more.

    Only the installation's has a configuration, and of one that is neither that nor needs any nothing is imported.
    """
    if name != settings.MEMORY_MANAGER and name not in MemoryManagerChoice.values:
        raise BackendMisconfigured(f"MEMORY_MANAGER: the backend {name!r} is not set up any more.")
    return manager(name)


def name_of(agent: Agent) -> str:
    """The backend that is in force for an assistant."""
    return (settings.MEMORY_MANAGER_PER_AGENT and agent.memory_manager) or settings.MEMORY_MANAGER


def external_of(agent: Agent) -> str:
    """The backend in force when it is one whose memory is kept elsewhere than in our layers; "" for the built-in one."""
    name = name_of(agent)
    return name if manager(name).capabilities.is_external else ""


def in_force(agent: Agent) -> str:
    """As `external_of`; of one that cannot be made the name too, for no other one takes its place."""
    try:
        return external_of(agent)
    except BackendMisconfigured:
        return name_of(agent)


def read_configuration() -> dict[str, Any]:
    """What the file MEMORY_BACKEND_CONFIG says, JSON or TOML; {} without one. Raises BackendMisconfigured."""
    if not settings.MEMORY_BACKEND_CONFIG:
        return {}
    path = Path(settings.MEMORY_BACKEND_CONFIG)
    try:
        text = path.read_text(encoding="utf-8")
        found = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except OSError as error:
        raise BackendMisconfigured(f"MEMORY_BACKEND_CONFIG: {path} cannot be read ({error.strerror}).") from None
    except ValueError as error:
        raise BackendMisconfigured(
            f"MEMORY_BACKEND_CONFIG: {path} is no valid {'TOML' if path.suffix == '.toml' else 'JSON'} ({error})."
        ) from None
    if not isinstance(found, dict):
        raise BackendMisconfigured(f"MEMORY_BACKEND_CONFIG: {path} must hold an object with the fields of the backend.")
    return found


def forget_managers() -> None:
    """Makes the managers anew at the next use, as after a change of the settings."""
    manager.cache_clear()
