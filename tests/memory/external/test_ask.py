"""What is asked of a memory backend, of whom, when not, and that nothing it does stops or delays an answer."""

import asyncio
import logging
from collections.abc import Iterator
from unittest.mock import patch

import pytest
from django.utils import timezone

from chat.memory.backends.base import BackendError, MemoryContext, MemoryItem, MemoryScope
from chat.memory.base import Remembered, Turn
from chat.memory.external import ask
from chat.memory.external.ask import FORGETTING, PAUSED, Plan, fetch, plan, still
from chat.memory.external.figures import Figures
from chat.memory.external.forgetting import ask_scope, scope_of
from chat.memory.external.permission import NOT_AGREED, answer
from chat.memory.meaning import breaker
from chat.memory.meaning.breaker import FAILURES_MOST
from chat.models import Agent, Owner, RemoteScope
from tests import builders
from tests.memory.external.remembering import SECRET, Remembering
from tests.scripted_backend import NAME, item, scripted_backend


@pytest.fixture
def backend() -> Iterator[Remembering]:
    breaker.forget_all()
    with scripted_backend(Remembering()) as made:
        made.items = [item("喜欢简答题")]
        yield made
    breaker.forget_all()


def planned(seconds: float = 30.0) -> Plan:
    return Plan(NAME, MemoryScope("tn_1", "1", "ag_1"), "出一份试卷", seconds, timezone.now())


def fetched(what: Plan | None = None) -> Remembered:
    return asyncio.run(fetch(what or planned()))


# Fetching


def test_what_is_remembered_comes_back(backend: Remembering) -> None:
    what = planned()
    found = fetched(what)
    assert [one.content for one in found.items] == ["喜欢简答题"]
    assert (found.code, found.asked_at) == ("", what.at)
    scope, query, budget = backend.asked[0]
    assert (scope, query, budget.seconds) == (what.scope, what.query, 30.0)
    assert 1_000 < budget.chars < 2_000


def test_a_backend_that_does_not_answer_costs_its_limit_and_no_more(backend: Remembering) -> None:
    backend.gate = asyncio.Event()  # never set: whoever waits for it waits for ever
    assert fetched(planned(0.01)).code == "memory_timeout"
    assert backend.ended.is_set()


def test_a_call_that_will_not_be_cancelled_is_left_behind(backend: Remembering, caplog: pytest.LogCaptureFixture) -> None:
    async def run() -> Remembered:
        backend.gate, backend.is_deaf = asyncio.Event(), True
        found = await fetch(planned(0.01))
        assert not backend.ended.is_set()
        assert ask._late
        backend.gate.set()
        await backend.ended.wait()
        await asyncio.sleep(0)
        assert not ask._late
        return found

    assert asyncio.run(run()).code == "memory_timeout"
    assert SECRET not in caplog.text


@pytest.mark.parametrize(
    ("trouble", "code"),
    [
        (BackendError(SECRET), "memory_error"),
        (type("Refused", (BackendError,), {"code": "memory_key_refused"})(SECRET), "memory_key_refused"),
        (type("Long", (BackendError,), {"code": "x" * 300})(SECRET), "x" * 40),
        (ValueError(SECRET), "memory_error"),
        (TimeoutError(SECRET), "memory_timeout"),
        (asyncio.CancelledError(SECRET), "memory_error"),
    ],
)
def test_whatever_goes_wrong_is_a_code(backend: Remembering, caplog: pytest.LogCaptureFixture, trouble: BaseException, code: str) -> None:
    backend.failure = trouble
    caplog.set_level(logging.WARNING)
    found = fetched()
    assert (found.code, found.items) == (code, ())
    assert f"openviking.degraded reason={code}" in caplog.text
    assert SECRET not in caplog.text


def test_each_trouble_is_counted_once_by_whoever_knows_it(backend: Remembering) -> None:
    with patch.object(ask, "METER", Figures()) as meter:
        backend.failure = BackendError()
        fetched()
        backend.failure = ValueError()
        fetched()
        assert meter._sums == {("openviking_degraded_total", "reason=memory_error"): 1}


@pytest.mark.parametrize("nonsense", ["text", MemoryContext(("text",)), MemoryContext(None), MemoryContext((item("a"), None))])
def test_what_is_no_context_is_a_code_too(backend: Remembering, nonsense: object) -> None:
    backend.gives = nonsense
    assert fetched().code == "memory_error"


def test_text_that_no_row_takes_is_made_storable(backend: Remembering) -> None:
    backend.items = [MemoryItem("viking://\ud800/\0", "喜欢\0简答\udfff题", "pre\0f", 0.5, "s\0")]
    found = fetched().items[0]
    told = found.id + found.content + found.category + found.source
    assert "\0" not in told
    assert told.encode()
    assert "喜欢简答" in found.content


