"""What happens to a conversation happens to what recall has of it, at once; and nobody else notices any of it."""

import json

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chat.memory.ledger import ERASED, from_row
from chat.memory.recall.entries import reindex
from chat.memory.recall.keep import catch_up
from chat.memory.recall.log import export, load
from chat.models import (
    Agent,
    ApiToken,
    Owner,
    RecallEntry,
    RedlineRecord,
    Run,
    RunLedger,
    SearchBlock,
    SearchIndex,
    SearchTerm,
    Tenant,
    Thread,
)
from chat.runs.delete import erase_any
from chat.runs.start import Order, start_run
from tests import builders
from tests.memory.answering import FreeLease

pytestmark = pytest.mark.django_db
ASKED, MARK = "卷积运算的练习题放在哪里", "青竹七号"


class Desk:
    """A teacher with one conversation that recall knows, and some others about other things."""

    def __init__(self) -> None:
        self.user = builders.teacher()
        self.school = builders.school_of(self.user)
        self.agent = builders.agent(self.school)
        self.owner = Owner(self.school.pk, self.user.pk)
        self.thread = builders.thread(self.user, self.agent, title="卷积运算练习题")
        self.run = builders.run(self.thread, "出一份卷积运算的练习题", f"第一题。暗号{MARK}。")
        catch_up(self.thread, FreeLease())
        for said in ("写一份运动会广播稿", "Explain the water cycle", "家长会发言稿"):
            other = builders.thread(self.user, self.agent, title=said)
            builders.run(other, said)
            catch_up(other, FreeLease())

    def ask(self, text: str = ASKED, user: User | None = None, agent: Agent | None = None, **fields: object) -> str:
        """What recall tells the model in a new conversation; "" for nothing."""
        order = Order(user_id=(user or self.user).pk, agent_id=(agent or self.agent).pk, input=text, **fields)
        ledger = from_row(RunLedger.objects.get(pk=start_run(order).run_id))
        return next((one.text for one in ledger.segments if one.name == "recall"), "")

    def settle(self) -> None:
        catch_up(Thread.objects.get(pk=self.thread.pk), FreeLease())

    def end(self, run_id: str, status: str, output: str = "") -> None:
        Run.objects.filter(pk=run_id).update(
            status=status, output=output, finished_at=timezone.now(), error_code="stream_broken" if status == "failed" else ""
        )

    def again(self, text: str) -> str:
        """Edits the first message: a run in the place of the one that recall knows."""
        order = Order(user_id=self.user.pk, agent_id=self.agent.pk, input=text, thread_id=self.thread.pk, replaces=self.run.pk)
        return start_run(order).run_id

    def is_whole(self) -> bool:
        """Whether the index says what the entries say."""
        return reindex(self.owner)


@pytest.fixture
def desk() -> Desk:
    made = Desk()
    assert MARK in made.ask()
    return made


@pytest.fixture
def page(desk) -> Client:
    browser = Client()
    browser.force_login(desk.user)
    return browser


# --- Renames. ---


def test_a_new_title_is_found_and_shown_and_the_old_one_is_not(desk, page):
    page.post(f"/chat/t/{desk.thread.pk}/rename/", {"title": "蝴蝶标本的制作"})
    told = desk.ask("蝴蝶标本的制作步骤")
    assert "《蝴蝶标本的制作》" in told and "卷积运算练习题》" not in told
    assert desk.is_whole()


def test_a_title_that_tells_of_people_gets_its_placeholder_here_too(desk, page):
    page.post(f"/chat/t/{desk.thread.pk}/rename/", {"title": "卷积运算练习题 家长电话13812345678"})
    assert "13812345678" not in RecallEntry.objects.get(run=desk.run).title
    assert "13812345678" not in desk.ask()
    assert not SearchTerm.objects.filter(term__contains="1381234").exists()


@pytest.mark.parametrize("title", ["", "   ", "\u3000"])
def test_an_empty_title_changes_nothing(desk, page, title):
    page.post(f"/chat/t/{desk.thread.pk}/rename/", {"title": title})
    assert "《卷积运算练习题》" in desk.ask()


