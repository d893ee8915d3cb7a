"""Writes of rows in plain SQL, for those of each message: building such a query by the ORM takes several times as long as running it.

Values pass through their fields, as the ORM has them; the keys of the rows must be known before.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from django.db import connection
from django.db.models import Model


def insert(row: Model, ending: str = "") -> None:
    """Stores a new row; `ending` may say what is done when it is there already."""
    values = [field.get_db_prep_save(field.pre_save(row, True), connection) for field in row._meta.concrete_fields]
    with connection.cursor() as cursor:
        cursor.execute(f"{_insert(type(row))} {ending}", values)
    row._state.adding, row._state.db = False, connection.alias


def update(model: type[Model], values: Mapping[str, object], where: str, params: list[Any]) -> int:
    """Changes the rows for which `where` holds, SQL with `params`; returns how many there were."""
    fields: list[Any] = [model._meta.get_field(name) for name in values]
    changes = ", ".join(f'"{field.column}" = %s' for field in fields)
    stored = [field.get_db_prep_save(value, connection) for field, value in zip(fields, values.values(), strict=True)]
    with connection.cursor() as cursor:
        cursor.execute(f'UPDATE "{model._meta.db_table}" SET {changes} WHERE {where}', [*stored, *params])  # noqa: S608  our own names
        changed: int = cursor.rowcount
        return changed


@cache
def _insert(model: type[Model]) -> str:
    columns = [field.column for field in model._meta.concrete_fields]
    names = ", ".join(f'"{name}"' for name in columns)
    return f'INSERT INTO "{model._meta.db_table}" ({names}) VALUES ({", ".join(["%s"] * len(columns))})'  # noqa: S608  our own names
