"""The built-in backend, as the panel and the erasing of a person see it; its layers write and read by themselves."""

from collections.abc import Mapping
from typing import Any, Self

from chat.memory.backends.base import BackendMisconfigured, Capabilities, Services
from chat.memory.backends.noop.manager import NoopManager


class BuiltinManager(NoopManager):
    capabilities = Capabilities(title="builtin")

    @classmethod
    def from_configuration(cls, configuration: Mapping[str, Any], services: Services) -> Self:
        if configuration:
            raise BackendMisconfigured(f"{sorted(configuration)[0]}: the built-in backend has no such field; it takes no configuration.")
        return cls()
