"""What one service has heard goes to another one only when the teacher has agreed; the ledger says what was held back."""

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chat.memory.consent import answer
from chat.memory.ledger import from_row
from chat.memory.recall.keep import catch_up
from chat.memory.recall.log import export, load
from chat.memory.recall.vendors import waits_for_consent
from chat.memory.switches import switch_memory
from chat.models import Agent, Consent, Owner, Provider, RecallEntry, Run, RunLedger, Tenant, Thread
from chat.runs.start import Order, start_run
from tests import builders
from tests.memory.answering import FreeLease

pytestmark = pytest.mark.django_db
SAID, ASKED, MARK = "出一份卷积运算的练习题", "卷积运算的练习题再来一份", "青竹七号"


class Schoolroom:
    """One teacher with an assistant on each of three services: two clouds and a local one."""

    def __init__(self) -> None:
        self.school = builders.tenant()
        self.user = builders.teacher(self.school)
        self.owner = Owner(self.school.pk, self.user.pk)
        self.north, self.south = self.cloud("north"), self.cloud("south")
        self.local = self.assistant("local", kind="demo", is_local=True)

    def cloud(self, name: str) -> Agent:
        return self.assistant(name, kind="openai", base_url=f"https://{name}.example/v1", is_local=False)

    def assistant(self, name: str, **fields: object) -> Agent:
        return builders.agent(self.school, name=name, provider=builders.provider(self.school, name=name, **fields))

    def remember(self, agent: Agent, said: str = SAID, mark: str = MARK) -> Thread:
        """A conversation with the assistant, as it is sent and kept."""
        thread = builders.thread(self.user, agent, title=said)
        builders.run(thread, said, f"第一题。暗号{mark}。", provider=agent.provider)
        catch_up(thread, FreeLease())
        return thread

    def recall(self, agent: Agent):
        """The segment of recall in the ledger of a new question to the assistant; None without one."""
        run_id = start_run(Order(user_id=self.user.pk, agent_id=agent.pk, input=ASKED)).run_id
        return next((one for one in from_row(RunLedger.objects.get(pk=run_id)).segments if one.name == "recall"), None)

    def agree(self, agent: Agent, *, is_agreed: bool = True) -> None:
        answer(self.owner, agent.provider, Consent.Purpose.RECALL, is_agreed=is_agreed)

    def waits(self, agent: Agent) -> bool:
        return waits_for_consent(self.owner, Agent.objects.select_related("provider").get(pk=agent.pk))


@pytest.fixture
def room() -> Schoolroom:
    return Schoolroom()


def is_held_back(segment: object, run: Run) -> bool:
    """Whether the segment tells nothing, and says of the run alone that it needs a consent, without a word of it."""
    said = json.dumps(vars_of(segment), ensure_ascii=False)
    return (
        segment.text == ""
        and (segment.tokens, segment.source_ids, segment.notes) == (0, [], [])
        and [(one["id"], one["reason"]) for one in segment.dropped] == [(run.pk, "consent")]
        and MARK not in said
        and "卷积" not in said
    )


def vars_of(segment: object) -> dict[str, object]:
    return {name: getattr(segment, name) for name in segment.__slots__}


def test_an_entry_keeps_the_service_that_its_run_went_to(room):
    thread = room.remember(room.north)
    Agent.objects.filter(pk=room.north.pk).update(provider=room.south.provider)
    entry = RecallEntry.objects.get(thread=thread)
    assert (entry.provider, entry.host) == (room.north.provider, "north.example")


def test_the_same_service_and_a_local_one_are_told(room):
    room.remember(room.north)
    assert MARK in room.recall(room.north).text
    assert MARK in room.recall(room.local).text


@pytest.mark.parametrize("came_from", ["north", "local"])
def test_another_service_is_not_told_and_the_ledger_says_so(room, came_from):
    thread = room.remember(getattr(room, came_from))
    assert is_held_back(room.recall(room.south), thread.runs.get())


def test_consent_lets_it_pass_and_withdrawing_holds_from_the_next_message(room):
    thread = room.remember(room.north)
    room.agree(room.south)
    assert MARK in room.recall(room.south).text
    room.agree(room.south, is_agreed=False)
    assert is_held_back(room.recall(room.south), thread.runs.get())


