"""What the socket of a page tells of notes: lines while a run goes and later, notices, and the marks of the conversation."""

import asyncio
import json
from unittest.mock import patch

from asgiref.sync import sync_to_async
from django.test import override_settings

from chat.memory.notes import decide, snapshot
from chat.models import NoteOp, NoteSnapshot, NoteTarget, Notice, Owner, Run
from chat.models.tenancy import ping
from chat.providers.base import Delta, ToolCall
from chat.runs import launch, live
from chat.text import threats
from tests import builders
from tests.fakes import ScriptedProvider, scripted
from tests.test_consumers import Page, SocketCase
from tests.views.test_thread_notes import note_op, write

REMEMBER = "记住：试卷附评分标准"


def noting(content: str = "试卷附评分标准") -> Delta:
    return Delta(tool_calls=(ToolCall("call_1", "memory_add", json.dumps({"content": content})),), finish="tool_calls")


@override_settings(NOTES_STORAGE="database")
@patch("chat.runs.beat.BEAT_SECONDS", 0.05)
class LineTests(SocketCase):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        threats.warm_up()  # as the product does at its start: no message waits for it

    def order(self, text: str = REMEMBER, **fields: object):
        return super().order(text, thread_id=self.thread.pk, **fields)

    async def start(self, page: Page, *scripts: list) -> str:
        with scripted(ScriptedProvider(*scripts)):
            started = await launch.start(self.order())
            await page.hear_end()
            await launch.wait(started.run_id)
        return started.run_id

    async def test_line_comes_with_the_call_and_stays_at_the_end(self) -> None:
        gate = asyncio.Event()
        async with self.page() as page:
            await page.join()
            with scripted(ScriptedProvider([noting()], ["好", gate, "的。"])):
                started = await launch.start(self.order())
                told = await page.hear("notes")
                assert live.get(started.run_id) is not None
                gate.set()
                end = await page.hear_end()
                await launch.wait(started.run_id)
        op = await NoteOp.objects.aget(run_id=started.run_id)
        for html in (told["html"], end["html"]):
            assert f'data-note-op="{op.pk}"' in html and "已记入 MEMORY.md：试卷附评分标准" in html

    async def test_who_joins_in_mid_run_is_told_the_line(self) -> None:
        gate = asyncio.Event()
        with scripted(ScriptedProvider([noting()], ["好", gate, "的。"])):
            async with self.page() as first:
                await first.join()
                started = await launch.start(self.order())
                await first.hear("notes")
                async with self.page() as late:
                    await late.join()
                    joined = next(frame for frame in late.frames if frame["type"] == "run")
                gate.set()
                await first.hear_end()
            await launch.wait(started.run_id)
        assert "data-note-op" in joined["html"]

    async def test_disk_that_fails_is_told_and_the_page_stays(self) -> None:
        async with self.page() as page:
            await page.join()
            with patch.object(launch, "start", side_effect=OSError(28, "No space left on device")):
                await page.say(action="send", key="k1", input=REMEMBER, mode="")
                error = await page.hear("error")
        assert (error["code"], error["key"]) == ("unavailable", "k1")

    async def test_claim_of_the_model_alone_makes_no_line(self) -> None:
        async with self.page() as page:
            await page.join()
            await self.start(page, ["已记住：试卷附评分标准。"])
            html = page.frames[-1]["html"]
        assert "data-note-op" not in html and "这一轮没有写入任何笔记。" in html

    async def test_what_the_message_did_not_ask_for_waits(self) -> None:
        async with self.page() as page:
            await page.join()
            with scripted(ScriptedProvider([noting()], ["好的。"])):
                started = await launch.start(super().order("出一份试卷", thread_id=self.thread.pk))
                told = await page.hear("notes")
                await page.hear_end()
                await launch.wait(started.run_id)
        assert "等你确认：记入 MEMORY.md" in told["html"] and "/memory/#pending" in told["html"]

    async def test_every_page_hears_that_it_was_taken_back(self) -> None:
        async with self.page() as one, self.page() as other:
            await one.join()
            await other.join()
            run_id = await self.start(one, [noting()], ["好的。"])
            op = await NoteOp.objects.aget(run_id=run_id)
            assert (await sync_to_async(decide.undo)(self.user, op.pk)).is_done
            for page in (one, other):
                told = await page.hear("fragment", target=f"notes-{run_id}")
                while "已撤销" not in told["html"]:
                    told = await page.hear("fragment", target=f"notes-{run_id}")
                assert 'data-action="undo"' not in told["html"]

    async def test_every_page_hears_of_a_decision_elsewhere(self) -> None:
        run = await sync_to_async(builders.run)(self.thread)
        op = await sync_to_async(note_op)(run, state="staged", request={"content": "试卷附评分标准"}, changes=[])
        async with self.page() as page:
            await page.join(after=1)
            await sync_to_async(decide.reject)(self.user, op.pk)
            told = await page.hear("fragment", target=f"notes-{run.pk}")
            while "staged" in told["html"]:
                told = await page.hear("fragment", target=f"notes-{run.pk}")
        assert "按你的意思没有记" in told["html"]

    async def test_message_itself_is_noted_for_a_model_without_tools(self) -> None:
        await self.agent.__class__.objects.aupdate(has_tools=False)
        gate = asyncio.Event()
        async with self.page() as page:
            await page.join()
            with scripted(ScriptedProvider([gate, "好的。"])):
                started = await launch.start(self.order())
                going = await page.hear("run")
                gate.set()
                end = await page.hear_end()
                await launch.wait(started.run_id)
        assert all("已记入 MEMORY.md：试卷附评分标准" in frame["html"] for frame in (going, end))


@override_settings(NOTES_STORAGE="database")
@patch("chat.runs.beat.BEAT_SECONDS", 0.05)
class AroundTests(SocketCase):
    async def test_notice_is_told_when_it_comes(self) -> None:
        run: Run = await sync_to_async(builders.run)(self.thread)
        async with self.page() as page:
            await page.join(after=1)
            notice = await Notice.objects.acreate(
                tenant_id=run.tenant_id, user=self.user, thread=self.thread, after_slot=run.slot, code="notes_failed"
            )
            await sync_to_async(ping)(self.user.pk)
            told = await page.hear("fragment", target=f"notice-{notice.pk}")
        assert f'data-after="{run.slot}"' in told["html"] and "这一轮没能写进笔记" in told["html"]

    async def test_mark_comes_when_the_notes_change_and_goes_when_they_are_read_again(self) -> None:
        owner = Owner(self.agent.tenant_id, self.user.pk, self.agent.pk)
        await sync_to_async(lambda: snapshot.keep(snapshot.freeze(owner, self.agent, asks=True), self.thread.pk))()
        async with self.page() as page:
            await page.join()
            for act, is_there in ((self.change, True), (self.read_again, False)):
                await sync_to_async(act)()
                told = await page.hear("fragment", target="note-marks")
                assert ('id="notes-changed"' in told["html"]) is is_there

    def change(self) -> None:
        write(self.user, self.agent, "试卷附评分标准")

    def read_again(self) -> None:
        snapshot.refresh(self.thread)
        ping(self.user.pk)

    async def test_guide_goes_when_the_profile_is_filled(self) -> None:
        await NoteSnapshot.objects.acreate(thread=self.thread, digest="0" * 64, has_guide=True)
        async with self.page() as page:
            await page.join()
            assert any('id="guide"' in frame.get("html", "") for frame in page.frames)
            await sync_to_async(write)(self.user, self.agent, "教高二信息技术", NoteTarget.USER)
            told = await page.hear("fragment", target="note-marks")
        assert 'id="guide"' not in told["html"]
