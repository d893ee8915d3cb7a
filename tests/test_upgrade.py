"""A filled database of an earlier state keeps every row through the migrations, and what is new is made from it."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor

from chat.models import SearchIndex, SearchTerm, SearchText, Work
from chat.search.index import record_of, writing
from chat.search.query import Question, search
from tests import builders
from tests.walls import World

# Landed states that users' databases may be in.
STATES = ("0001_initial", "0004_notes", "0005_memory_backends")


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


@pytest.mark.django_db(transaction=True)
def test_postings_of_an_earlier_state_are_found_and_written_as_before(latest):
    world = World()
    migrate([("chat", "0005_memory_backends")])
    owner = (world.thread.tenant_id, world.thread.user_id, SearchIndex.Kind.RECALL)
    with transaction.atomic(), writing(*owner) as writer:
        first = writer.add(record_of("旧会话里的提问"))
    migrate(latest)
    with transaction.atomic(), writing(*owner) as writer:
        second = writer.add(record_of("旧会话里的又一个提问"))
    found = {hit.number for hit in search(*owner, Question("旧会话里的提问"))}
    assert {first, second} <= found
    terms = SearchTerm.objects.filter(index__user_id=owner[1], index__kind=owner[2], term="会话")
    assert [term.count for term in terms] == [2]


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="only PostgreSQL has more to say of an index")
def test_an_upgrade_lets_postgresql_count_postings_without_their_rows(latest):
    migrate([("chat", "0005_memory_backends")])
    migrate(latest)
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexdef FROM pg_indexes WHERE indexname = 'search_term_once'")
        (definition,) = cursor.fetchone()
        cursor.execute(
            "SELECT collation_name FROM information_schema.columns WHERE table_name = 'chat_searchterm' AND column_name = 'term'"
        )
        (collation,) = cursor.fetchone()
    assert definition.startswith("CREATE UNIQUE INDEX") and definition.endswith("(index_id, term, block) INCLUDE (count)")
    assert collation == "C"
