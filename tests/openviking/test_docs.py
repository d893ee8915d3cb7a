"""What docs/openviking.md says of the configuration is so."""

import json
import re
from pathlib import Path

import pytest

from chat.memory.backends import names
from chat.memory.backends.base import BackendMisconfigured
from chat.memory.backends.openviking.config import INJECTION_QUERY, Configuration
from chat.memory.backends.openviking.manager import SUPPORTED_VERSION

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "openviking.md").read_text()
EXAMPLE = json.loads(re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)[0])


def table() -> dict[str, str]:
    """The table of fields, with the defaults as they stand there."""
    return dict(re.findall(r"^\| `([a-z_.]+)` \| ([^|]*?) \|", PAGE.partition("| field | default | |")[2], re.MULTILINE))


def with_field(name: str, value: object) -> dict[str, object]:
    section, _, field = name.rpartition(".")
    return EXAMPLE | ({section: {field: value}} if section else {name: value})


def value_of(said: str) -> object:
    text = said.strip("`")
    return text if re.fullmatch(r"[a-z_]+", text) and text not in ("true", "false") else json.loads(text)


def test_the_example_is_good_as_it_stands():
    made = Configuration.of(EXAMPLE, lambda name: "key" if name == EXAMPLE["api_key_env"] else "")
    assert made.base_url == EXAMPLE["base_url"]


def test_each_default_that_is_told_is_the_one_that_is_taken():
    usual = Configuration.of(EXAMPLE, lambda _: "key")
    told = {name: said for name, said in table().items() if said.startswith("`")}
    assert len(told) >= 20
    for name, said in told.items():
        assert Configuration.of(with_field(name, value_of(said)), lambda _: "key") == usual, name
    assert usual.unclear_wait_seconds == usual.limits.read_seconds and usual.retrieval.injection_query == INJECTION_QUERY


def test_every_field_is_told_and_no_other():
    for name in table():
        with pytest.raises(BackendMisconfigured, match=re.escape(name)):
            Configuration.of(with_field(name, object()), lambda _: "key")
    usual = Configuration.of(EXAMPLE, lambda _: "key")
    flat = {f"retry.{one}" for one in usual.retry.__slots__} | {f"retrieval.{one}" for one in usual.retrieval.__slots__}
    assert flat <= set(table())
    with pytest.raises(BackendMisconfigured, match="read_timeout"):
        Configuration.of(EXAMPLE | {"read_timeout": 1}, lambda _: "key")


def test_both_pages_name_the_supported_version_and_every_backend():
    other = (DOCS / "memory-backends.md").read_text()
    assert SUPPORTED_VERSION in PAGE and SUPPORTED_VERSION in other
    assert all(f"`{name}`" in other for name in names())
