"""The demo provider shows core memory at work: it proposes by rule from what a teacher says of themselves."""

import pytest

from chat.memory.catch_up import settle
from chat.models import Candidate
from tests import builders
from tests.memory.answering import FreeLease

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("我教高二物理，出一份试卷。", [("我教高二物理，出一份试卷", "teaching")]),
        ("出一份试卷。我更喜欢简答题！以后请用表格。", [("我更喜欢简答题", "preference"), ("以后请用表格", "instruction")]),
        ("I teach grade 11. I prefer short answers.", [("I teach grade 11", "teaching"), ("I prefer short answers", "preference")]),
        ("出一份数据结构试卷", []),
        ("我教高二的话怎么安排？", []),
    ],
)
def test_candidates_come_from_what_the_teacher_says(said, expected):
    talk = builders.thread(builders.teacher())
    builders.run(talk, said, "好的，我教高一，我喜欢诗。")
    settle(talk.pk, FreeLease())
    found = Candidate.objects.order_by("created_at", "pk").values_list("text", "kind")
    strip = [(text.rstrip(".").strip(), kind) for text, kind in found]
    assert sorted(strip) == sorted(expected)
