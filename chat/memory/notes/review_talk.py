"""The conversation of a review with its model: at most so many steps, so long, and one retry when the network failed."""

import logging
import time
from typing import Protocol

from chat.memory.model import Question, Unusable, ask
from chat.memory.notes.review_calls import Calls
from chat.memory.notes.review_tools import SPECS
from chat.models import MemoryOp, Provider, Thread
from chat.providers.base import Answer, EmptyAnswer, Message, ProviderTimeout, ProviderUnreachable, StreamBroken, ToolCall

log = logging.getLogger(__name__)
STEPS_MOST = 8
SECONDS_MOST = 60.0
REPLY_TOKENS = 2_000  # some models think before they call
CALLS_AT_ONCE = 16
# Of these the next attempt may know nothing; anything else would only happen again.
NETWORK = (ProviderUnreachable, ProviderTimeout, StreamBroken)


class TimeIsUp(Exception):
    """The review has taken as long as it may."""


class Watch(Protocol):
    """Says whether the review may go on; stops it by raising."""

    def before_step(self) -> None: ...

    def before_call(self) -> None: ...


class Talk:
    """One review's conversation. It goes to `service` and `model`, which are None and "" for the assistant's own."""

    def __init__(self, thread: Thread, first: list[Message], calls: Calls, *, service: Provider | None = None, model: str = "") -> None:
        self.thread = thread
        self.messages = list(first)
        self.calls = calls
        self.service = service
        self.model = model
        self.ends_at = time.monotonic() + SECONDS_MOST
        self._retries = 1

    def run(self, steps_left: int, watch: Watch) -> bool:
        """Talks until the model calls no more tools; False when it wanted to go on.

        Raises ProviderError, Unusable or TimeIsUp, and what `watch` raises.
        """
        for number in range(steps_left):
            watch.before_step()
            answer = self._ask(is_first=number == 0)
            if not answer.tool_calls:
                return True
            made = answer.tool_calls[:CALLS_AT_ONCE]
            self.messages.append(_said(answer, made))
            for call in made:
                if time.monotonic() > self.ends_at:
                    raise TimeIsUp
                watch.before_call()
                result = self.calls.result(call)
                self.messages.append({"role": "tool", "tool_call_id": call.id, "name": call.name, "content": result})
        return False

    def _ask(self, *, is_first: bool) -> Answer:
        question = Question(
            MemoryOp.Kind.REVIEW,
            list(self.messages),
            min(REPLY_TOKENS, self.thread.agent.reply_tokens),
            lambda answer: answer,
            tools=SPECS,
            service=self.service,
            model=self.model,
            ends_at=self.ends_at,
        )
        try:
            return ask(self.thread, question)
        except NETWORK as error:
            if time.monotonic() > self.ends_at:
                raise TimeIsUp from None
            if not self._retries:
                raise
            self._retries -= 1
            log.warning("A review of thread %s asks once more after %s", self.thread.pk, error.code)
            return ask(self.thread, question)
        except Unusable as trouble:
            if trouble.code == EmptyAnswer.code and not is_first:
                return Answer()  # done, without a word
            raise


def _said(answer: Answer, made: list[ToolCall]) -> Message:
    calls = [{"id": one.id, "type": "function", "function": {"name": one.name, "arguments": one.arguments}} for one in made]
    return {"role": "assistant", "content": answer.text or None, "tool_calls": calls}
