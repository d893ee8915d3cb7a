"""The message list inside one run, and its window (L0): 80k tokens, 200k characters, less room for the reply (DESIGN §4)."""

from chat.providers.base import Answer, Message, ToolCall
from chat.text.tokens import count_tokens

WINDOW_TOKENS = 80_000
WINDOW_CHARS = 200_000
SHORTENED_CHARS = 400
SHORTENED = "\n…（较早的工具结果，已截短）"
OMITTED = "（较早的工具结果，已省略）"


class WindowFull(Exception):
    """The conversation does not fit the window, even with all tool results left out."""


class Conversation:
    """Grows by tool calls and their results; `messages` always fits the window."""

    def __init__(self, messages: list[Message], *, window_tokens: int) -> None:
        self.messages = [dict(message) for message in messages]
        self._limit_tokens = min(WINDOW_TOKENS, window_tokens)

    def add_call(self, answer: Answer) -> None:
        """What the model said when it asked for tools."""
        calls = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}} for call in answer.tool_calls
        ]
        self.messages.append({"role": "assistant", "content": answer.text or None, "tool_calls": calls})

    def add_result(self, call: ToolCall, content: str) -> None:
        self.messages.append({"role": "tool", "tool_call_id": call.id, "name": call.name, "content": content})

    def fit(self) -> None:
        """Shortens the oldest tool results first, until the window holds all. Raises WindowFull."""
        for shorten in (_head, _nothing):
            for message in [one for one in self.messages if one["role"] == "tool"]:
                if self._fits():
                    return
                message["content"] = shorten(message["content"])
        if not self._fits():
            raise WindowFull

    def _fits(self) -> bool:
        texts = [_text_of(message) for message in self.messages]
        return sum(map(len, texts)) <= WINDOW_CHARS and sum(map(count_tokens, texts)) <= self._limit_tokens


def _head(content: str) -> str:
    return content if len(content) <= SHORTENED_CHARS + len(SHORTENED) else content[:SHORTENED_CHARS] + SHORTENED


def _nothing(content: str) -> str:
    return OMITTED if len(content) > len(OMITTED) else content


def _text_of(message: Message) -> str:
    calls = message.get("tool_calls") or ()
    return (message.get("content") or "") + "".join(call["function"]["name"] + call["function"]["arguments"] for call in calls)
