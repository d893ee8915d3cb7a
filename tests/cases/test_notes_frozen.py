"""Must be shown 4: twenty turns with writes in between, and the system part of every prompt is the same to the byte."""

from asgiref.sync import sync_to_async

from chat.models import NoteOp, NoteSnapshot, Run, Thread
from tests.cases.model_server import Call
from tests.cases.notes_world import NotesCase, Wish

TURNS = 20
WISHES: dict[str, Wish] = {
    "请记住": ("memory_add", {"content": "老师喜欢简答题"}),
    "记住我教": ("memory_add", {"content": "我教高二物理", "target": "user"}),
    "更新为": ("memory_replace", {"old_text": "简答题", "new_content": "老师喜欢填空题"}),
    "删掉": ("memory_remove", {"old_text": "填空题"}),
    "出一份": ("memory_add", {"content": "老师要一份试卷"}),  # the model's own idea
    "刷新一下记忆": ("memory_refresh", {}),
}
SAID = ["出一份试卷", "请记住：老师喜欢简答题", "记住我教高二物理", "把『简答题』那条更新为填空题", "删掉『填空题』那条"]


class TwentyTurns(NotesCase):
    def setUp(self) -> None:
        super().setUp()
        self.by_hand("文档任务用反向工作流\n§\n两行的\n笔记")
        self.wish = self.called

    def called(self, call: Call) -> Wish | None:
        question = call.prompt.split("\n")[-1]
        return next((wish for word, wish in WISHES.items() if word in question), None)

    def told(self, thread_id: str = "") -> list[str]:
        """The system parts of all requests for answers, in order; of one thread when it is named."""
        return [call.system for call in self.model.of("answer") if call.headers["x-thread-id"] == thread_id or not thread_id]

    async def twenty(self) -> Thread:
        """Over form and socket, with writes by tools and by hand in between, the background at work, and restarts."""
        first = await self.send_by_form(SAID[0])
        async with self.socket(first.thread_id) as page:
            for number in range(2, TURNS + 1):
                if number % 4 == 0:
                    await sync_to_async(self.by_hand)(f"第{number}次手改", "user" if number % 8 else "memory")
                if number % 7 == 0:
                    await self.settle()
                    await self.restart()
                await page.send(f"k{number}", SAID[number % len(SAID)])
        return await Thread.objects.aget(pk=first.thread_id)

    async def test_the_system_part_is_the_same_until_a_refresh_and_changes_exactly_once(self) -> None:
        thread = await self.twenty()
        assert await Run.objects.filter(thread=thread, status="completed").acount() == TURNS
        assert await NoteOp.objects.filter(state="applied").acount() > 5
        assert await NoteOp.objects.filter(state="staged").aexists()
        told = self.told()
        assert len(told) > TURNS and len({text.encode() for text in told}) == 1
        assert "文档任务用反向工作流\n§\n两行的\n笔记" in told[0]
        snapshot = await NoteSnapshot.objects.aget(thread=thread)
        assert snapshot.text in told[0] and snapshot.refreshed_at is None
        await self.refreshed(thread, told[0], snapshot)

    async def refreshed(self, thread: Thread, before: str, old: NoteSnapshot) -> None:
        await sync_to_async(self.by_hand)("手改过的笔记")
        asked = await self.send_by_form("我改过 MEMORY.md 了，刷新一下记忆", thread.pk)
        assert self.results()[-1]["changed"]
        assert {call.system for call in self.model.of("answer") if call.headers["x-run-id"] == asked.pk} == {before}
        for _ in range(3):
            await self.send_by_form("出一份试卷", thread.pk)
            await self.restart()
        told = self.told()
        changes = [number for number in range(1, len(told)) if told[number] != told[number - 1]]
        assert len(changes) == 1 and "手改过的笔记" in told[-1]
        now = await NoteSnapshot.objects.aget(thread=thread)
        assert before.replace(old.text, "…") == told[-1].replace(now.text, "…")

    async def test_what_is_remembered_stands_in_the_next_threads_prompt(self) -> None:
        """Row 45 of §4, and "must be shown" 7: remembered → present in the next prompt."""
        first = await self.send_by_form("请记住：老师喜欢简答题")
        assert "老师喜欢简答题" not in self.told(first.thread_id)[0]
        second = await self.send_by_form("你好")
        assert "\n老师喜欢简答题\n" in self.told(second.thread_id)[0]

    async def test_the_guide_too_is_the_same_in_the_whole_thread(self) -> None:
        first = await self.send_by_form("你好")
        await self.send_by_form("记住我教高二物理", first.thread_id)
        assert await sync_to_async(self.entries)("user") == ["我教高二物理"]
        await self.send_by_form("出一份试卷", first.thread_id)
        assert len(set(self.told(first.thread_id))) == 1 and "首次使用" in self.told()[0]
        later = await self.send_by_form("你好")
        assert "首次使用" not in self.told(later.thread_id)[0]

    async def test_regenerating_and_editing_change_nothing(self) -> None:
        first = await self.send_by_form("出一份试卷")
        await sync_to_async(self.by_hand)("新的笔记")
        await self.retry_by_form(first)
        assert len(set(self.told(first.thread_id))) == 1
