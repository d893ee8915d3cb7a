"""Whatever order sends, ends, retries and summaries come in: memory says what the active path says, no more and no less."""

import re
from itertools import count
from typing import Any

from django.test import override_settings
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from chat.memory.summary import catch_up
from chat.models import Run, Thread
from chat.providers.base import Request
from chat.runs.finish import Outcome, finish_run
from chat.runs.start import Order, start_run
from tests import builders
from tests.fakes import scripted
from tests.memory.answering import AnsweringProvider, FreeLease, cloud_agent

WORD = re.compile(r"暗号\d+号")
STEPS = st.lists(
    st.tuples(st.sampled_from(("send", "send", "end", "retry", "settle", "settle_and_retry")), st.integers(0, 30)), min_size=4, max_size=24
)
ENDS = (Run.Status.COMPLETED, Run.Status.COMPLETED, Run.Status.CANCELLED, Run.Status.FAILED)


def words_of(text: str) -> set[str]:
    return set(WORD.findall(text))


class Conversation:
    """One thread, whose every answer and every summary is made of words that occur nowhere else."""

    def __init__(self) -> None:
        self.agent = cloud_agent(keep_rounds=1, compress_over_rounds=2)
        self.thread = builders.thread(builders.teacher(self.agent.tenant), self.agent)
        self.numbers = count(1)

    def send(self, **fields: Any) -> None:
        order = Order(
            user_id=self.thread.user_id,
            agent_id=self.agent.pk,
            thread_id=self.thread.pk,
            input=f"请说暗号{next(self.numbers)}号。",
            **fields,
        )
        started = start_run(order)
        self.check_prompt(started.prepared.run, started.prepared.request.messages[1]["content"])

    def end(self, choice: int) -> None:
        """Ends one of the runs that go."""
        going = list(Run.objects.filter(thread=self.thread).going().order_by("position"))
        if going:
            run = going[choice % len(going)]
            finish_run(run.pk, self.thread.pk, Outcome(ENDS[choice % len(ENDS)], f"好，暗号{next(self.numbers)}号。"))

    def retry(self, choice: int) -> None:
        """Puts a new run in the place of one that has ended."""
        ended = list(Run.objects.filter(thread=self.thread, is_latest=True, status__in=Run.FINISHED).order_by("slot"))
        if ended:
            self.send(replaces=ended[choice % len(ended)].pk)

    def settle(self, choice: int) -> None:
        with scripted(AnsweringProvider(self.sum_up)):
            catch_up(self.thread, FreeLease())

    def settle_and_retry(self, choice: int) -> None:
        """A retry comes while the model sums up."""
        waiting = [choice]

        def answer(request: Request) -> str:
            if waiting:
                self.retry(waiting.pop())
            return self.sum_up(request)

        with scripted(AnsweringProvider(answer)):
            catch_up(self.thread, FreeLease())

    @staticmethod
    def sum_up(request: Request) -> str:
        return "教师要的有：" + "，".join(sorted(words_of(request.messages[-1]["content"]))) + "。"

    def told(self, **fields: Any) -> set[str]:
        """The words that the finished rounds of the active path tell a model."""
        rounds = Run.objects.filter(thread=self.thread, is_latest=True, status__in=Run.FINISHED, **fields)
        return {word for run in rounds for word in words_of(run.input + ("" if run.status == Run.Status.FAILED else run.output))}

    def check_prompt(self, run: Run, prompt: str) -> None:
        assert words_of(prompt) == self.told(slot__lt=run.slot) | words_of(run.input)

    def check_summary(self) -> None:
        thread = Thread.objects.get(pk=self.thread.pk)
        assert words_of(thread.rolling_summary) == self.told(slot__lte=thread.summary_upto_slot)
        going = Run.objects.filter(thread=thread, is_latest=True).going().order_by("slot").first()
        assert going is None or thread.summary_upto_slot < going.slot


@override_settings(RUNS_PER_MINUTE=1_000)
class PathTests(TestCase):
    @settings(deadline=None, max_examples=15, database=None, derandomize=True)
    @given(STEPS)
    def test_memory_says_what_the_active_path_says(self, steps: list[tuple[str, int]]) -> None:
        conversation = Conversation()
        for name, choice in steps:
            if name == "send":
                conversation.send()
            else:
                getattr(conversation, name)(choice)
            conversation.check_summary()
