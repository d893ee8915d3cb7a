"""The one way from the event loop to the database (RUNTIME 2)."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from channels.db import database_sync_to_async
from django.conf import settings

P = ParamSpec("P")
T = TypeVar("T")


async def hop(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Runs one unit of database work on a bounded pool of threads.

    In tests the work stays in the test's own thread, where its transaction and connection are.
    """
    return await database_sync_to_async(function, thread_sensitive=settings.TESTING)(*args, **kwargs)
