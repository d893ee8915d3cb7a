"""Finds a kind of model service by the name of its file."""

import functools
import importlib
import pkgutil
from pathlib import Path
from typing import Protocol

from chat.providers.base import Endpoint, Provider
from chat.providers.http import load_certificates


class ListingProvider(Provider, Protocol):
    """A provider that can also say which models its service has."""

    async def list_models(self, endpoint: Endpoint) -> list[str]: ...


class UnknownKindError(LookupError):
    """There is no such kind of model service."""

    def __init__(self, kind: str) -> None:
        super().__init__(f"There is no model service of the kind {kind!r}; known are {', '.join(known_kinds())}.")


@functools.cache
def _classes() -> dict[str, type[ListingProvider]]:
    """The class `PROVIDER` of each file of this room that holds one, by the file's name."""
    names = [module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)])]
    modules = {name: importlib.import_module(f"{__package__}.{name}") for name in names}
    return {name: module.PROVIDER for name, module in sorted(modules.items()) if hasattr(module, "PROVIDER")}


def known_kinds() -> list[str]:
    return list(_classes())


@functools.cache
def provider(kind: str) -> ListingProvider:
    """The provider of a kind, one for the whole process. Raises UnknownKindError."""
    if kind not in _classes():
        raise UnknownKindError(kind)
    return _classes()[kind]()


async def list_models(endpoint: Endpoint) -> list[str]:
    """The models that a service offers; also the way to see if it answers at all. Raises a ProviderError within seconds."""
    return await provider(endpoint.kind).list_models(endpoint)


def warm_up() -> None:
    """Loads all kinds and the certificates, at the start of a process: else its first message waits 0.1 to 0.3 s for them."""
    _classes()
    load_certificates()
