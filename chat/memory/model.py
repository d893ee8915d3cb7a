"""The one way memory asks a model: each call is a MemoryOp, each goes to the assistant's own model service (DESIGN §8)."""

import asyncio
import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from chat.memory.base import LayerTrouble
from chat.memory.calls import Interrupted, call
from chat.memory.endpoints import endpoint_of
from chat.models import Agent, MemoryOp, Provider, Thread
from chat.providers.base import (
    UNPAID,
    Answer,
    EmptyAnswer,
    Endpoint,
    Message,
    ProviderError,
    ProviderOverloaded,
    ProviderTimeout,
    ProviderUnreachable,
    Purpose,
    Request,
    ToolSpec,
    complete,
)
from chat.providers.registry import provider
from chat.text.tokens import count_tokens

T = TypeVar("T")
log = logging.getLogger(__name__)

# After these a local model of the same school may stand in; any other failure is the request's or the configuration's.
AWAY = (ProviderUnreachable, ProviderOverloaded, ProviderTimeout)
CALL_MAX_SECONDS = 540.0  # less than after what the sweep takes a call for lost (chat.jobs.sweep)


class Unusable(LayerTrouble):
    """The model has answered, but the answer cannot be used."""


@dataclass(frozen=True, slots=True)
class Question(Generic[T]):
    """What memory asks. `read` makes of the answer what the caller wants, or raises Unusable.

    `tools` are offered to the model. `service` is another model service than the assistant's own, and `model` another of
    its models; whoever names one has asked whether the text may go there. `ends_at` is when the answer must be there, by
    time.monotonic().
    """

    kind: MemoryOp.Kind
    messages: list[Message]
    max_tokens: int
    read: Callable[[Answer], T]
    tools: tuple[ToolSpec, ...] = ()
    service: Provider | None = None
    model: str = ""
    ends_at: float = math.inf


def ask(thread: Thread, question: Question[T]) -> T:
    """Asks the model of the thread's assistant and returns what `question.read` made of the answer.

    When that service is away, a local Ollama of the same school is asked instead, if there is one; nothing ever goes
    to another cloud. Raises the ProviderError of the last attempt, Unusable, or Interrupted.
    """
    agent = thread.agent
    own = _endpoint(agent, question)
    try:
        return _attempt(thread, question.service or agent.provider, own, question)
    except AWAY:
        stand_in = _stand_in(agent)
        if stand_in is None:
            raise
        service, model = stand_in
        log.warning("The model service of assistant %s is away; %s stands in for thread %s", agent.pk, service.pk, thread.pk)
        return _attempt(thread, service, replace(endpoint_of(service, model), context_tokens=own.context_tokens), question)


def _endpoint(agent: Agent, question: Question[T]) -> Endpoint:
    if question.service is None:
        return endpoint_of(agent, question.model)
    return replace(endpoint_of(question.service, question.model), context_tokens=agent.context_tokens)


def _stand_in(agent: Agent) -> tuple[Provider, str] | None:
    """A local Ollama of the assistant's school and a model that an assistant uses there; None when there is none."""
    user = (
        Agent.objects.filter(tenant_id=agent.tenant_id, provider__tenant_id=agent.tenant_id)
        .filter(provider__kind=Provider.Kind.OLLAMA, provider__is_local=True)
        .exclude(provider_id=agent.provider_id)
        .select_related("provider")
        .order_by("-is_active", "order", "pk")
        .first()
    )
    return (user.provider, user.model) if user else None


def _attempt(thread: Thread, service: Provider, endpoint: Endpoint, question: Question[T]) -> T:
    op = MemoryOp.objects.create(
        tenant_id=thread.tenant_id,
        user_id=thread.user_id,
        agent_id=thread.agent_id,
        thread=thread,
        kind=question.kind,
        provider=service,
        model=endpoint.model,
    )
    request = Request(
        messages=question.messages,
        purpose=_PURPOSES[question.kind],
        tools=question.tools,
        max_tokens=question.max_tokens,
        thread_id=thread.pk,
    )
    answer = Answer()
    op.outcome, op.error_code = MemoryOp.Outcome.FAILED, "internal_error"
    is_paid = True
    started = time.monotonic()
    try:
        call(_complete(endpoint, request, answer, question.ends_at))
        value = question.read(answer)
        op.outcome, op.error_code = MemoryOp.Outcome.DONE, ""
        return value
    except Interrupted:
        op.error_code = "interrupted"
        raise
    except EmptyAnswer as error:
        op.outcome, op.error_code = MemoryOp.Outcome.UNUSABLE, error.code
        raise Unusable(error.code) from None
    except Unusable as trouble:
        op.outcome, op.error_code = MemoryOp.Outcome.UNUSABLE, trouble.code
        raise
    except ProviderError as error:
        op.error_code = error.code
        is_paid = not isinstance(error, UNPAID)
        raise
    finally:
        op.duration_ms = round((time.monotonic() - started) * 1000)
        _count(op, service, request, answer if is_paid else None)
        _store(op)


async def _complete(endpoint: Endpoint, request: Request, answer: Answer, ends_at: float) -> None:
    """Waits for the answer for so long at most; a service that keeps a connection alive for ever must not hold the worker."""
    try:
        async with asyncio.timeout(min(CALL_MAX_SECONDS, max(0.0, ends_at - time.monotonic()))):
            await complete(provider(endpoint.kind), endpoint, request, answer)
    except TimeoutError:
        raise ProviderTimeout from None


_PURPOSES: dict[str, Purpose] = {
    MemoryOp.Kind.SUMMARY: "summary",
    MemoryOp.Kind.TITLE: "title",
    MemoryOp.Kind.EXTRACTION: "extraction",
    MemoryOp.Kind.REVIEW: "review",
}


def _count(op: MemoryOp, service: Provider, request: Request, answer: Answer | None) -> None:
    """Fills in tokens and cost: as the service reported them, else an estimate that is marked; `answer` None means unpaid."""
    if answer is None:
        return
    if answer.usage is not None:
        op.input_tokens, op.output_tokens = answer.usage.input_tokens, answer.usage.output_tokens
    else:
        op.is_estimate = True
        op.input_tokens = sum(count_tokens(_told(message)) for message in request.messages)
        asked = "".join(one.name + one.arguments for one in answer.tool_calls)
        op.output_tokens = count_tokens(answer.text) + count_tokens(answer.reasoning) + count_tokens(asked)
    op.cost = service.cost(op.input_tokens, op.output_tokens)


def _told(message: Message) -> str:
    calls = message.get("tool_calls") or ()
    return (message.get("content") or "") + "".join(one["function"]["name"] + one["function"]["arguments"] for one in calls)


def _store(op: MemoryOp) -> None:
    """Writes the end of the call; a row that was erased with its teacher stays erased."""
    fields = ("outcome", "error_code", "duration_ms", "input_tokens", "output_tokens", "is_estimate", "cost")
    MemoryOp.objects.filter(pk=op.pk).update(**{name: getattr(op, name) for name in fields})
