"""Reads in plain SQL, for queries that are asked with each message: building one by the ORM takes several times as long as asking it."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, cast

from django.db import NotSupportedError, connection
from django.db.backends.utils import CursorWrapper
from django.db.models import Model

Rows = list[tuple[Any, ...]]


def read(query: str, keys: Sequence[object], names: Sequence[Any] | None = None, *, is_packed: bool = False) -> Rows:
    """The rows of a query with these keys in order; `{}` in it, behind all keys, says that a column is one of the names, at least one.

    PostgreSQL keeps the query's plan for the connection, as making it costs as much as the rest of it:
    so it is one text, however many names there are. Names that are text have no blanks and are sent as one: over a list of a hundred
    the driver takes longer than the server. With `is_packed` bytes are handed over as they are, where else they are written out
    in twice as many characters and read again.
    """
    is_postgres = connection.vendor == "postgresql"
    values: list[Any] = list(keys)
    if names is not None and is_postgres:
        is_text = isinstance(names[0], str)
        query = query.format("= ANY(string_to_array(%s, ' '))" if is_text else "= ANY(%s)")
        values.append(" ".join(names) if is_text else list(names))
    elif names is not None:
        query = query.format(f"IN ({', '.join(['%s'] * len(names))})")
        values += names
    try:
        return _rows(query, values, is_packed)
    except NotSupportedError:  # a migration has changed a column since the plan was made
        if connection.in_atomic_block:
            raise  # the driver forgets all plans when this is rolled back
        connection.connection.close()  # so that the pool drops it
        connection.close()
        return _rows(query, values, is_packed)


def _rows(query: str, values: list[Any], is_packed: bool) -> Rows:
    with _keeping(is_packed) if connection.vendor == "postgresql" else connection.cursor() as cursor:
        cursor.execute(query, values)
        return cursor.fetchall()


def _keeping(is_packed: bool) -> CursorWrapper:
    """A cursor of PostgreSQL which sends a query and its values apart, unlike Django's."""
    connection.ensure_connection()
    # At once; but where queries are logged they are not prepared, as the driver keeps no text of one that is.
    cast(Any, connection.connection).prepare_threshold = None if connection.queries_logged else 0
    driver = cast(Any, connection).Database
    cursor = driver.Cursor(connection.connection)
    if is_packed:
        cursor.format = driver.pq.Format.BINARY
    return connection.make_debug_cursor(cursor) if connection.queries_logged else connection.make_cursor(cursor)


class Columns:
    """All columns of models, in a query under the names that these are given there."""

    def __init__(self, models: Mapping[str, type[Model]]) -> None:
        self.models = list(models.values())
        columns = [field.get_col(alias) for alias, model in models.items() for field in model._meta.concrete_fields]
        self._compiler: Any = self.models[0]._default_manager.all().query.get_compiler(connection=connection)
        self._converters = self._compiler.get_converters(columns)
        self.names = ", ".join(self._compiler.compile(column)[0] for column in columns)

    def rows(self, found: Rows) -> list[list[Any]]:
        """For each row an object of each model, None where an outer join found none, and what else stands behind them."""
        return [self._objects(values) for values in self._compiler.apply_converters(found, self._converters)]

    def _objects(self, values: list[Any]) -> list[Any]:
        made: list[Any] = []
        for model in self.models:
            names = _names(model)
            own, values = values[: len(names)], values[len(names) :]
            made.append(model.from_db(connection.alias, names, own) if own[0] is not None else None)  # the first is the key
        return made + values


@cache
def _names(model: type[Model]) -> list[str]:
    return [field.attname for field in model._meta.concrete_fields]