def test_a_thread_without_a_title_is_recalled(desk):
    Thread.objects.filter(pk=desk.thread.pk).update(title="")
    RecallEntry.objects.all().delete()
    SearchIndex.objects.all().delete()
    desk.thread.layer_states.all().delete()
    desk.settle()
    assert "《》" in desk.ask()


# --- The archive. ---


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("way", ["page", "api"])
def test_the_archive_hides_and_taking_out_shows_again(desk, page, way):
    headers = {"authorization": f"Bearer {ApiToken.objects.issue(desk.user, 'test')[1]}"}

    def move(verb: str) -> None:
        if way == "page":
            page.post(f"/chat/t/{desk.thread.pk}/{verb}/")
        else:
            answered = Client().post(f"/threads/{desk.thread.pk}/{verb}", content_type="application/json", headers=headers)
            assert answered.status_code == 200, answered.content

    move("archive")
    assert desk.ask() == ""
    move("unarchive")
    assert MARK in desk.ask()


# --- Another version of a round. ---


def test_what_was_replaced_is_not_told_from_the_moment_the_new_run_starts(desk):
    desk.again("改成讲荷塘月色")
    assert desk.ask() == ""


@pytest.mark.parametrize("status", ["failed", "cancelled"])
def test_a_replacement_that_came_to_nothing_leaves_nothing(desk, status):
    desk.end(desk.again("改成讲荷塘月色"), status, "写到一半")
    desk.settle()
    assert not RecallEntry.objects.filter(thread=desk.thread).exists()
    assert desk.ask() == desk.ask("荷塘月色怎么讲") == ""
    assert desk.is_whole()


def test_a_replacement_takes_the_place(desk):
    desk.end(desk.again("改成讲荷塘月色"), "completed", "朱自清的散文，暗号赤松五号。")
    desk.settle()
    assert "赤松五号" in desk.ask("荷塘月色怎么讲") and MARK not in desk.ask()
    assert SearchIndex.objects.get().records == RecallEntry.objects.count() == 4
    assert desk.is_whole()


def test_what_was_replaced_is_not_exported_either(desk):
    desk.again("改成讲荷塘月色")
    lines = list(export(desk.owner))
    assert len(lines) == 3 and MARK not in "".join(lines)


# --- Deleting. ---


