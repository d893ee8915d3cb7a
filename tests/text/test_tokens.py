"""The estimate that stands in for counted tokens where the ranks are not installed."""

import pytest

from chat.text import tokens as counting
from chat.text.tokens import count_tokens, estimate_tokens


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


class Words:
    """Counts words, and how often it is asked."""

    asked = 0

    def encode_ordinary(self, text: str) -> list[str]:
        self.asked += 1
        return text.split()


def test_long_text_is_counted_once_and_another_one_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    words = Words()
    monkeypatch.setattr(counting, "_encoding", words)
    monkeypatch.setattr(counting, "_counts", {})
    paper, other = "word " * 500, "words " * 501
    assert [count_tokens(text) for text in (paper, other, paper, other)] == [500, 501, 500, 501]
    assert words.asked == 2
