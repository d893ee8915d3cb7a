"""`manage.py notes_move` brings notes into the storage in use, and loses none."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from chat.memory.notes import decide, store
from chat.memory.notes.base import Author, Place, Write
from chat.memory.notes.survey import survey
from chat.models import NoteOp, NoteTarget, Owner
from tests import builders

pytestmark = pytest.mark.django_db
OTHER = {"files": "database", "database": "files"}


@pytest.fixture(params=OTHER)
def place(request, settings, tmp_path) -> Place:
    """A store with an entry, in the storage that is no longer in use."""
    settings.DATA_DIR, settings.NOTES_STORAGE = tmp_path, request.param
    user = builders.teacher()
    agent = builders.agent(builders.school_of(user))
    where = Place(Owner(agent.tenant_id, user.pk, agent.pk), NoteTarget.MEMORY)
    write(where, "甲")
    settings.NOTES_STORAGE = OTHER[request.param]
    return where


def write(place: Place, content: str) -> str:
    return store.write(place, Write("add", content=content), Author(NoteOp.Origin.TOOL)).op_id


def move() -> str:
    out = StringIO()
    call_command("notes_move", stdout=out)
    return out.getvalue()


def test_texts_come_over_with_what_can_be_undone(place):
    assert store.look(place).entries == ()
    assert move().startswith("1 texts are now")
    assert store.look(place).entries == ("甲",)
    op = NoteOp.objects.get()
    assert decide.undo(op.user, op.pk).is_done
    assert (survey().elsewhere, move()[:1]) == (0, "0")


def test_a_text_that_is_there_already_is_not_replaced(place):
    write(place, "乙")
    with pytest.raises(CommandError):
        move()
    assert (store.look(place).entries, survey().elsewhere) == (("乙",), 1)


def test_a_file_that_cannot_be_read_stays(settings, tmp_path):
    settings.DATA_DIR, settings.NOTES_STORAGE = tmp_path, "database"
    user = builders.teacher()
    folder = tmp_path / "notes" / builders.school_of(user).pk / str(user.pk)
    folder.mkdir(parents=True)
    (folder / "USER.md").write_bytes(b"\xff\xfe")
    with pytest.raises(CommandError, match="1 texts"):
        move()
    assert (folder / "USER.md").read_bytes() == b"\xff\xfe"
