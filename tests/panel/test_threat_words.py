"""Every category of the threat scan has words in both languages."""

import re

import pytest
from django.utils import translation

from chat.memory.blocked import FAILED
from chat.panel.threat_words import category_words
from chat.text.threats import CATEGORIES, TOO_LONG

ALL = (*CATEGORIES, TOO_LONG, FAILED)


@pytest.mark.parametrize("category", ALL)
def test_a_category_is_said_in_both_languages(category):
    with translation.override("en"):
        english = category_words(category)
    with translation.override("zh-hans"):
        chinese = category_words(category)
    assert english != category and english.isascii()
    assert re.search("[\u4e00-\u9fff]", chinese)


def test_no_two_categories_are_called_the_same():
    with translation.override("zh-hans"):
        assert len({category_words(category) for category in ALL}) == len(ALL)


def test_a_category_of_an_older_version_keeps_its_name():
    assert category_words("gone") == "gone"
