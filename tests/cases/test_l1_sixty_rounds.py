"""Sixty long rounds: the prompt stays flat, and of every round is known where it is."""

import re

import pytest

from chat.jobs.worker import Worker
from chat.memory import catch_up
from chat.memory.layers.thread import ThreadLayer
from chat.memory.read import window_tokens
from chat.models import MemoryOp, Run
from chat.providers.base import Request
from chat.runs.finish import Outcome, finish_run
from chat.runs.start import Order, start_run
from chat.text.boundary import SUMMARY_LABEL, THREAD_CLOSE_LAST
from chat.text.tokens import count_tokens
from tests import builders
from tests.exam import paper
from tests.fakes import scripted
from tests.memory.answering import AnsweringProvider, digest

pytestmark = [pytest.mark.django_db, pytest.mark.process]  # no processes, but some seconds
ROUNDS = 60


@pytest.fixture(autouse=True)
def only_thread_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """The background only sums up; what core memory asks for is none of this test's business."""
    monkeypatch.setattr(catch_up, "layers", lambda: (ThreadLayer(),))


def code(number: int) -> str:
    """A word that only this round has, at the head of its question."""
    return f"暗号{number:02}号"


class Conversation:
    """A teacher who talks to an assistant, and a background that asks the scripted model for summaries."""

    def __init__(self, **agent_fields: object) -> None:
        self.user = builders.teacher()
        self.agent = builders.agent(
            builders.school_of(self.user), system_prompt="你是命题助手。" * 40, **{"has_tools": False} | agent_fields
        )
        self.model = AnsweringProvider(self.summary)
        self.replies: list[str] = []
        self.thread_id = ""
        self.prompts: list[list[dict[str, str]]] = []

    def summary(self, request: Request) -> str:
        """As long as it may be; the tests look for its beginning."""
        self.replies.append(digest(request) + "".join(f"第{n}题考{n * 37 % 101}号知识点。" for n in range(60)))
        return self.replies[-1]

    def turn(self, number: int, answer: str) -> None:
        question = f"{code(number)}：" + "请照顾到难度和分值，不要超纲。" * 8
        started = start_run(Order(user_id=self.user.pk, agent_id=self.agent.pk, thread_id=self.thread_id, input=question))
        self.thread_id = started.thread_id
        self.prompts.append(started.prepared.request.messages)
        self.check_segment(started.prepared.ledger)
        assert self.prompts[-1][-1]["content"].endswith(question)
        finish_run(started.run_id, self.thread_id, Outcome("completed", answer))

    def check_segment(self, ledger) -> None:
        for segment in ledger.segments:
            if segment.name == "thread":
                assert count_tokens(segment.text) == segment.tokens <= min(2_000, self.agent.context_tokens // 4)

    def settle(self) -> None:
        with scripted(self.model, kind="demo"):
            Worker("w").drain()

    def places(self, number: int) -> tuple[int, int]:
        """Of the round, by the newest prompt: how often it is shown there, and in how many summary requests it was."""
        shown = self.prompts[-1][-1]["content"].partition(THREAD_CLOSE_LAST)[0].count(code(number))
        return shown, sum(code(number) in prompt for prompt in self.model.prompts)

    @property
    def sizes(self) -> list[int]:
        return [sum(count_tokens(message["content"]) for message in prompt) for prompt in self.prompts]


@pytest.fixture(autouse=True)
def _many_runs(settings):
    settings.RUNS_PER_MINUTE = 1_000


@pytest.mark.parametrize("window", [32_000, 8_192])
def test_each_earlier_round_is_shown_or_was_in_exactly_one_summary_request(window):
    talk = Conversation(context_tokens=window, reply_tokens=2_000)
    answer = paper()
    for number in range(1, ROUNDS + 1):
        talk.turn(number, f"第{number}答。\n{answer}")
        for earlier in range(1, number):
            assert sum(talk.places(earlier)) == 1, (number, earlier)
        talk.settle()
    assert len(talk.model.requests) == MemoryOp.objects.filter(outcome="done").count() > ROUNDS / 2
    for prompt, before in zip(talk.model.prompts[1:], talk.replies, strict=False):
        assert SUMMARY_LABEL + before[:40] in prompt
    assert all(request.thread_id == talk.thread_id for request in talk.model.requests)
    sizes = talk.sizes
    assert max(sizes[10:]) <= max(sizes[:10]) * 1.05
    room = window_tokens(talk.agent)
    assert max(sizes) <= room


def test_rounds_that_wait_for_an_absent_background_are_counted_and_none_is_lost():
    talk = Conversation()
    for number in range(1, ROUNDS + 1):
        talk.turn(number, f"第{number}答。" + "栈和队列都是受限的线性表，插入和删除只在端点进行。" * 20)
        text = talk.prompts[-1][-1]["content"]
        places = [talk.places(earlier) for earlier in range(1, number)]
        assert all(sum(place) <= 1 for place in places)
        left_out = re.search("另有 (\\d+) 轮较早的对话因篇幅未放入", text)
        assert places.count((0, 0)) == (int(left_out[1]) if left_out else 0)
        if number % 29 == 0:  # more rounds wait than are read at once
            talk.settle()
    talk.settle()
    for number in range(1, ROUNDS - 1):
        assert talk.places(number)[1] == 1
    assert max(talk.sizes[30:]) <= max(talk.sizes[:30]) * 1.05
    assert Run.objects.count() == ROUNDS
