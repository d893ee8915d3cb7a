"""Which backend is in force; a wrong name or configuration stops with words about it, and no other backend takes its place."""

import pytest

from chat.memory import backends
from chat.memory.backends.base import BackendMisconfigured
from chat.memory.external import chosen
from chat.models import Agent


@pytest.fixture(autouse=True)
def anew():
    chosen.forget_managers()
    yield
    chosen.forget_managers()


def test_a_wrong_name_is_refused_with_the_names_there_are():
    with pytest.raises(BackendMisconfigured, match="MEMORY_MANAGER must be builtin or noop or openviking, not 'deermem'"):
        backends.manager_class("deermem")


@pytest.mark.parametrize("name", ["", ".", "../noop", "__init__", "base"])
def test_what_is_no_folder_of_a_backend_is_no_name(name):
    with pytest.raises(BackendMisconfigured, match="MEMORY_MANAGER"):
        backends.manager_class(name)


def test_a_folder_that_exports_no_manager_is_refused(monkeypatch):
    monkeypatch.setattr(backends, "names", lambda: ["openviking", "base"])
    with pytest.raises(BackendMisconfigured, match="'base' exports no MANAGER_CLASS"):
        backends.manager_class("base")


def test_the_installations_name_is_never_replaced_by_another(settings):
    settings.MEMORY_MANAGER = "deermem"
    with pytest.raises(BackendMisconfigured):
        chosen.external_of(Agent())
    assert chosen.in_force(Agent()) == "deermem"


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("memory.json", '{"base_url": ', "is no valid JSON"),
        ("memory.toml", "base_url = ", "is no valid TOML"),
        ("memory.json", "[]", "must hold an object"),
        ("memory.json", "{}", "^[a-z_.]+: "),
    ],
)
def test_a_wrong_configuration_is_refused_with_words_about_it(settings, tmp_path, name, text, words):
    path = tmp_path / name
    path.write_text(text)
    settings.MEMORY_MANAGER, settings.MEMORY_BACKEND_CONFIG = "openviking", str(path)
    with pytest.raises(BackendMisconfigured, match=words):
        chosen.installed()


def test_a_configuration_that_cannot_be_read_is_refused(settings, tmp_path):
    settings.MEMORY_BACKEND_CONFIG = str(tmp_path / "none.json")
    with pytest.raises(BackendMisconfigured, match="cannot be read"):
        chosen.installed()


@pytest.mark.parametrize("name", ["builtin", "noop"])
def test_a_backend_without_configuration_takes_none(settings, tmp_path, name):
    path = tmp_path / "memory.toml"
    path.write_text('base_url = "http://127.0.0.1:1"')
    settings.MEMORY_MANAGER, settings.MEMORY_BACKEND_CONFIG = name, str(path)
    with pytest.raises(BackendMisconfigured, match="base_url"):
        chosen.installed()


def test_an_assistant_has_the_backend_that_was_chosen_for_it_where_that_is_allowed(settings):
    agent = Agent(memory_manager="noop")
    assert chosen.external_of(agent) == ""
    settings.MEMORY_MANAGER_PER_AGENT = True
    assert chosen.external_of(agent) == "noop"
    assert chosen.external_of(Agent()) == ""