def recalling_ledgers() -> list[dict]:
    rows = RunLedger.objects.all()
    return [segment for row in rows for segment in row.segments if segment["name"] == "recall"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("way", ["page", "api", "administrator"])
def test_a_deleted_conversation_is_gone_from_entries_index_and_the_ledgers_of_others(desk, page, way):
    if way == "page":
        page.post(f"/chat/t/{desk.thread.pk}/delete/")
    elif way == "api":
        headers = {"authorization": f"Bearer {ApiToken.objects.issue(desk.user, 'test')[1]}"}
        Client().delete(f"/threads/{desk.thread.pk}", headers=headers)
    else:
        erase_any(desk.thread)
    assert not Thread.objects.filter(pk=desk.thread.pk).exists()
    [told] = recalling_ledgers()
    assert (told["text"], told["notes"], told["source_ids"]) == (ERASED, [], [desk.run.pk])
    assert desk.ask() == ""
    assert not RecallEntry.objects.filter(source=desk.run.pk).exists()
    assert not SearchTerm.objects.filter(term="卷积").exists()
    assert SearchIndex.objects.get().records == 3
    assert desk.is_whole()


def test_the_ledger_page_says_that_it_was_deleted(desk, page):
    run_id = RunLedger.objects.exclude(run=desk.run).get().pk
    erase_any(desk.thread)
    html = page.get(f"/runs/{run_id}/ledger/").content.decode()
    assert ERASED in html and MARK not in html


def test_a_deleted_person_and_a_deleted_school_leave_nothing(desk):
    colleague = builders.teacher(desk.school)
    builders.recalled(builders.run(builders.thread(colleague, desk.agent), "出一份排列组合的练习"))
    Run.objects.filter(user=desk.user).delete()
    desk.user.delete()
    assert set(RecallEntry.objects.values_list("user", flat=True)) == {colleague.pk}
    assert SearchIndex.objects.get().user_id == colleague.pk
    assert {SearchTerm.objects.values_list("index__user").distinct().get(), SearchBlock.objects.values_list("index__user").get()} == {
        (colleague.pk,)
    }


def test_an_assistant_that_is_gone_leaves_its_imported_entries_without_a_name(desk):
    other = builders.agent(desk.school, name="旧助手")
    line = {"id": "run_old", "at": "2024-05-06T10:00:00+08:00", "agent": "旧助手", "title": "等差数列", "input": "出一份等差数列的练习题"}
    load(desk.owner, [json.dumps(line)])
    assert "《等差数列》 旧助手\n" in desk.ask("等差数列的练习题")
    other.delete()
    assert "《等差数列》\n" in desk.ask("等差数列的练习题")


# --- Off and incognito. ---


def switch(desk: Desk, who: str, *, is_on: bool) -> None:
    if who == "school":
        Tenant.objects.filter(pk=desk.school.pk).update(has_memory=is_on)
    else:
        page = Client()
        page.force_login(desk.user)
        page.post("/settings/memory/", {"memory": "on" if is_on else "off"})


@pytest.mark.parametrize("who", ["teacher", "school"])
def test_off_tells_nothing_and_keeps_nothing_and_on_tells_what_there_was(desk, who):
    switch(desk, who, is_on=False)
    assert desk.ask() == ""
    order = Order(user_id=desk.user.pk, agent_id=desk.agent.pk, input="关着时说的卷积运算练习题")
    started = start_run(order)
    desk.end(started.run_id, "completed", "暗号蓝鲸九号")
    before = RecallEntry.objects.count()
    catch_up(Thread.objects.get(pk=started.thread_id), FreeLease())
    switch(desk, who, is_on=True)
    catch_up(Thread.objects.get(pk=started.thread_id), FreeLease())
    assert RecallEntry.objects.count() == before
    told = desk.ask()
    assert MARK in told and "蓝鲸" not in told


def test_deleting_works_while_memory_is_off(desk):
    switch(desk, "teacher", is_on=False)
    erase_any(desk.thread)
    assert not RecallEntry.objects.filter(source=desk.run.pk).exists()


def test_incognito_is_told_nothing_and_gives_nothing(desk):
    assert desk.ask(is_incognito=True) == ""
    thread = Thread.objects.get(is_incognito=True)
    desk.end(thread.runs.get().pk, "completed", "学生电话13812345678")
    before = RecallEntry.objects.count()
    catch_up(thread, FreeLease())
    assert (RecallEntry.objects.count(), RedlineRecord.objects.filter(layer="recall").count()) == (before, 0)


# --- Walls. ---


@pytest.mark.parametrize("is_colleague", [True, False])
def test_others_notice_nothing_of_it(is_colleague):
    """Same answer, same prompt, same queries, whether or not somebody else has talked about the same."""

    def asked(desk: Desk | None) -> tuple[object, ...]:
        school = desk.school if desk and is_colleague else builders.tenant()
        user = builders.teacher(school)
        agent = desk.agent if desk and is_colleague else builders.agent(school)
        with CaptureQueriesContext(connection) as queries:
            started = start_run(Order(user_id=user.pk, agent_id=agent.pk, input=ASKED))
        messages = started.prepared.request.messages
        return len(queries), str(messages), [segment["name"] for segment in RunLedger.objects.get(pk=started.run_id).segments]

    alone = asked(None)
    assert asked(Desk()) == alone
    assert alone[0] < 40


def test_a_teacher_of_two_schools_has_two_memories(desk):
    elsewhere = builders.tenant()
    elsewhere.memberships.create(user=desk.user)
    agent = builders.agent(elsewhere)
    assert desk.ask(agent=agent) == ""
    thread = builders.thread(desk.user, agent, title="卷积")
    builders.run(thread, "卷积运算的练习题放在柜子里", "暗号黑檀三号")
    catch_up(thread, FreeLease())
    assert "黑檀三号" in desk.ask(agent=agent) and "黑檀" not in desk.ask()
