"""The sentences of seed 003, said to the demo assistant: without any model, over the whole app."""

import pytest
from asgiref.sync import sync_to_async
from django.test import TransactionTestCase

from chat.memory.notes import store
from chat.memory.notes.base import Place
from chat.models import NoteOp, NoteTarget, Owner, Run
from chat.runs import launch
from chat.runs.start import Order
from tests import builders


class Said(TransactionTestCase):
    @pytest.fixture(autouse=True)
    def folder(self, settings, tmp_path):  # noqa: ANN001, ANN201
        settings.DATA_DIR = tmp_path

    def setUp(self) -> None:
        self.user = builders.teacher()
        self.agent = builders.agent(builders.school_of(self.user))
        self.owner = Owner(self.agent.tenant_id, self.user.pk, self.agent.pk)

    async def say(self, text: str, thread_id: str = "") -> Run:
        started = await launch.start(Order(user_id=self.user.pk, agent_id=self.agent.pk, input=text, thread_id=thread_id))
        await launch.wait(started.run_id)
        return await Run.objects.aget(pk=started.run_id)

    async def entries(self, target: NoteTarget = NoteTarget.MEMORY) -> list[str]:
        return list((await sync_to_async(store.look)(Place(self.owner, target))).entries)

    async def test_remember_change_remove_and_ask(self) -> None:
        first = await self.say("记住：这个项目的文档任务用反向工作流")
        assert await self.entries() == ["这个项目的文档任务用反向工作流"]
        assert "已加入 1 条" in first.output
        await self.say("记住：codex CLI 已装 v0.147", first.thread_id)
        assert "已改写 1 条" in (await self.say("把『codex CLI』那条更新为 v0.148", first.thread_id)).output
        assert await self.entries() == ["这个项目的文档任务用反向工作流", "codex CLI v0.148"]
        assert "已删除 1 条" in (await self.say("删掉『codex CLI』那条", first.thread_id)).output
        await self.say("记住：我教高二物理", first.thread_id)
        assert await self.entries(NoteTarget.USER) == ["我教高二物理"]
        assert "是空的" in (await self.say("你记得我有什么工作习惯吗？", first.thread_id)).output  # frozen with the thread
        assert "下一条消息" in (await self.say("我改过 MEMORY.md 了，刷新一下记忆", first.thread_id)).output
        for thread_id in (first.thread_id, ""):
            told = (await self.say("你记得我有什么工作习惯吗？", thread_id)).output
            assert "- 我教高二物理\n- 这个项目的文档任务用反向工作流" in told
        assert await NoteOp.objects.filter(state="applied").acount() == 5

    async def test_the_guide_is_asked_once_and_what_is_answered_to_it_waits(self) -> None:
        first = await self.say("出一份数据结构试卷")
        assert "怎样称呼你" in first.output
        answered = await self.say("我姓王，教高二物理", first.thread_id)
        assert "还没有写入" in answered.output and "怎样称呼你" not in answered.output.split("结果")[-1]
        assert await self.entries(NoteTarget.USER) == []
        assert (await NoteOp.objects.aget()).state == "staged"

    async def test_without_tools_the_sentence_itself_is_written(self) -> None:
        self.agent.has_tools = False
        await self.agent.asave()
        run = await self.say("记住：这个项目的文档任务用反向工作流")
        assert "由系统直接处理" in run.output
        assert (await NoteOp.objects.aget(run=run)).origin == "shortcut"
        assert await self.entries() == ["这个项目的文档任务用反向工作流"]
