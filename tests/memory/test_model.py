"""How memory asks a model: to whom it goes, and what is written down."""

import contextlib
from decimal import Decimal

import pytest

from chat.memory.model import Question, Unusable, ask
from chat.models import Agent, MemoryOp, Thread
from chat.providers.base import (
    Answer,
    Delta,
    EmptyAnswer,
    ModelNotFound,
    ProviderAuthError,
    ProviderError,
    ProviderOverloaded,
    ProviderRateLimited,
    ProviderTimeout,
    ProviderUnreachable,
    StreamBroken,
    Usage,
)
from chat.text.tokens import count_tokens
from tests import builders
from tests.fakes import scripted
from tests.memory.answering import AnsweringProvider, cloud_agent, thread_of

pytestmark = pytest.mark.django_db
MESSAGES = [{"role": "system", "content": "压缩。"}, {"role": "user", "content": "出一份数据结构试卷"}]


def text_of(answer: Answer) -> str:
    if "不行" in answer.text:
        raise Unusable("refused")
    return answer.text


def ask_about(thread: Thread) -> str:
    return ask(thread, Question(MemoryOp.Kind.SUMMARY, MESSAGES, 500, text_of))


def op_of(reply: object, agent: Agent | None = None) -> MemoryOp:
    """The operation that one call has left."""
    thread = thread_of(agent or cloud_agent())
    with scripted(AnsweringProvider(lambda request: reply)), contextlib.suppress(ProviderError, Unusable):
        ask_about(thread)
    return MemoryOp.objects.get()


def local_ollama(agent: Agent, **fields: object) -> Agent:
    """Another assistant of the school, on a model in the house."""
    service = builders.provider(agent.tenant, **{"name": "本地", "kind": "ollama", "base_url": "http://127.0.0.1:11434"} | fields)
    return builders.agent(agent.tenant, provider=service, model="qwen")


def test_the_request_names_purpose_thread_and_limit():
    thread = thread_of(cloud_agent())
    with scripted(AnsweringProvider(lambda request: "摘要。")) as model:
        assert ask_about(thread) == "摘要。"
    request, endpoint = model.requests[0], model.endpoints[0]
    assert (request.purpose, request.thread_id, request.max_tokens, request.messages) == ("summary", thread.pk, 500, MESSAGES)
    assert (endpoint.model, endpoint.base_url, endpoint.is_local) == ("large", "http://127.0.0.1:9/v1", False)


def test_a_call_is_written_down_with_what_the_service_reported():
    thread = thread_of(cloud_agent())
    with scripted(AnsweringProvider(lambda request: [Delta(text="摘要。"), Delta(usage=Usage(1009, 53))])):
        ask_about(thread)
    op = MemoryOp.objects.get()
    assert (op.tenant_id, op.user_id, op.agent_id, op.thread_id) == (thread.tenant_id, thread.user_id, thread.agent_id, thread.pk)
    assert (op.kind, op.provider_id, op.model, op.outcome, op.error_code) == ("summary", thread.agent.provider_id, "large", "done", "")
    assert (op.input_tokens, op.output_tokens, op.is_estimate) == (1009, 53, False)
    assert op.cost == Decimal("0.002442")


def test_without_a_report_the_tokens_are_an_estimate_and_marked():
    op = op_of([Delta(text="摘要。", reasoning="想一想")])
    assert op.is_estimate
    assert op.input_tokens == count_tokens("压缩。") + count_tokens("出一份数据结构试卷")
    assert op.output_tokens == count_tokens("摘要。") + count_tokens("想一想")
    assert op.cost > 0


def test_the_row_stands_before_the_call_ends():
    thread = thread_of(cloud_agent())
    seen = []
    with scripted(AnsweringProvider(lambda request: "摘要。")):
        ask(thread, Question(MemoryOp.Kind.SUMMARY, MESSAGES, 500, lambda answer: seen.append(MemoryOp.objects.get().outcome)))
    assert seen == ["running"]


@pytest.mark.parametrize("error", [ProviderTimeout, ProviderOverloaded, StreamBroken])
def test_a_call_that_failed_after_it_was_sent_is_on_the_bill(error):
    op = op_of(error())
    assert (op.outcome, op.error_code, op.is_estimate) == ("failed", error.code, True)
    assert op.input_tokens > 0
    assert op.cost > 0


@pytest.mark.parametrize("error", [ProviderUnreachable, ProviderAuthError, ProviderRateLimited, ModelNotFound])
def test_a_call_that_was_not_taken_costs_nothing(error):
    op = op_of(error())
    assert (op.outcome, op.error_code, op.input_tokens, op.cost, op.is_estimate) == ("failed", error.code, 0, 0, False)


def test_an_answer_that_cannot_be_used_is_paid_and_marked():
    op = op_of([Delta(text="不行"), Delta(usage=Usage(11, 2))])
    assert (op.outcome, op.error_code, op.input_tokens, op.output_tokens) == ("unusable", "refused", 11, 2)


def test_an_empty_answer_is_unusable_and_keeps_its_usage():
    class Empty(AnsweringProvider):
        async def stream(self, endpoint, request):
            yield Delta(usage=Usage(13, 7))
            raise EmptyAnswer

    thread = thread_of(cloud_agent())
    with scripted(Empty()), pytest.raises(Unusable):
        ask_about(thread)
    op = MemoryOp.objects.get()
    assert (op.outcome, op.error_code, op.input_tokens, op.output_tokens) == ("unusable", "empty_answer", 13, 7)


@pytest.mark.parametrize("error", [ProviderUnreachable, ProviderOverloaded, ProviderTimeout])
def test_a_local_model_of_the_school_stands_in_for_a_service_that_is_away(error):
    agent = cloud_agent()
    local = local_ollama(agent)
    with (
        scripted(AnsweringProvider(lambda request: error())),
        scripted(AnsweringProvider(lambda request: "本地摘要。"), "ollama") as stand_in,
    ):
        assert ask_about(thread_of(agent)) == "本地摘要。"
    assert [one.model for one in stand_in.endpoints] == ["qwen"]
    ops = list(MemoryOp.objects.order_by("created_at").values_list("provider_id", "model", "outcome", "error_code", "agent_id"))
    assert ops == [
        (agent.provider_id, "large", "failed", error.code, agent.pk),
        (local.provider_id, "qwen", "done", "", agent.pk),
    ]


@pytest.mark.parametrize("error", [ProviderAuthError, ProviderRateLimited, ModelNotFound, StreamBroken])
def test_other_failures_do_not_move_the_text_elsewhere(error):
    agent = cloud_agent()
    local_ollama(agent)
    with scripted(AnsweringProvider(lambda request: error())), scripted(AnsweringProvider(), "ollama") as other, pytest.raises(error):
        ask_about(thread_of(agent))
    assert other.requests == []


def test_an_ollama_that_is_not_local_does_not_stand_in():
    agent = cloud_agent()
    local_ollama(agent, is_local=False)
    with (
        scripted(AnsweringProvider(lambda request: ProviderUnreachable())),
        scripted(AnsweringProvider(), "ollama") as other,
        pytest.raises(ProviderUnreachable),
    ):
        ask_about(thread_of(agent))
    assert other.requests == []


def test_the_ollama_of_another_school_does_not_stand_in():
    local_ollama(cloud_agent())
    with (
        scripted(AnsweringProvider(lambda request: ProviderUnreachable())),
        scripted(AnsweringProvider(), "ollama") as other,
        pytest.raises(ProviderUnreachable),
    ):
        ask_about(thread_of(cloud_agent()))
    assert other.requests == []


def test_a_local_assistant_never_goes_to_a_cloud():
    agent = cloud_agent()
    local = local_ollama(agent)
    with (
        scripted(AnsweringProvider(lambda request: ProviderUnreachable()), "ollama"),
        scripted(AnsweringProvider()) as cloud,
        pytest.raises(ProviderUnreachable),
    ):
        ask_about(thread_of(local))
    assert cloud.requests == []


def test_an_ollama_without_a_known_model_does_not_stand_in():
    agent = cloud_agent()
    builders.provider(agent.tenant, name="本地", kind="ollama", base_url="http://127.0.0.1:11434")
    with (
        scripted(AnsweringProvider(lambda request: ProviderUnreachable())),
        scripted(AnsweringProvider(), "ollama") as other,
        pytest.raises(ProviderUnreachable),
    ):
        ask_about(thread_of(agent))
    assert other.requests == []
