"""Kinds of model services are found by their files."""

import pytest

from chat.providers import known_kinds, list_models, provider
from chat.providers.base import Endpoint
from chat.providers.demo import Demo


def test_each_kind_is_a_file():
    assert known_kinds() == ["demo", "ollama", "openai"]


def test_one_provider_serves_the_whole_process():
    assert isinstance(provider("demo"), Demo)
    assert provider("demo") is provider("demo")


@pytest.mark.parametrize("kind", ["", "base", "http", "demo_bank", "../demo"])
def test_an_unknown_kind_names_the_known_ones(kind):
    with pytest.raises(LookupError, match="demo, ollama, openai"):
        provider(kind)


async def test_models_are_listed_by_kind():
    assert await list_models(Endpoint("demo")) == ["demo"]
