"""From lines to Deltas: what reading an answer is for every format.

The texts of all events of one network read become one Delta: objects per read, not per token.
"""

import json
import logging
import secrets
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager
from typing import Any

from chat.providers.base import Delta, EmptyAnswer, ProviderError, StreamBroken, ToolCall, Usage
from chat.providers.http import Body
from chat.providers.thinking import ThinkSplitter

MAX_BROKEN_LINES = 3
MOST_TOKENS = 100_000_000  # of one call; what is more is a mistake, and no column holds it
FINISHES = {"length": "length", "max_tokens": "length", "tool_calls": "tool_calls", "function_call": "tool_calls"}

log = logging.getLogger(__name__)


class Reader(ABC):
    """Gathers what the lines of one answer say; a format subclasses `read_line` and sets `is_done` at its end mark."""

    def __init__(self) -> None:
        self.texts: list[str] = []  # since the last `take`
        self.reasonings: list[str] = []
        self.has_text = False
        self.usage: Usage | None = None
        self.finish = ""
        self.is_done = False
        self.failure: ProviderError | None = None
        self.broken_lines = 0
        self._think = ThinkSplitter()

    @abstractmethod
    def read_line(self, line: bytes) -> None:
        """Takes one line of the answer, without its end."""

    def read_rest(self) -> None:  # noqa: B027  most formats have none
        """The body is over without an end mark; the last chance to make sense of it, or to set `failure`."""

    def tool_calls(self) -> tuple[ToolCall, ...]:
        return ()

    def read(self, lines: list[bytes]) -> None:
        """Reads until the end mark or the first failure."""
        for line in lines:
            self.read_line(line)
            if self.is_done or self.failure:
                return

    def parse(self, text: bytes) -> dict[str, Any] | None:
        """The object in a line, or None for a broken one. More than MAX_BROKEN_LINES of them break the stream."""
        try:
            value = json.loads(text.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            return value
        self.broken_lines += 1
        if self.broken_lines > MAX_BROKEN_LINES:
            self.failure = StreamBroken()
        return None

    def add_text(self, text: str) -> None:
        if self._think.is_plain:
            self.texts.append(text)
            return
        reasoning, text = self._think.feed(text)
        if reasoning:
            self.reasonings.append(reasoning)
        if text:
            self.texts.append(text)

    def take(self) -> Delta | None:
        """What was gathered since the last call."""
        if not self.texts and not self.reasonings:
            return None
        delta = Delta(text="".join(self.texts), reasoning="".join(self.reasonings))
        # Blank text alone is no answer, but it may stand before one.
        self.has_text = self.has_text or bool(delta.text.strip())
        self.texts.clear()
        self.reasonings.clear()
        return delta

    def take_held(self) -> Delta | None:
        """As `take`, at the end: also what looked like the beginning of a tag."""
        reasoning, text = self._think.finish()
        self.reasonings += [reasoning] if reasoning else []
        self.texts += [text] if text else []
        return self.take()

    def last(self) -> Delta:
        """The Delta that ends a good answer. Raises EmptyAnswer when there was none."""
        calls = self.tool_calls()
        if not calls and not self.has_text:
            raise EmptyAnswer
        return Delta(tool_calls=calls, usage=self.usage, finish="tool_calls" if calls else FINISHES.get(self.finish, "stop"))


async def read_answer(stream: AbstractAsyncContextManager[Body], reader: Reader) -> AsyncGenerator[Delta]:
    """Yields what comes, then the last Delta; raises a ProviderError only after all that came was yielded."""
    async with stream as body:
        failure: ProviderError | None = None
        try:
            async for lines in body:
                reader.read(lines)
                if delta := reader.take():
                    yield delta
                    body.pace()  # the first piece at once
                if reader.is_done or reader.failure:
                    break
            else:
                reader.read_rest()
        except ProviderError as error:
            # After a reason to finish only the end mark or the usage is missing: the answer is whole.
            failure = None if reader.finish else error
        failure = failure or reader.failure
        if reader.broken_lines:
            log.warning("Skipped %d broken lines of an answer.", reader.broken_lines)
        if delta := reader.take_held():
            yield delta
        if failure:
            raise failure
        yield reader.last()
        await body.drain()


def new_call_id() -> str:
    """An id for a tool call that came without one."""
    return f"call_{secrets.token_hex(8)}"


def usage_of(input_tokens: object, output_tokens: object) -> Usage | None:
    """The usage, when both counts are there and believable."""
    if not isinstance(input_tokens, int) or not isinstance(output_tokens, int):
        return None
    if not (0 <= input_tokens <= MOST_TOKENS and 0 <= output_tokens <= MOST_TOKENS):
        return None
    return Usage(input_tokens, output_tokens)


def arguments_text(arguments: object) -> str:
    """Tool arguments as JSON text: services send text, or an object, or nothing for none."""
    if isinstance(arguments, str):
        return arguments or "{}"
    return json.dumps(arguments, ensure_ascii=False) if arguments else "{}"