def test_consent_is_for_one_service_one_teacher_and_one_purpose(room):
    thread = room.remember(room.local)
    room.agree(room.north)
    answer(room.owner, room.south.provider, Consent.Purpose.EMBED, is_agreed=True)
    answer(Owner(room.school.pk, builders.teacher(room.school).pk), room.south.provider, Consent.Purpose.RECALL, is_agreed=True)
    assert is_held_back(room.recall(room.south), thread.runs.get())


def test_what_went_to_a_service_that_is_gone_is_of_another_vendor(room):
    thread = room.remember(room.north)
    Agent.objects.filter(provider=room.north.provider).update(provider=room.south.provider)
    Provider.objects.get(pk=room.north.provider_id).delete()
    assert is_held_back(room.recall(room.south), thread.runs.get())
    assert MARK in room.recall(room.local).text


def test_a_service_that_has_moved_to_another_host_is_another_vendor(room):
    thread = room.remember(room.south)
    Provider.objects.filter(pk=room.south.provider_id).update(base_url="https://elsewhere.example/v1")
    assert is_held_back(room.recall(room.south), thread.runs.get())


def test_what_was_imported_is_of_another_vendor(room):
    room.remember(room.north)
    lines = list(export(room.owner))
    Thread.objects.all().delete()
    RecallEntry.objects.all().delete()
    assert load(room.owner, lines).added == 1
    assert room.recall(room.north).dropped[0]["reason"] == "consent"
    assert MARK in room.recall(room.local).text


def test_of_two_that_say_the_same_the_one_that_may_go_is_told(room):
    room.remember(room.north)
    own = room.remember(room.south)
    segment = room.recall(room.south)
    assert segment.source_ids == [own.runs.get().pk]
    assert {one["reason"] for one in segment.dropped} <= {"consent"}


def test_what_is_held_back_takes_no_place(room):
    for number in range(25):
        room.remember(room.north, f"{SAID}，第{number}份", f"赤松{number}号")
    own = room.remember(room.south, "卷积运算的另一份练习题，讲图解")
    segment = room.recall(room.south)
    assert segment.source_ids == [own.runs.get().pk]
    assert len(segment.dropped) <= 3


def test_consent_is_looked_up_only_when_it_matters(room):
    room.remember(room.south)
    assert not consent_queries(room, room.south) and not consent_queries(room, room.local)
    room.remember(room.north)
    assert len(consent_queries(room, room.south)) == 1


def consent_queries(room: Schoolroom, agent: Agent) -> list[str]:
    with CaptureQueriesContext(connection) as queries:
        room.recall(agent)
    return [one["sql"] for one in queries if "chat_consent" in one["sql"]]


# --- When the teacher is to be asked. ---


def test_the_teacher_is_asked_once_there_is_something_of_another_service(room):
    assert not room.waits(room.south)
    room.remember(room.south)
    assert not room.waits(room.south)
    room.remember(room.local)
    assert room.waits(room.south) and not room.waits(room.local)


@pytest.mark.parametrize("is_agreed", [True, False])
def test_who_has_answered_is_not_asked_again(room, is_agreed):
    room.remember(room.local)
    room.agree(room.south, is_agreed=is_agreed)
    assert not room.waits(room.south)


def test_a_service_that_has_moved_is_asked_for_again(room):
    room.remember(room.south)
    Provider.objects.filter(pk=room.south.provider_id).update(base_url="https://elsewhere.example/v1")
    assert room.waits(room.south)


def test_nobody_is_asked_while_memory_is_off_or_for_what_others_have_said(room):
    room.remember(room.local)
    switch_memory(room.user.pk, is_on=False)
    assert not room.waits(room.south)
    switch_memory(room.user.pk, is_on=True)
    Tenant.objects.update(has_memory=False)
    assert not room.waits(room.south)
    Tenant.objects.update(has_memory=True)
    colleague = builders.teacher(room.school)
    assert not waits_for_consent(Owner(room.school.pk, colleague.pk), room.south)
