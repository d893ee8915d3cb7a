"""Off means off: what is in the prompts and what works in the background while memory is switched off (PR-04)."""

from contextlib import contextmanager

import pytest
from django.contrib.auth.models import User

from chat.memory import catch_up, read
from chat.memory.base import Segment, Turn
from chat.memory.layers.thread import ThreadLayer
from chat.memory.switches import is_memory_on, off_by, switch_memory
from chat.models import Owner, Preference, Run, Tenant
from chat.runs.start import Order, start_run
from tests import builders
from tests.memory.answering import FreeLease

pytestmark = pytest.mark.django_db


class Remembering:
    """A layer that has something to say to everything, and notes for which threads it works."""

    name, segment, priority = "core", "core", 1

    def __init__(self) -> None:
        self.caught_up: list[str] = []

    def read(self, turn: Turn, budget_tokens: int) -> Segment:
        return Segment("core", "user", "[核心记忆 — 资料]\n青竹七号\n[核心记忆结束]", 20, 100, self.priority, source_ids=["fact_a"])

    def catch_up(self, thread, lease) -> None:
        self.caught_up.append(thread.pk)


@pytest.fixture
def layer(monkeypatch) -> Remembering:
    layer = Remembering()
    for module in (read, catch_up):
        monkeypatch.setattr(module, "layers", lambda: (layer, ThreadLayer()))
    return layer


@pytest.fixture
def teacher() -> User:
    return builders.teacher()


@pytest.fixture
def agent(teacher):
    return builders.agent(builders.school_of(teacher))


def prompt(order: Order) -> str:
    """What the model is told, as the request holds it."""
    prepared = start_run(order).prepared
    return "\n".join(message["content"] for message in prepared.request.messages)


def order(teacher, agent, text="出一份试卷", **fields) -> Order:
    return Order(user_id=teacher.pk, agent_id=agent.pk, input=text, **fields)


def owner_of(teacher) -> Owner:
    return Owner(builders.school_of(teacher).pk, teacher.pk)


@contextmanager
def off(who: str, teacher):
    """Memory switched off by the teacher or by the school, and on again afterwards."""
    schools = Tenant.objects.filter(memberships__user=teacher)
    switch_memory(teacher.pk, is_on=False) if who == "teacher" else schools.update(has_memory=False)
    yield
    switch_memory(teacher.pk, is_on=True) if who == "teacher" else schools.update(has_memory=True)


WHO = pytest.mark.parametrize("who", ["teacher", "school"])


@WHO
def test_from_the_next_message_on_only_the_conversation_itself_is_told(layer, teacher, agent, who):
    thread = builders.thread(teacher, agent)
    builders.run(thread, "第一问", "第一答")
    assert "青竹七号" in prompt(order(teacher, agent, thread_id=thread.pk))
    with off(who, teacher):
        text = prompt(order(teacher, agent, "接着问", thread_id=thread.pk))
        assert "青竹七号" not in text
        assert "第一答" in text
        assert "青竹七号" not in prompt(order(teacher, agent))
    assert "青竹七号" in prompt(order(teacher, agent))


@WHO
def test_nothing_works_in_the_background_but_the_conversation_itself(layer, teacher, agent, who):
    thread = builders.thread(teacher, agent)
    builders.run(thread)
    with off(who, teacher):
        catch_up.settle(thread.pk, FreeLease())
    assert layer.caught_up == []
    catch_up.settle(thread.pk, FreeLease())
    assert layer.caught_up == [thread.pk]


def test_what_was_said_while_it_was_off_is_marked_for_good(layer, teacher, agent):
    start_run(order(teacher, agent, "开着"))
    with off("teacher", teacher):
        start_run(order(teacher, agent, "关着"))
    assert dict(Run.objects.values_list("input", "has_memory")) == {"开着": True, "关着": False}


def test_a_teacher_with_a_switch_of_their_own_holds_nobody_elses(teacher):
    colleague = builders.teacher(builders.school_of(teacher))
    switch_memory(teacher.pk, is_on=False)
    assert off_by(owner_of(teacher)) == "teacher"
    assert is_memory_on(owner_of(colleague))


def test_the_school_comes_before_the_teacher(teacher):
    switch_memory(teacher.pk, is_on=False)
    Tenant.objects.update(has_memory=False)
    assert off_by(owner_of(teacher), is_incognito=True) == "school"


def test_a_school_that_is_gone_has_no_memory(teacher):
    assert not is_memory_on(Owner("tn_none", teacher.pk))


def test_an_incognito_thread_is_off_by_itself(teacher, agent):
    thread = builders.thread(teacher, agent, is_incognito=True)
    assert not is_memory_on(owner_of(teacher), thread)
    assert off_by(owner_of(teacher), is_incognito=True) == "thread"


def test_switching_leaves_the_other_preferences(teacher):
    Preference.objects.create(user=teacher, language="en", theme="dark")
    switch_memory(teacher.pk, is_on=False)
    kept = Preference.objects.get(user=teacher)
    assert (kept.language, kept.theme, kept.has_memory) == ("en", "dark", False)
    assert kept.news_at is not None
