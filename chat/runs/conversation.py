"""The message list inside one run, and its window (L0, DESIGN §4)."""

from dataclasses import dataclass
from functools import cached_property

from chat.memory.read import WINDOW_CHARS
from chat.providers.base import Answer, Message, ToolCall
from chat.text.tokens import count_tokens

SHORTENED_CHARS = 400
SHORTENED = "\n…（较早的工具结果，已截短）"
OMITTED = "（较早的工具结果，已省略）"


class WindowFull(Exception):
    """The conversation does not fit the window, even with all tool results left out."""


@dataclass(frozen=True)
class _Size:
    """What a message takes of the window. Its tokens are counted when they are asked for, once."""

    text: str

    @cached_property
    def tokens(self) -> int:
        return count_tokens(self.text)

    @cached_property
    def most_tokens(self) -> int:
        """A token is a byte at least."""
        return len(self.text.encode("utf-8", "replace"))


class Conversation:
    """Grows by tool calls and their results; `messages` always fits the window."""

    def __init__(self, messages: list[Message], *, window_tokens: int) -> None:
        self.messages: list[Message] = []
        self._sizes: list[_Size] = []  # a count of the whole window takes the loop some 50 ms
        self._limit_tokens = window_tokens
        for message in messages:
            self._add(dict(message))

    @property
    def tokens(self) -> int:
        return sum(size.tokens for size in self._sizes)

    def _add(self, message: Message) -> None:
        self.messages.append(message)
        self._sizes.append(_size_of(message))

    def add_call(self, answer: Answer) -> None:
        """What the model said when it asked for tools."""
        calls = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}} for call in answer.tool_calls
        ]
        self._add({"role": "assistant", "content": answer.text or None, "tool_calls": calls})

    def add_result(self, call: ToolCall, content: str) -> None:
        self._add({"role": "tool", "tool_call_id": call.id, "name": call.name, "content": content})

    def fit(self) -> None:
        """Shortens the oldest tool results first, until the window holds all. Raises WindowFull."""
        for shorten in (_head, _nothing):
            for place, message in enumerate(self.messages):
                if self._fits():
                    return
                if message["role"] == "tool":
                    message["content"] = shorten(message["content"])
                    self._sizes[place] = _size_of(message)
        if not self._fits():
            raise WindowFull

    def _fits(self) -> bool:
        if sum(len(size.text) for size in self._sizes) > WINDOW_CHARS:
            return False
        # Most conversations are so far from the limit that nothing needs to be counted.
        return sum(size.most_tokens for size in self._sizes) <= self._limit_tokens or self.tokens <= self._limit_tokens


def _head(content: str) -> str:
    return content if len(content) <= SHORTENED_CHARS + len(SHORTENED) else content[:SHORTENED_CHARS] + SHORTENED


def _nothing(content: str) -> str:
    return OMITTED if len(content) > len(OMITTED) else content


def _size_of(message: Message) -> _Size:
    calls = message.get("tool_calls") or ()
    text = (message.get("content") or "") + "".join(call["function"]["name"] + call["function"]["arguments"] for call in calls)
    return _Size(text)
