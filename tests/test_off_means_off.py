"""Off means off, and the owner can still look and delete (PR-04), from outside: two tabs, the API, the worker, the panel."""

import json
from typing import Any

from asgiref.sync import sync_to_async
from django.contrib.auth.models import Group, User
from django.test import AsyncClient

from chat.jobs.worker import Worker
from chat.memory.notes import store
from chat.memory.notes.base import Author, Place, Write
from chat.memory.notes.tools import TOOLS
from chat.models import (
    Agent,
    Candidate,
    Fact,
    MemoryOp,
    NoteOp,
    NoteSnapshot,
    NoteTarget,
    Notice,
    Owner,
    RecallEntry,
    Run,
    RunLedger,
    Thread,
)
from chat.models.ids import new_id
from chat.providers.base import Delta, ToolCall
from chat.roles import SCHOOL_ADMINISTRATORS, keep_school_administrators
from chat.runs import beat, launch, live
from tests import builders
from tests.admin.test_pages import page as admin_page
from tests.fakes import ScriptedProvider, scripted
from tests.memory.core.talking import Learner, answer
from tests.test_consumers import SocketCase

CONFIRMED = ("老师教高二，暗号青竹七号", "老师喜欢表格，暗号赤松五号", "老师用人教版，暗号黑檀三号")
WORDS = ("青竹七号", "赤松五号", "黑檀三号")
RECALLED = "别的会话，白鹭四号"
NOTED = "老师的备忘，暗号紫藤六号"
WAITING = ("老师常用投影，暗号蓝鲸九号", "老师不爱长句，暗号灰雀二号")


