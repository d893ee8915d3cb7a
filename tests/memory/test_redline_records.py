"""What is kept of something that the filter stopped."""

import pytest

from chat.memory.redline_records import masked_excerpt, record, redact_and_record
from chat.models import Owner, RedlineRecord, Thread
from chat.providers.base import Request
from chat.text.redlines import find
from tests import builders
from tests.memory.answering import AnsweringProvider, long_thread, settle

pytestmark = pytest.mark.django_db
SENTENCES = (
    "李雷爸爸，电话 15900000003，王叔叔 18800000004。",
    "小明这次数学考了58分，要找家长谈。",
    "上周的事：张三的身份证号是110101190003070010，请登记。",
    "班费打到 6217 0000 0000 0000 012 这张卡。",
    "韩梅梅患有哮喘，体育课不能跑步。",
    "小红家住海淀区幸福路27号院3号楼502室。",
    "Tom's father: +86-139-0000-0008, call him.",
)


@pytest.fixture
def owner() -> Owner:
    user = builders.teacher()
    return Owner(builders.school_of(user).pk, user.pk)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_neither_place_nor_digit_nor_person_can_be_read(sentence: str) -> None:
    hits = find(sentence)
    assert hits
    for hit in hits:
        excerpt = masked_excerpt(f"先说别的。{sentence}再说别的。", *_moved(hits, hit))
        assert "█" in excerpt
        assert not any(char.isdigit() for char in excerpt)
        assert not any(word in excerpt for word in ("李雷", "王叔叔", "小明", "张三", "韩梅梅", "小红", "Tom", "幸福路", "哮喘", "别的"))


def _moved(hits, hit):
    """The hits as they are found behind the five characters put before the sentence."""
    moved = [type(one)(one.kind, one.start + 5, one.end + 5, one.rule) for one in hits]
    return moved[hits.index(hit)], moved


def test_the_label_stays_so_that_its_owner_knows_what_was_meant() -> None:
    text = "李雷爸爸，电话 15900000003。"
    assert masked_excerpt(text, find(text)[0], find(text)) == "███，电话 ███。"


def test_the_length_of_a_name_or_number_does_not_show() -> None:
    short, long = "王五电话 15900000003。", "欧阳靖宇的妈妈电话 +86 159 0000 0003。"
    assert masked_excerpt(short, find(short)[0], find(short)) == masked_excerpt(long, find(long)[0], find(long))


def test_same_thing_of_the_same_source_is_recorded_once(owner: Owner) -> None:
    text = "小明数学考了58分。"
    record(owner, "core", text, find(text), source_id="run_a")
    record(owner, "core", text, find(text), source_id="run_a")
    record(owner, "core", text, find(text), source_id="run_b")
    assert RedlineRecord.objects.count() == 2


def test_text_is_redacted_and_recorded_for_its_owner(owner: Owner) -> None:
    assert redact_and_record(owner, "title", "小明数学考了58分", "th_a") == "(涉及学生成绩，略)"
    kept = RedlineRecord.objects.get()
    assert (kept.tenant_id, kept.user_id, kept.layer, kept.kind, kept.source_id) == (
        owner.tenant_id,
        owner.user_id,
        "title",
        "score",
        "th_a",
    )


def test_harmless_text_passes_without_a_record(owner: Owner) -> None:
    assert redact_and_record(owner, "title", "每题5分，共100分", "th_a") == "每题5分，共100分"
    assert not RedlineRecord.objects.exists()


def sensitive_summary(_request: Request) -> str:
    return "老师在出数据结构试卷。小明数学考了58分。已定五个大题。"


def test_a_summary_is_kept_with_its_placeholder_and_a_record() -> None:
    thread = long_thread()
    settle(thread, AnsweringProvider(sensitive_summary))
    assert "58" not in thread.rolling_summary and "(涉及学生成绩，略)" in thread.rolling_summary
    kept = RedlineRecord.objects.get()
    assert (kept.user_id, kept.layer, kept.kind, kept.source_id) == (thread.user_id, "thread", "score", thread.pk)


def test_of_an_incognito_thread_no_record_is_kept() -> None:
    thread = long_thread()
    Thread.objects.update(is_incognito=True)
    settle(thread, AnsweringProvider(sensitive_summary))
    assert "(涉及学生成绩，略)" in thread.rolling_summary
    assert not RedlineRecord.objects.exists()
