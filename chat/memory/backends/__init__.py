"""Memory backends: a folder here is a backend, and its name is the setting (DESIGN §5).

base        the contract: MemoryManager and the shapes it speaks in
builtin/    the layers of this program, core memory and recall
noop/       remembers nothing
openviking/ a server of its own, over HTTP (seed 002)
"""

from importlib import import_module
from pathlib import Path

from chat.memory.backends.base import BackendMisconfigured, MemoryManager

FOLDER = Path(__file__).parent


def names() -> list[str]:
    """The backends that are there: folders with an `__init__` that exports MANAGER_CLASS are imported only when they are asked for."""
    return sorted(path.parent.name for path in FOLDER.glob("*/__init__.py"))


def manager_class(name: str) -> type[MemoryManager]:
    """The class of a backend. Raises BackendMisconfigured for a name that is none, and for a folder that exports no manager."""
    if name not in names():
        raise BackendMisconfigured(f"MEMORY_MANAGER must be {' or '.join(names())}, not {name!r}.")
    found = getattr(import_module(f"{__name__}.{name}"), "MANAGER_CLASS", None)
    if not (isinstance(found, type) and issubclass(found, MemoryManager)):
        raise BackendMisconfigured(f"MEMORY_MANAGER: the folder of the backend {name!r} exports no MANAGER_CLASS.")
    return found
