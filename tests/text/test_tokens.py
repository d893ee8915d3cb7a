"""The estimate that stands in for counted tokens where the ranks are not installed."""

import pytest

from chat.text.tokens import estimate_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        (" ", 1),
        ("数据结构试卷考试时间", 8),
        ("a b c d", 4),  # a word is a token at least
        ("internationalisation", 4),
        ("123456789", 3),
        ("，。，。，。，。，。", 4),
        ("🙂🙂🙂🙂🙂", 8),
        ("\n\n\n\n", 2),
        ("αβγδε", 3),
        ("第3题 quick sort，时间", 6),
    ],
)
def test_estimate_weighs_each_class_of_characters(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens
