"""What stands on the bill after calls over real sockets (the answers come from the scripted model server)."""

from decimal import Decimal

import pytest
from django.utils import timezone

from chat.jobs.worker import Worker
from chat.models import LayerState, MemoryOp, Summary, Thread, Work
from tests import builders
from tests.memory.answering import thread_of

pytestmark = [pytest.mark.mock, pytest.mark.django_db]


def settle_on(mock, model: str) -> Thread:
    """A thread whose summary is due, after one attempt with the model."""
    school = builders.tenant()
    service = builders.provider(school, kind="openai", base_url=f"{mock.url}/v1", is_local=False, input_price=3, output_price=7)
    thread = thread_of(builders.agent(school, provider=service, model=model))
    for number in range(1, 8):
        builders.run(thread, f"第{number}问。", f"第{number}答。", has_memory=False)
    Work.objects.mark(Work.Kind.THREAD, thread.pk)
    Worker("w").drain()
    return thread


def test_a_summary_has_one_row_with_the_tokens_that_were_reported(mock_model):
    thread = settle_on(mock_model, "mock/tokens=23")
    request, op = mock_model.requests[-1], MemoryOp.objects.get()
    assert request["headers"]["x-purpose"] == "summary"
    assert request["headers"]["x-thread-id"] == thread.pk
    assert (op.outcome, op.output_tokens, op.is_estimate) == ("done", request["tokens"], False)
    assert op.cost == (Decimal(3) * op.input_tokens + Decimal(7) * op.output_tokens) / 1_000_000
    assert Summary.objects.count() == 1


def test_attempts_of_one_call_are_one_row(mock_model):
    settle_on(mock_model, "mock/tokens=23,fault=500,times=1")
    assert len(mock_model.requests) == 2
    assert MemoryOp.objects.get().outcome == "done"


def test_an_answer_without_usage_is_an_estimate_and_not_zero(mock_model):
    settle_on(mock_model, "mock/tokens=23,usage=never")
    op = MemoryOp.objects.get()
    assert (op.outcome, op.is_estimate) == ("done", True)
    assert op.input_tokens > 100
    assert op.output_tokens > 5
    assert op.cost > 0


def test_a_connection_that_breaks_is_a_row_of_its_own_and_the_next_attempt_another(mock_model):
    thread = settle_on(mock_model, "mock/tokens=23,fault=drop,at=5,times=1")
    assert not Summary.objects.exists()
    LayerState.objects.update(retry_at=timezone.now())
    Work.objects.update(due_at=timezone.now())
    Worker("w").drain()
    broken, done = MemoryOp.objects.order_by("created_at")
    assert (broken.outcome, broken.error_code, broken.is_estimate) == ("failed", "stream_broken", True)
    assert broken.cost > 0
    assert done.outcome == "done"
    assert Summary.objects.get().thread_id == thread.pk


def test_an_error_of_the_service_leaves_no_text_of_it(mock_model):
    settle_on(mock_model, "mock/fault=502")
    op = MemoryOp.objects.get()
    assert (op.outcome, op.error_code) == ("failed", "provider_overloaded")
    assert "html" not in str(vars(op) | vars(LayerState.objects.get(layer="thread")) | vars(Work.objects.get()))
