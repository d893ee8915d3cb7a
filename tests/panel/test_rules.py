"""Every rule of the filter says in the reader's language what it has recognised."""

import re

import pytest
from django.utils.translation import override

from chat.panel.rules import kind_words, layer_words, rule_words
from chat.text.redline_rules import RULES
from chat.text.redlines import find

# One sentence for each rule of numbers, which are not in the table of rules.
NUMBERS = {
    "护照号码 E12345678": "number of a document",
    "身份证 11010119900307109X": "national ID",
    "身份证 110101900307749": "national ID, 15 digits",
    "身份证 110101199003071091": "national ID with a wrong check digit",
    "6222021234567890128": "bank card",
    "工资卡 6222021234567890123": "bank card by its word",
    "13812345678": "mobile number",
    "联系电话 010-62345678": "telephone number",
    "电话 6234 5678": "telephone number by its word",
}
NAMES = sorted({rule.name for rule in RULES} | set(NUMBERS.values()))


@pytest.mark.parametrize(("sentence", "name"), NUMBERS.items())
def test_the_sentence_is_found_by_its_rule(sentence: str, name: str):
    assert name in [hit.rule for hit in find(sentence)]


@pytest.mark.parametrize("name", NAMES)
def test_a_rule_is_named_in_both_languages(name: str):
    with override("en"):
        english = rule_words([name])
    with override("zh-hans"):
        chinese = rule_words([name])
    assert english.isascii() and not chinese.isascii()
    assert not re.search("[A-Za-z]", chinese)


def test_no_two_rules_have_the_same_name():
    for language in ("en", "zh-hans"):
        with override(language):
            assert len({rule_words([name]) for name in NAMES}) == len(NAMES)


def test_a_rule_of_the_past_keeps_its_name():
    assert rule_words(["old rule", "old rule 2"]) in ("old rule, old rule 2", "old rule、old rule 2")
    assert (kind_words(["old"]), layer_words("old")) == ("old", "old")
