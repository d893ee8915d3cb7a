"""Two messages over both paths against a real model server on loopback, and its troubles as the caller sees them."""

import json
from typing import Any

import httpx
import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.test import AsyncClient

from chat.models import Agent, ApiToken, RunLedger
from tests import builders
from tests.api.test_stream import parsed, text_of
from tests.exam import paper

pytestmark = [pytest.mark.mock, pytest.mark.django_db(transaction=True)]

SECRET = "sk-very-secret-key"
CLOSING = "[本会话前情结束 — 以下是用户本轮的真实请求]"
SHORT_ANSWERS = "简述青铜栈与白银队列的三点区别"  # stands in the middle of the paper


@pytest.fixture
def teacher() -> User:
    return builders.teacher()


@pytest.fixture
def agent(teacher: User, mock_model: Any, monkeypatch: pytest.MonkeyPatch) -> Agent:
    monkeypatch.setenv("TEST_MODEL_KEY", SECRET)
    school = builders.school_of(teacher)
    service = builders.provider(school, kind="openai", base_url=mock_model.url + "/v1", key_env="TEST_MODEL_KEY", read_timeout_seconds=1)
    return builders.agent(school, provider=service, model="mock", has_tools=False)


class Caller:
    """Asks over one of the two paths."""

    def __init__(self, path: str, agent: Agent, teacher: User) -> None:
        self.path, self.agent = path, agent
        _, token = ApiToken.objects.issue(teacher, "test")
        self.headers = {"Authorization": f"Bearer {token}", "Accept-Language": "en"}

    async def _ask(self, body: dict[str, Any]) -> dict[str, Any]:
        url = f"/agents/{self.agent.pk}/{self.path}"
        response = await AsyncClient().post(url, json.dumps(body), content_type="application/json", headers=self.headers)
        assert response.status_code == 200, response.content
        if not response.streaming:
            return response.json()
        events = [parsed(frame) async for frame in response]
        assert text_of(events) == events[-1][1]["output"]
        return events[-1][1] | {"ledger": events[1][1]["ledger"]}

    def ask(self, text: str, **fields: Any) -> dict[str, Any]:
        return async_to_sync(self._ask)({"input": text} | fields)


@pytest.fixture(params=["run", "run/stream"])
def caller(request: pytest.FixtureRequest, agent: Agent, teacher: User) -> Caller:
    return Caller(request.param, agent, teacher)


def test_second_message_knows_the_paper_of_the_first(caller: Caller, mock_model: Any) -> None:
    rules = [{"match": "简答题换两道$", "reply": "换好了"}, {"match": "出一份", "reply": paper()}]
    httpx.post(f"{mock_model.url}/_mock/script", json=rules)
    first = caller.ask("出一份数据结构试卷")
    second = caller.ask("简答题换两道", thread_id=first["thread_id"])
    prompt = mock_model.chats[-1]["messages"][-1]["content"]
    before, after = prompt.split(CLOSING)
    assert first["output"] == paper() and second["output"] == "换好了"
    assert "出一份数据结构试卷" in before and SHORT_ANSWERS in before
    assert after.strip() == "简答题换两道"


def test_recorded_request_equals_the_stored_ledger(caller: Caller, mock_model: Any) -> None:
    first = caller.ask("出一份数据结构试卷")
    second = caller.ask("简答题换两道", thread_id=first["thread_id"])
    stored = RunLedger.objects.get(pk=second["run_id"]).segments
    assert second["ledger"]["segments"] == stored
    sent = mock_model.chats[-1]["messages"]
    assert [one["role"] for one in sent] == ["system", "user"]
    for message in sent:
        assert message["content"] == "\n".join(one["text"] for one in stored if one["role"] == message["role"] and one["text"])


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("401", "provider_auth"),
        ("404", "model_not_found"),
        ("429", "provider_rate_limited"),
        ("500", "provider_overloaded"),
        ("drop,at=5", "stream_broken"),
        ("hang,at=5", "provider_timeout"),
    ],
)
def test_trouble_of_the_service_is_told_in_words_and_nothing_leaks(
    caller: Caller, agent: Agent, caplog: pytest.LogCaptureFixture, fault: str, code: str
) -> None:
    Agent.objects.update(model=f"mock/fault={fault},tokens=20,delay=0,retry_after=0")
    answer = caller.ask("一个很私密的问题")
    assert (answer["status"], answer["error"]["code"]) == ("failed", code)
    assert bool(answer["output"]) == ("at=" in fault)
    assert len(answer["error"]["message"]) > 20
    for secret in (SECRET, "很私密", "127.0.0.1"):
        assert secret not in answer["error"]["message"]
    assert SECRET not in caplog.text and "很私密" not in caplog.text


def test_service_that_is_down_is_told_in_words(caller: Caller, agent: Agent) -> None:
    type(agent.provider).objects.update(base_url="http://127.0.0.1:9/v1")
    assert caller.ask("出题")["error"]["code"] == "provider_unreachable"
