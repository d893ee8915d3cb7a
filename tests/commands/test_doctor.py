from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from chat.memory.backends.base import BackendError, Health, MemoryScope
from chat.memory.external.forgetting import ask_scope
from chat.models import Tenant, WorkerBeat
from tests import builders
from tests.memory.meaning.embeddings_server import EmbeddingsServer
from tests.scripted_backend import scripted_backend

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def private_folder(settings, tmp_path):
    tmp_path.chmod(0o700)
    settings.DATA_DIR = tmp_path


def run() -> tuple[int, str]:
    """The exit code and what was printed."""
    output = StringIO()
    try:
        call_command("doctor", stdout=output, no_color=True)
    except CommandError as error:
        return error.returncode, output.getvalue()
    return 0, output.getvalue()


def test_all_is_well_with_a_worker_and_the_demo_model():
    WorkerBeat.objects.create(worker="w")
    builders.agent(builders.tenant())
    assert run()[0] == 0


def test_a_missing_worker_is_wrong():
    code, text = run()
    assert code == 1
    assert "wrong worker: none is running" in text


def test_a_service_that_does_not_answer_is_wrong():
    WorkerBeat.objects.create(worker="w")
    school = builders.tenant()
    builders.agent(school, provider=builders.provider(school, kind="openai", base_url="http://127.0.0.1:9/v1"))
    code, text = run()
    assert code == 1
    assert "http://127.0.0.1:9/v1 does not answer" in text


def test_a_key_that_is_not_set_is_named():
    school = builders.tenant()
    builders.agent(school, provider=builders.provider(school, kind="openai", base_url="http://127.0.0.1:9/v1", key_env="SCHOOL_API_KEY"))
    assert "the variable SCHOOL_API_KEY is not set" in run()[1]


@pytest.mark.mock
def test_a_service_that_answers_is_good_and_its_key_is_not_printed(mock_model, monkeypatch):
    monkeypatch.setenv("SCHOOL_API_KEY", "sk-very-secret")
    WorkerBeat.objects.create(worker="w")
    school = builders.tenant()
    builders.agent(school, provider=builders.provider(school, kind="openai", base_url=f"{mock_model.url}/v1", key_env="SCHOOL_API_KEY"))
    code, text = run()
    assert code == 0
    assert "sk-very-secret" not in text


def test_a_folder_that_others_can_read_is_wrong(settings):
    settings.DATA_DIR.chmod(0o755)
    assert "wrong data folder" in run()[1]


def test_settings_that_would_hurt_are_shown(settings):
    settings.DEBUG, settings.HOST = True, "0.0.0.0"
    code, text = run()
    assert code == 1
    assert "DEBUG is on" in text


def test_an_embedder_that_is_away_is_only_a_note():
    WorkerBeat.objects.create(worker="w")
    school = builders.tenant()
    service = builders.provider(school, kind="openai", base_url="http://127.0.0.1:9/v1")
    Tenant.objects.filter(pk=school.pk).update(embedder=service, embedding_model="bge-m3")
    code, text = run()
    assert code == 0
    assert f"note  embedder of {school}: http://127.0.0.1:9/v1 makes no vectors with bge-m3 (provider_unreachable)" in text


def test_an_embedder_that_answers_is_good():
    WorkerBeat.objects.create(worker="w")
    school = builders.tenant()
    with EmbeddingsServer() as server:
        service = builders.provider(school, kind="openai", base_url=server.url)
        Tenant.objects.filter(pk=school.pk).update(embedder=service, embedding_model="bge-m3")
        assert "bge-m3 gives vectors of 64 numbers" in run()[1]


def test_the_storage_of_notes_is_named_and_what_cannot_be_read_is_wrong(settings):
    teacher = builders.teacher()
    folder = settings.DATA_DIR / "notes" / builders.school_of(teacher).pk / str(teacher.pk)
    folder.mkdir(parents=True)
    (folder / "USER.md").write_text("教高一")
    assert f"notes: 1 texts, files in {settings.DATA_DIR}" in run()[1]
    (folder / "USER.md").write_bytes(b"\xff\xfe")
    assert f"wrong notes: 1 texts, files in {settings.DATA_DIR}/notes; not readable" in run()[1]
    settings.NOTES_STORAGE = "database"
    assert "1 more are in the other storage" in run()[1]


@pytest.mark.parametrize("storage", ["files", "database"])
def test_a_folder_of_notes_that_cannot_be_looked_into_is_wrong(settings, tmp_path, storage):
    WorkerBeat.objects.create(worker="w")
    settings.NOTES_STORAGE, settings.DATA_DIR = storage, tmp_path
    (tmp_path / "notes").write_text("no folder")
    assert "cannot be read, so nothing in it is erased" in run()[1]


def test_nothing_is_said_of_the_built_in_memory_backend():
    assert "memory backend" not in run()[1]


def test_a_memory_backend_that_can_be_used_is_named_with_its_version_and_let_go():
    WorkerBeat.objects.create(worker="w")
    with scripted_backend() as backend:
        code, text = run()
    assert code == 0
    assert "ok    memory backend: OpenViking at memory.example.org can be used (version 0.5.2)" in text
    assert backend.is_closed


def test_a_memory_backend_that_is_away_is_a_note_where_the_start_only_warns_and_wrong_where_it_fails():
    WorkerBeat.objects.create(worker="w")
    with scripted_backend() as backend:
        backend.health = Health(is_usable=False, code="memory_unreachable")
        code, text = run()
        assert code == 0
        assert "note  memory backend: OpenViking at memory.example.org cannot be used (memory_unreachable): answers come without it" in text
        backend.failure = BackendError("sk-very-secret")
        code, text = run()
    assert code == 1
    assert "wrong memory backend" in text and "sk-very-secret" not in text


def test_a_forgetting_that_waits_for_a_backend_that_is_not_set_up_is_told_with_the_way_out():
    WorkerBeat.objects.create(worker="w")
    ask_scope(MemoryScope("tn_1", "1", "ag_1"), "openviking")
    code, text = run()
    assert code == 0
    assert "note  forgetting at openviking: 1 requests to forget everything" in text
    assert "not set up any more: set it up again (MEMORY_MANAGER=openviking)" in text
