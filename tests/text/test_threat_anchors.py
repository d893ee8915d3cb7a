"""The prefilter of the threat rules leaves out none that could match."""

import re

import pytest

from chat.text.threat_anchors import INDEX, Finder, StaleIndex
from chat.text.threat_rules import RULES
from chat.text.threat_rules.base import compiled
from chat.text.threats import patterns
from tests.text.test_threats import BENIGN, THREATS
from tests.threat_index import index_of, text_of

TEXTS = [*BENIGN, *(text.casefold() for texts in THREATS.values() for text in texts)]


def test_the_index_is_that_of_the_rules():
    assert INDEX.read_text(encoding="utf-8") == text_of(index_of(patterns())), "make threat-index"


def test_rules_without_their_index_are_refused():
    with pytest.raises(StaleIndex):
        Finder(patterns()[1:])


def test_every_rule_that_matches_is_worth_a_try():
    finder = Finder(patterns())
    found = 0
    for text in TEXTS:
        tried = set(finder.groups_of(finder.met(text)))
        matching = {place for place, rule in enumerate(RULES) if rule.matches(text)}
        found += len(matching)
        assert matching <= tried, text
    assert found >= 100


def test_most_rules_are_not_tried_on_ordinary_talk():
    finder = Finder(patterns())
    tried = [len(list(finder.groups_of(finder.met(text)))) for text in BENIGN]
    assert sum(tried) <= 0.04 * len(tried) * len(RULES)


def test_nothing_is_compiled_before_a_text_needs_it():
    compiled.cache_clear()
    Finder(patterns())
    assert compiled.cache_info().currsize == 0
    assert isinstance(compiled("a"), re.Pattern)
