"""A filled database of an earlier state keeps every row through the migrations, and what is new is made from it."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from chat.models import SearchText, Work
from tests import builders
from tests.walls import World

# Landed states that users' databases may be in.
STATES = ("0001_initial", "0004_notes")


def migrate(targets: list[tuple[str, str]]) -> None:
    executor = MigrationExecutor(connection)
    executor.migrate(targets)


@pytest.fixture
def latest() -> Iterator[list[tuple[str, str]]]:
    """The newest migrations; whatever happens, the database of the tests ends there."""
    leaves = [key for key in MigrationExecutor(connection).loader.graph.leaf_nodes() if key[0] == "chat"]
    yield leaves
    migrate(leaves)


def contents() -> dict[str, tuple[list[str], list[tuple[Any, ...]]]]:
    """Every table of the app: its columns, and its rows in the order of the first of them."""
    found = {}
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            if table.startswith("chat_"):
                columns = [column.name for column in connection.introspection.get_table_description(cursor, table)]
                found[table] = (columns, _rows(cursor, table, columns))
    return found


def _rows(cursor: Any, table: str, columns: list[str]) -> list[tuple[Any, ...]]:
    quoted = ", ".join(connection.ops.quote_name(column) for column in columns)
    cursor.execute(f"SELECT {quoted} FROM {connection.ops.quote_name(table)} ORDER BY 1")
    return [tuple(str(value) for value in row) for row in cursor.fetchall()]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("state", STATES)
def test_a_filled_database_of_an_earlier_state_keeps_every_row(latest, state):
    world = World()
    run = builders.run(world.thread, "旧会话里的提问")
    migrate([("chat", state)])
    before = contents()
    migrate(latest)
    after = contents()
    assert sum(len(rows) for _, rows in before.values()) > 40
    for table, (columns, rows) in before.items():
        if table == "chat_work":  # the worker is told of what it has to do anew
            continue
        with connection.cursor() as cursor:
            assert _rows(cursor, table, columns) == rows, table
    assert set(before) <= set(after)
    assert SearchText.objects.filter(run_id=run.pk, text__contains="旧会话里的提问").exists()
    assert Work.objects.filter(kind="thread", subject_id=world.thread.pk).exists()
