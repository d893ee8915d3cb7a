"""Plain reads keep their plans; what a migration changes under a server that runs must not end them."""

import pytest
from django.db import connection

from chat.models.reading import read

TITLE = "SELECT id, title FROM chat_thread WHERE id = %s"
WIDTH = "SELECT character_maximum_length FROM information_schema.columns WHERE table_name = 'chat_thread' AND column_name = 'title'"


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="only PostgreSQL keeps plans")
def test_a_read_goes_on_when_a_column_has_another_type_since():
    assert read(TITLE, ["none"]) == []
    other = connection.copy()
    try:
        with other.cursor() as cursor:
            cursor.execute(WIDTH)
            width = cursor.fetchone()[0]
            for changed in (width + 1, width):
                cursor.execute(f"ALTER TABLE chat_thread ALTER COLUMN title TYPE varchar({changed})")
                assert read(TITLE, ["none"]) == []
    finally:
        other.close()