class OffMeansOff(SocketCase):
    """With the built-in backend; tests/cases/test_backends_off.py has the others."""

    def setUp(self) -> None:
        super().setUp()
        keep_school_administrators(using="default")
        self.facts = [builders.fact(self.user, text) for text in CONFIRMED]
        for text in WAITING:
            builders.candidate(self.user, text)
        builders.run(self.thread, "第一问", "第一答，白桦十一号")
        for number in range(3):
            self.remember(builders.run(builders.thread(self.user, self.agent), f"{RECALLED}，第{number}份"))
        self.school = builders.school_of(self.user)
        self.profile = Place(Owner(self.school.pk, self.user.pk, self.agent.pk), NoteTarget.USER)
        assert store.write(self.profile, Write("add", NOTED), Author(NoteOp.Origin.PANEL)).is_done
        self.model = Learner(answer("老师以后用新教材"))
        self.browser = AsyncClient()

    def remember(self, run: Run) -> None:
        """Lets the backend know what was said in a run."""
        builders.recalled(run)

    def administrator(self) -> User:
        user = builders.teacher(self.school, role="admin")
        User.objects.filter(pk=user.pk).update(is_staff=True)
        user.groups.add(Group.objects.get(name=SCHOOL_ADMINISTRATORS))
        return User.objects.get(pk=user.pk)

    async def switch_school(self, *, is_on: bool) -> None:
        site = AsyncClient()
        await site.aforce_login(await sync_to_async(self.administrator)())
        fields = {"name": self.school.name} | ({"has_memory": "on"} if is_on else {})
        response = await site.post(admin_page(self.school), fields)
        assert response.status_code == 302, response.content

    async def switch(self, value: str) -> None:
        """In tab 1, on the settings page."""
        assert (await self.browser.post("/settings/memory/", {"memory": value})).status_code == 302

    async def prompt(self, text: str) -> str:
        """The prompt of the answer to this question, among all requests; notes have their tools where they are told."""
        for request in self.model.requests:
            if request.purpose == "answer" and request.messages[-1]["content"].endswith(text):
                names = {tool.name for tool in request.tools}
                has_notes = "紫藤六号" in request.messages[0]["content"]
                assert names - {"thread_read"} == ({tool.spec.name for tool in TOOLS} if has_notes else set())
                return "\n".join(message["content"] for message in request.messages)
        raise AssertionError(f"nothing was asked for {text}")

    async def send_in_tab(self, tab: Any, text: str) -> str:  # noqa: ANN401  tests.test_consumers.Page
        await tab.say(action="send", key=new_id("key"), input=text, mode="", replaces="")
        run_id = (await tab.hear("sent"))["run"]
        await launch.wait(run_id)
        return await self.prompt(text)

    async def send_in_new_thread(self, text: str) -> str:
        await self.browser.post(f"/chat/{self.agent.pk}/send", {"input": text, "key": new_id("key")})
        for going in live.own_runs():
            await launch.wait(going.run_id)
        return await self.prompt(text)

    async def work(self) -> None:
        """Lets the worker do all that is due."""
        await sync_to_async(Worker("w").drain)()

    async def look_export_delete(self, fact: Fact) -> None:
        html = (await self.browser.get("/memory/")).content.decode()
        assert all(text in html for text in (*WAITING, fact.text))
        exported = (await self.browser.get("/memory/export.json")).content.decode()
        assert fact.text in json.dumps(json.loads(exported), ensure_ascii=False)
        await self.browser.post(f"/memory/facts/{fact.pk}/", {"verb": "delete"})
        assert (await Fact.objects.aget(pk=fact.pk)).status == "deleted"

    async def check_off(self, tab: Any, fact: Fact, said: str) -> None:  # noqa: ANN401
        """A message in the open thread and one in a new one; then what is left to do, and what the owner can do."""
        number = await Run.objects.acount()
        entries = await RecallEntry.objects.acount()
        frozen = await NoteSnapshot.objects.acount()
        sent = (f"甲{number}", f"乙{number}", f"{RECALLED}{number}")
        for text in (await self.send_in_tab(tab, sent[0]), *[await self.send_in_new_thread(one) for one in sent[1:]]):
            text = text.removesuffix(sent[2])
            assert not [word for word in (*WORDS, "白鹭", "蓝鲸", "灰雀", "紫藤") if word in text]
        assert "白桦十一号" in await self.prompt(f"甲{number}")  # the running conversation itself
        await self.work()
        assert self.model.asked == []
        assert not await MemoryOp.objects.filter(kind="extraction").aexists()
        assert await RecallEntry.objects.acount() == entries
        assert await NoteSnapshot.objects.acount() == frozen
        assert (await sync_to_async(store.look)(self.profile)).entries == (NOTED,)
        assert await Candidate.objects.filter(status="pending").acount() == len(WAITING)
        for ledger in [row async for row in RunLedger.objects.all()]:
            assert {segment["name"] for segment in ledger.segments} <= {"system", "thread", "question"}
        thread = await Thread.objects.order_by("-created_at").afirst()
        for address in (f"/chat/t/{thread.pk}/", "/settings/", "/memory/"):
            html = (await self.browser.get(address, headers={"accept-language": "en"})).content.decode()
            assert said in html, address
        await self.look_export_delete(fact)

    async def test_off_by_the_teacher_then_by_the_school(self) -> None:
        await self.browser.aforce_login(self.user)
        with scripted(self.model):
            async with self.page() as tab:
                await tab.join()
                await self.switch("off")
                await self.check_off(tab, self.facts[0], "You have switched memory off")
                await self.switch("on")
                told = await self.send_in_tab(tab, "开了以后")
                assert [word for word in WORDS if word in told] == list(WORDS[1:])
                assert "紫藤六号" in told
                assert RECALLED in (await self.send_in_new_thread(f"{RECALLED}，再看看")).removesuffix(f"{RECALLED}，再看看")
                await RunLedger.objects.all().adelete()
                await self.switch_school(is_on=False)
                await self.check_off(tab, self.facts[1], "has switched memory off")
                await self.switch_school(is_on=True)
                assert [word for word in WORDS if word in await self.send_in_tab(tab, "又开了")] == [WORDS[2]]
        await beat.shutdown()

    async def test_no_note_is_written_while_it_is_off(self) -> None:
        """Neither by a model that calls a tool it was not offered, nor by "记住：…" where the model has none."""
        await self.browser.aforce_login(self.user)
        call = ToolCall("c1", "memory_add", json.dumps({"content": "甲", "target": "user"}))
        model = ScriptedProvider([Delta(tool_calls=(call,), finish="tool_calls")], ["好的。"])
        await self.switch("off")
        with scripted(model):
            for has_tools in (True, False):
                await Agent.objects.filter(pk=self.agent.pk).aupdate(has_tools=has_tools)
                await self.browser.post(f"/chat/{self.agent.pk}/send", {"input": "记住：甲", "key": new_id("key")})
                for going in live.own_runs():
                    await launch.wait(going.run_id)
        assert await Run.objects.filter(input="记住：甲", status="completed").acount() == 2
        assert await NoteOp.objects.filter(user=self.user).acount() == 1 and not await Notice.objects.aexists()
        assert (await sync_to_async(store.look)(self.profile)).entries == (NOTED,)

    async def test_what_was_said_while_it_was_off_is_not_learnt_later_either(self) -> None:
        await self.browser.aforce_login(self.user)
        with scripted(self.model):
            await self.switch("off")
            await self.send_in_new_thread("关着时说的")
            await self.switch("on")
            await self.work()
            assert self.model.asked == []
            await self.send_in_new_thread("以后用新教材")
            await self.work()
        assert len(self.model.asked) == 1 and "关着" not in str(self.model.asked[0].messages)
        assert await Candidate.objects.filter(text="老师以后用新教材").acount() == 1
