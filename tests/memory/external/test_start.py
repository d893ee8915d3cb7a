"""The memory backend as a process starts and ends."""

import logging

import pytest
from asgiref.testing import ApplicationCommunicator
from django.core.management import CommandError, call_command

from chat.checks import check_memory_backend
from chat.management.commands import web as web_command
from chat.memory.backends.base import BackendError, BackendMisconfigured, Health
from chat.memory.external import chosen, start
from memoryapp.asgi import application
from tests.scripted_backend import ScriptedManager, scripted_backend


class Away(BackendError):
    """the server does not answer"""

    code = "memory_unreachable"


@pytest.fixture
def backend():
    with scripted_backend() as manager:
        yield manager
    start._found = Health(is_usable=True)


@pytest.fixture(autouse=True)
def managers_anew():
    chosen.forget_managers()
    yield
    chosen.forget_managers()


async def test_a_backend_that_can_be_used_is_not_degraded(backend: ScriptedManager):
    assert (await start.warm_up()).version == "0.5.2"
    assert start.degraded() == ""


async def test_a_start_tells_how_the_backend_is_set_up(backend: ScriptedManager, caplog: pytest.LogCaptureFixture):
    backend.summary = lambda: {"base_url": "https://memory.example.org"}
    with caplog.at_level(logging.INFO):
        await start.warm_up()
    assert "is set up with {'base_url': 'https://memory.example.org'}" in caplog.text


async def test_one_that_only_warns_lets_the_process_start_and_shows(backend: ScriptedManager, caplog: pytest.LogCaptureFixture):
    backend.health = Health(is_usable=False, code="memory_unreachable")
    with caplog.at_level(logging.WARNING):
        await start.warm_up()
    assert start.degraded() == "memory_unreachable"
    assert "cannot be used (memory_unreachable)" in caplog.text
    backend.health = Health(is_usable=True)
    await start.warm_up()
    assert start.degraded() == ""


async def lifespan() -> dict:
    server = ApplicationCommunicator(application, {"type": "lifespan", "asgi": {"version": "3.0"}})
    await server.send_input({"type": "lifespan.startup"})
    told = await server.receive_output(timeout=15)
    if told["type"] == "lifespan.startup.complete":
        await server.send_input({"type": "lifespan.shutdown"})
        await server.receive_output(timeout=15)
    await server.wait()
    return told


@pytest.mark.django_db(transaction=True)
async def test_an_asgi_server_does_not_start_where_the_start_fails_for_it(backend: ScriptedManager):
    backend.failure = Away("http://127.0.0.1:1933 does not answer.")
    told = await lifespan()
    assert told["type"] == "lifespan.startup.failed"
    assert "OpenViking at memory.example.org cannot be used (memory_unreachable, http://127.0.0.1:1933 does not answer" in told["message"]


@pytest.mark.django_db(transaction=True)
async def test_an_asgi_server_closes_the_connections_at_its_end(backend: ScriptedManager):
    assert (await lifespan())["type"] == "lifespan.startup.complete"
    assert backend.is_closed


def test_the_web_command_says_why_it_does_not_start(monkeypatch: pytest.MonkeyPatch):
    def serve(host: str, port: int) -> str:
        raise Away("http://127.0.0.1:1933 does not answer")

    monkeypatch.setattr(web_command, "serve", serve)
    with pytest.raises(CommandError, match=r"cannot be used \(memory_unreachable, http://127.0.0.1:1933 does not answer\)"):
        call_command("web")


@pytest.mark.django_db
def test_the_worker_says_why_it_does_not_start(backend: ScriptedManager):
    backend.failure = Away("http://127.0.0.1:1933 does not answer")
    with pytest.raises(CommandError, match="memory_unreachable"):
        call_command("worker")


def problems(settings, **values: object) -> list[str]:
    for name, value in values.items():
        setattr(settings, name, value)
    chosen.forget_managers()
    return [f"{one.id} {one.msg}" for one in check_memory_backend(None)]


def test_the_built_in_backend_needs_nothing(settings):
    assert problems(settings, MEMORY_MANAGER="builtin") == []


def test_a_name_that_is_none_is_named(settings):
    (told,) = problems(settings, MEMORY_MANAGER="opnviking")
    assert told.startswith("chat.E003 MEMORY_MANAGER must be builtin or noop") and "'opnviking'" in told


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("c.json", None, "cannot be read"),
        ("c.json", "{", "is no valid JSON"),
        ("c.toml", "= 1", "is no valid TOML"),
        ("c.json", "[1]", "must hold an object"),
        ("c.json", '{"base_ulr": "x"}', "base_ulr"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(settings, tmp_path, name, text, words):
    if text is not None:
        (tmp_path / name).write_text(text)
    (told,) = problems(settings, MEMORY_MANAGER="noop", MEMORY_BACKEND_CONFIG=str(tmp_path / name))
    assert words in told


def test_checking_asks_no_server(backend: ScriptedManager):
    backend.failure = Away("must not be asked")
    call_command("check")
    assert chosen.installed() is backend and backend.looks == 0


async def test_nothing_else_is_used_when_the_configuration_is_wrong(settings):
    settings.MEMORY_MANAGER = "nothing_like_it"
    with pytest.raises(BackendMisconfigured):
        await start.warm_up()
