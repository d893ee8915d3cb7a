"""The window inside one run."""

import pytest

from chat.providers.base import Answer, ToolCall
from chat.runs.conversation import Conversation, WindowFull
from chat.text.tokens import count_tokens

START = [{"role": "system", "content": "你是助手。"}, {"role": "user", "content": "读一读"}]


def words(count: int) -> str:
    """About `count` characters of ordinary text."""
    return "".join(f"第{number}题考查链表。" for number in range(count // 9))


def conversation(*results: str, window_tokens: int = 2_000) -> Conversation:
    made = Conversation(START, window_tokens=window_tokens)
    for number, result in enumerate(results):
        call = ToolCall(f"c{number}", "thread_read", "{}")
        made.add_call(Answer(tool_calls=[call]))
        made.add_result(call, result)
    return made


def tool_results(of: Conversation) -> list[str]:
    return [message["content"] for message in of.messages if message["role"] == "tool"]


def test_short_results_stay_as_they_are() -> None:
    made = conversation("短", "也短")
    made.fit()
    assert tool_results(made) == ["短", "也短"]


def test_oldest_result_is_shortened_first() -> None:
    newest = words(900)
    made = conversation(words(1_500), newest, window_tokens=count_tokens(newest) + 700)
    made.fit()
    old, new = tool_results(made)
    assert len(old) < 500 and new == newest


def test_window_counts_everything() -> None:
    made = conversation(*[words(1_500)] * 5)
    made.fit()
    assert sum(count_tokens(str(message.get("content") or "")) for message in made.messages) <= 2_000


def test_conversation_that_cannot_fit_says_so() -> None:
    made = Conversation([{"role": "user", "content": words(3_000)}], window_tokens=1_000)
    with pytest.raises(WindowFull):
        made.fit()
