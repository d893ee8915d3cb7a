"""Every sentence of the interface has its Chinese, and says it with the same gaps."""

import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.extract import extract
from babel.messages.mofile import read_mo
from babel.messages.pofile import read_po
from django.utils.translation.template import templatize

from chat.catalogues import compile_catalogues

ROOT = Path(__file__).resolve().parents[1]
CATALOGUE = ROOT / "chat" / "locale" / "zh_Hans" / "LC_MESSAGES" / "django.po"
KEYWORDS = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
}
GAP = re.compile(r"%\(\w+\)[sd]|%[sd]|\{\w*\}")


def sentences_of(path: Path) -> Iterator[str]:
    source = path.read_text()
    if path.suffix == ".html":
        # What is left of the markup keeps its indentation, which means nothing.
        source = re.sub(r"^[ \t]+", "", templatize(source), flags=re.MULTILINE)
    for _line, found, _comments, _context in extract("python", io.BytesIO(source.encode()), keywords=KEYWORDS):
        yield found[0] if isinstance(found, tuple) else found


def sources() -> list[Path]:
    return [*ROOT.glob("chat/**/*.py"), *ROOT.glob("templates/**/*.html")]


@pytest.fixture(scope="module")
def catalogue():
    with CATALOGUE.open("rb") as file:
        return read_po(file)


def test_every_sentence_of_the_sources_is_translated(catalogue):
    translated = {message.id[0] if message.pluralizable else message.id for message in catalogue if message.string and all(_texts(message))}
    missing = {sentence: path for path in sources() for sentence in sentences_of(path) if sentence and sentence not in translated}
    listed = "\n".join(f"{path.relative_to(ROOT)}: {sentence}" for sentence, path in missing.items())
    assert not missing, f"Add these to {CATALOGUE.relative_to(ROOT)}:\n{listed}"


def test_no_sentence_hides_in_another_text():
    """Before Python 3.12 the parts of an f-string are no tokens, so nobody would miss its translation."""
    hidden = re.compile(r"\{(?:_|n?gettext(?:_lazy)?)\(")
    assert not [path for path in ROOT.glob("chat/**/*.py") if hidden.search(path.read_text())]


def test_no_translation_is_left_over(catalogue):
    used = {sentence for path in sources() for sentence in sentences_of(path)}
    kept = {message.id[0] if message.pluralizable else message.id for message in catalogue if message.id}
    assert not kept - used
    assert not catalogue.obsolete


def test_no_translation_is_a_guess(catalogue):
    assert not [message.id for message in catalogue if message.fuzzy and message.id]


def test_translations_have_the_gaps_of_their_sentences(catalogue):
    def gaps(text: str) -> set[str]:
        return set(GAP.findall(text))

    wrong = []
    for message in catalogue:
        allowed = set().union(*map(gaps, message.id if message.pluralizable else [message.id]))
        needed = gaps(message.id[-1] if message.pluralizable else message.id)
        if message.id and any(not needed <= gaps(text) <= allowed for text in _texts(message)):
            wrong.append(message.id)
    assert not wrong


def test_translations_keep_the_voice(catalogue):
    texts = [text for message in catalogue if message.id for text in _texts(message)]
    assert not [text for text in texts if re.search(r"[!！您]", text)]


def test_compiling_writes_what_gettext_reads_and_only_when_it_changed(tmp_path, catalogue):
    copy = tmp_path / "zh_Hans" / "LC_MESSAGES" / "django.po"
    copy.parent.mkdir(parents=True)
    copy.write_bytes(CATALOGUE.read_bytes())
    assert compile_catalogues(tmp_path) == [copy.with_suffix(".mo")]
    with copy.with_suffix(".mo").open("rb") as file:
        assert read_mo(file).get("Log in").string == "登录"
    assert compile_catalogues(tmp_path) == []


def _texts(message) -> list[str]:
    return list(message.string) if message.pluralizable else [message.string]
