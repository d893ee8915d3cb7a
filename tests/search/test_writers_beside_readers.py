"""What a reader sees while another one writes, and what is left when much is removed at once."""

import pytest
from django.db import transaction

from chat.models import SearchIndex, SearchTerm
from chat.search import index as index_module
from chat.search.index import contents, record_of, writing
from chat.search.query import Question, scores
from tests import builders

pytestmark = pytest.mark.django_db
KIND = SearchIndex.Kind.KNOWLEDGE


def add(school, texts):
    with transaction.atomic(), writing(school.pk, None, KIND) as writer:
        return {writer.add(record_of(text)): record_of(text) for text in texts}


def remove(school, records):
    with transaction.atomic(), writing(school.pk, None, KIND) as writer:
        writer.remove_all(records)


def test_a_reader_overlooks_what_was_added_since_it_began():
    school = builders.tenant()
    add(school, ["密封线在左侧", "卷头写明学科"])
    seen = SearchIndex.objects.get()
    add(school, ["密封线在右侧", "装订线不写字"])
    for question, numbers in (("密封线", [1]), ("装订线", [1])):  # of 装订线 the first record has 线
        assert list(scores(seen, Question(question))[0].numbers) == numbers


@pytest.mark.parametrize("look_cost", [0, 10_000])  # always and never by looking through the index
def test_records_removed_together_leave_the_index_as_it_was(look_cost, monkeypatch):
    monkeypatch.setattr(index_module, "LOOK_COST", look_cost)
    monkeypatch.setattr(index_module, "BLOCK", 8)
    school = builders.tenant()
    add(school, [f"第{n}条密封线在左侧" for n in range(5)])
    before = contents(SearchIndex.objects.get())
    gone = add(school, [f"第{n}条装订线不写字{'啊' * n}" for n in range(9)])
    remove(school, gone)
    assert contents(SearchIndex.objects.get()) == before
    assert not SearchTerm.objects.filter(term="装订").exists()
