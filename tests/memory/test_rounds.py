"""A finished round as it is shown to a model again."""

import pytest

from chat.memory.rounds import answer_text
from chat.models import Run


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        ("由林望舒老师主讲。[1]地点在操场 [2]。", "由林望舒老师主讲。地点在操场。"),
        ("没有这份资料。[3]", "没有这份资料。[3]"),
        ("取 a[1] 与 f(x)[2]，见[1](https://example.org)。", "取 a[1] 与 f(x)[2]，见[1](https://example.org)。"),
    ],
)
def test_numbers_of_its_sources_stay_out_for_in_another_turn_they_mean_others(output, shown):
    assert answer_text(Run(status="completed", output=output, citations=["psg_a", "psg_b"])) == shown


def test_numbers_stay_where_nothing_was_cited():
    assert answer_text(Run(status="completed", output="见注 [1]。")) == "见注 [1]。"
