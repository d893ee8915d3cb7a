"""The prefilter of the threat rules leaves out none that could match."""

import re
from pathlib import Path

import pytest

from chat.text.threat_anchors import Finder
from chat.text.threat_index import index_of, sealed, unsealed
from chat.text.threat_rules import RULES
from chat.text.threat_rules.base import compiled
from chat.text.threats import patterns
from tests.text.test_threats import BENIGN, THREATS

TEXTS = [*BENIGN, *(text.casefold() for texts in THREATS.values() for text in texts)]


RULE_PATTERNS = patterns()
ELSEWHERE = Path("there", "is", "none")


@pytest.fixture(scope="module")
def file_of_rules() -> bytes:
    return sealed(RULE_PATTERNS)


@pytest.fixture
def never_made(monkeypatch):
    """What makes the index anew fails."""
    monkeypatch.setattr("chat.text.threat_anchors.index_of", lambda groups: pytest.fail("the file was not used"))


def places(finder: Finder) -> list[list[int]]:
    return [sorted(finder.groups_of(finder.met(text))) for text in TEXTS]


def test_the_index_of_the_file_says_what_one_made_in_memory_says(tmp_path, file_of_rules, request):
    in_memory = places(Finder(RULE_PATTERNS, ELSEWHERE))
    (tmp_path / "idx").write_bytes(file_of_rules)
    request.getfixturevalue("never_made")
    assert places(Finder(RULE_PATTERNS, tmp_path / "idx")) == in_memory


def test_a_file_of_other_rules_is_not_used(tmp_path):
    (tmp_path / "idx").write_bytes(sealed([("open sesame",), ("shut sesame",)]))
    finder = Finder([("shut sesame",), ("open sesame",)], tmp_path / "idx")
    assert list(finder.groups_of(finder.met("now open sesame"))) == [1]


def test_a_file_that_groups_the_patterns_otherwise_is_not_used():
    assert unsealed(sealed([("open", "sesame")]), [("open",), ("sesame",)]) is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda file: b"",
        lambda file: file[:9],
        lambda file: file[:-1],
        lambda file: file.replace(b"open", b"opem"),
        lambda file: b"0" * 8 + file[8:],
        lambda file: file.partition(b"\n")[2],
        lambda file: b"\xff\n" + file,
    ],
    ids=["empty", "seal alone", "cut", "changed", "another seal", "no seal", "not text"],
)
def test_a_broken_file_is_not_used(tmp_path, damage):
    rules = [("open sesame",), ("shut sesame",)]
    whole = sealed(rules)
    assert unsealed(whole, rules) == index_of(rules)
    assert damage(whole) != whole
    (tmp_path / "idx").write_bytes(damage(whole))
    finder = Finder(rules, tmp_path / "idx")
    assert list(finder.groups_of(finder.met("now open sesame"))) == [0]


def test_a_file_that_cannot_be_read_is_not_used(tmp_path):
    finder = Finder([("open sesame",)], tmp_path)  # a folder
    assert list(finder.groups_of(finder.met("now open sesame"))) == [0]


def test_every_rule_that_matches_is_worth_a_try():
    finder = Finder(RULE_PATTERNS)
    found = 0
    for text in TEXTS:
        tried = set(finder.groups_of(finder.met(text)))
        matching = {place for place, rule in enumerate(RULES) if rule.matches(text)}
        found += len(matching)
        assert matching <= tried, text
    assert found >= 100


def test_most_rules_are_not_tried_on_ordinary_talk():
    finder = Finder(RULE_PATTERNS)
    tried = [len(list(finder.groups_of(finder.met(text)))) for text in BENIGN]
    assert sum(tried) <= 0.04 * len(tried) * len(RULES)


def test_nothing_is_compiled_before_a_text_needs_it():
    compiled.cache_clear()
    Finder(RULE_PATTERNS)
    assert compiled.cache_info().currsize == 0
    assert isinstance(compiled("a"), re.Pattern)