def test_after_some_failures_it_is_left_alone_until_it_answers(backend: Remembering) -> None:
    backend.failure = BackendError()
    for _ in range(FAILURES_MOST):
        assert not planned().breaker.is_open
        fetched()
    assert planned().breaker.is_open
    backend.failure = None
    fetched()
    assert not planned().breaker.is_open


def test_what_is_refused_for_good_does_not_pause_it_for_others(backend: Remembering) -> None:
    backend.failure = type("Refused", (BackendError,), {"code": "memory_rejected", "is_retryable": False})()
    assert {fetched().code for _ in range(FAILURES_MOST + 1)} == {"memory_rejected"}
    assert not planned().breaker.is_open


# Planning


@pytest.fixture
def turn(db: None) -> Turn:
    agent: Agent = builders.agent(builders.school_of(builders.teacher()))
    owner = Owner(agent.tenant_id, agent.tenant.memberships.get().user_id, agent.pk)
    return Turn(owner, agent, None, None, [], 0, "出一份试卷", backend=NAME)


def test_the_current_input_is_asked_in_the_owners_scope(backend: Remembering, turn: Turn) -> None:
    answer(turn.owner, NAME, is_agreed=True)
    what = plan(turn)
    assert (what.backend, what.query, what.seconds) == (NAME, "出一份试卷", 30.0)
    assert what.scope == MemoryScope(turn.owner.tenant_id, str(turn.owner.user_id), turn.owner.agent_id)


def test_what_the_red_lines_forbid_does_not_go_out(backend: Remembering, turn: Turn) -> None:
    answer(turn.owner, NAME, is_agreed=True)
    turn = Turn(turn.owner, turn.agent, None, None, [], 0, SECRET + "，" + "长" * 10_000, backend=NAME)
    what = plan(turn)
    assert "13812345678" not in what.query
    assert len(what.query) <= ask.ASKED_CHARS + 20


def test_without_consent_nothing_is_asked(backend: Remembering, turn: Turn) -> None:
    assert plan(turn) == Remembered(code=NOT_AGREED)
    answer(turn.owner, NAME, is_agreed=False)
    assert plan(turn) == Remembered(code=NOT_AGREED)


def test_while_it_is_being_forgotten_nothing_is_asked(backend: Remembering, turn: Turn) -> None:
    answer(turn.owner, NAME, is_agreed=True)
    ask_scope(scope_of(turn.owner), NAME)
    assert plan(turn) == Remembered(code=FORGETTING)


def test_a_backend_that_is_left_alone_is_not_asked(backend: Remembering, turn: Turn, caplog: pytest.LogCaptureFixture) -> None:
    answer(turn.owner, NAME, is_agreed=True)
    for _ in range(FAILURES_MOST):
        planned().breaker.note_failure()
    assert plan(turn) == Remembered(code=PAUSED)
    assert "openviking.degraded reason=memory_paused" in caplog.text


def test_a_backend_that_remembers_nothing_is_not_asked(turn: Turn) -> None:
    assert plan(Turn(turn.owner, turn.agent, None, None, [], 0, "问", backend="noop")) is None
    assert plan(Turn(turn.owner, turn.agent, None, None, [], 0, "问")) is None


# What holds still when the run is stored


def test_what_was_fetched_is_told_while_everything_is_as_it_was(backend: Remembering, turn: Turn) -> None:
    answer(turn.owner, NAME, is_agreed=True)
    found = Remembered((item("喜欢简答题"),), asked_at=timezone.now())
    assert still(turn, found) == found


def test_what_was_withdrawn_meanwhile_is_not_told(backend: Remembering, turn: Turn) -> None:
    answer(turn.owner, NAME, is_agreed=False)
    assert still(turn, Remembered((item("喜欢简答题"),), asked_at=timezone.now())) == Remembered(code=NOT_AGREED)


def test_what_was_forgotten_meanwhile_is_not_told(backend: Remembering, turn: Turn) -> None:
    answer(turn.owner, NAME, is_agreed=True)
    found = Remembered((item("喜欢简答题"),), asked_at=timezone.now())
    ask_scope(scope_of(turn.owner), NAME)
    assert still(turn, found) == Remembered(code=FORGETTING)
    RemoteScope.objects.update(forget_asked_at=None, forgotten_at=timezone.now())
    assert still(turn, found) == Remembered(code=FORGETTING)
    later = Remembered((item("喜欢选择题"),), asked_at=timezone.now())
    assert still(turn, later) == later
