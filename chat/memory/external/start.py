"""The memory backend as a process starts and ends: it is looked at once, and let go of at the end (seed 002 §11.1).

Only a backend that keeps its memory outside is looked at. What a start found is known in this process alone: `degraded`
is the code of the trouble, "" when there is none.
"""

import logging

from django.conf import settings

from chat.memory.backends.base import BackendError, BackendMisconfigured, Health
from chat.memory.external import chosen

log = logging.getLogger(__name__)

_found = Health(is_usable=True)


async def warm_up() -> Health:
    """Asks the installation's backend whether it can be used.

    Raises BackendMisconfigured, and BackendError when the configuration says that the start fails for it (fail_fast). Else
    (warn) the process starts, answers without memory, and says so.
    """
    global _found
    manager = chosen.installed()
    if not manager.capabilities.is_external:
        return _remember(Health(is_usable=True))
    log.info("The memory backend %s is set up with %s", manager.capabilities.title, manager.summary())
    health = _remember(await manager.warm())
    if not health.is_usable:
        log.warning("The memory backend %s cannot be used (%s): answers come without it", manager.capabilities.title, health.code)
    return health


def words_for(error: BackendError) -> str:
    """Why a process does not start, for whoever starts it."""
    if isinstance(error, BackendMisconfigured):
        return str(error)
    capabilities = chosen.installed().capabilities
    name = " at ".join(part for part in (capabilities.title, capabilities.place) if part)
    told = f"{error.code}, {error}" if str(error) and error.code not in str(error) else error.code
    return f"The memory backend {name} cannot be used ({told}). Look there, and at its settings in {settings.MEMORY_BACKEND_CONFIG}."


def degraded() -> str:
    """The code of the trouble that the last look of this process found; "" for none."""
    return "" if _found.is_usable else _found.code or BackendError.code


async def shut_down() -> None:
    """Waits a limited time for what is on its way to the backend, takes nothing new, and closes its connections."""
    manager = chosen.installed()
    if manager.capabilities.is_external:
        if not await manager.flush(manager.flush_seconds):
            log.warning("The memory backend %s had text on its way at the end; it is sent again later", manager.capabilities.title)
        await manager.close()


def _remember(health: Health) -> Health:
    global _found
    _found = health
    return health
