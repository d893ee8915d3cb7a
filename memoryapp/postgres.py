"""Connections of PostgreSQL's pool."""

from typing import Any

import psycopg
from django.db import connections
from psycopg.abc import Params, QueryNoTemplate
from psycopg_pool import ConnectionPool


class PooledConnection(psycopg.Connection[Any]):
    """A connection whose failed check lets the pool look at all others at once.

    A restart of the server ends them all, and the pool alone waits 1, 2, 4, 8 … seconds before each next one that it tries.
    """

    def execute(  # type: ignore[override]  # the checks pass no template strings
        self, query: QueryNoTemplate, params: Params | None = None, *, prepare: bool | None = None, binary: bool = False
    ) -> psycopg.Cursor[Any]:
        """Called by the pool's checks; Django uses cursors."""
        try:
            return super().execute(query, params, prepare=prepare, binary=binary)
        except psycopg.OperationalError:
            pool = getattr(connections["default"], "pool", None)
            if isinstance(pool, ConnectionPool):
                pool.check()
            raise
