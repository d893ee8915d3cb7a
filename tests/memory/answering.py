"""A model service whose answers follow from the requests, and threads that talk to it."""

import hashlib
from collections.abc import AsyncIterator, Callable, Sequence

from chat.memory.summary import catch_up
from chat.models import Agent, Run, Summary, Thread
from chat.providers.base import Delta, Endpoint, Request
from tests import builders
from tests.fakes import scripted

Reply = str | Exception | Sequence[Delta]


def digest(request: Request) -> str:
    """A summary that is another one for each other request, and the same for the same."""
    content = "".join(message["content"] for message in request.messages)
    return f"教师在出试卷，编号{hashlib.sha256(content.encode()).hexdigest()[:12]}。"


class AnsweringProvider:
    """Keeps every request and answers it by a function: text, Deltas, or an exception that is raised."""

    def __init__(self, answer: Callable[[Request], Reply] = digest) -> None:
        self.answer = answer
        self.requests: list[Request] = []
        self.endpoints: list[Endpoint] = []

    async def stream(self, endpoint: Endpoint, request: Request) -> AsyncIterator[Delta]:
        self.requests.append(request)
        self.endpoints.append(endpoint)
        reply = self.answer(request)
        if isinstance(reply, Exception):
            raise reply
        for delta in [Delta(text=reply)] if isinstance(reply, str) else reply:
            yield delta

    @property
    def prompts(self) -> list[str]:
        """The user messages, in the order of the requests."""
        return [request.messages[-1]["content"] for request in self.requests]


class FreeLease:
    """A lease that nobody contests."""

    def renew(self) -> None:
        return


def cloud_agent(**fields: object) -> Agent:
    """An assistant on a paid service that is not local."""
    school = builders.tenant()
    service = builders.provider(
        school, name="云", kind="openai", base_url="http://127.0.0.1:9/v1", is_local=False, input_price=2, output_price=8
    )
    return builders.agent(school, **{"provider": service, "model": "large"} | fields)


def thread_of(agent: Agent) -> Thread:
    return builders.thread(builders.teacher(agent.tenant), agent)


def long_thread(rounds: int = 8, **agent_fields: object) -> Thread:
    """A thread of that many finished rounds which teach nothing; the n-th has the word 暗号n。 in its input."""
    thread = thread_of(cloud_agent(**agent_fields))
    for number in range(1, rounds + 1):
        builders.run(thread, f"第{number}问，暗号{number}。", f"第{number}答。", has_memory=False)
    return thread


def replace_run(run: Run, output: str = "换过的回答。", **fields: object) -> Run:
    """A finished run in the place of `run`, as the start of a retry puts it there."""
    thread = Thread.objects.get(pk=run.thread_id)
    return builders.run(thread, run.input, output, replaces=run, **fields)


def memory_of(thread: Thread) -> tuple[object, ...]:
    """All that thread memory has stored of a thread, without times of its own."""
    row = Thread.objects.values_list("rolling_summary", "summary_upto_slot", "summary_upto_at").get(pk=thread.pk)
    steps = Summary.objects.filter(thread=thread).order_by("upto_slot").values_list("upto_slot", "text", "origin", "upto_at")
    return (*row, *steps)


def settle(thread: Thread, model: AnsweringProvider | None = None) -> AnsweringProvider:
    """Lets thread memory catch up, and returns the model with what it was asked."""
    model = model or AnsweringProvider()
    with scripted(model):
        catch_up(thread, FreeLease())
    thread.refresh_from_db()
    return model
