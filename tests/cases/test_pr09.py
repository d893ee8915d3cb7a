"""PR-09: one bad turn does not spoil the thread."""

import contextlib
import re
from pathlib import Path

import httpx
import pytest

from chat.models import MemoryOp, Run, Summary
from chat.text.boundary import FAILED_ROUND
from tests.cases.model_server import Call, ModelServer, Reply
from tests.cases.world import EN, Case, article, part, words
from tests.processes.test_web import Web, World, wait_until

SECRET = "机密堆栈"
BAD = {
    "第二轮，青铜。": Reply(tokens=()),
    "第三轮，白银。": Reply(status=500, body=f'{{"error": {{"message": "Traceback {SECRET} <b>line 7</b>"}}}}'),
    "第四轮，紫藤。": Reply(tokens=("半截一", "半截二", "半截三"), end="hang_up"),
}
QUESTIONS = ["第一轮，赤松。", *BAD, "第五轮，黑檀。", "第六轮，白桦。"]
# What a failure must not leave in a prompt: the service's words, its status, our codes, markup.
TRACES = re.compile(f"{SECRET}|Traceback|line 7|\\b500\\b|provider_|stream_broken|empty_answer|<\\w")


class Script:
    """What the service says; questions in `is_mended` get a normal answer."""

    def __init__(self) -> None:
        self.is_mended: set[str] = set()

    def __call__(self, call: Call) -> Reply:
        if call.purpose == "summary":
            return Reply(tokens=("老师问了", "几轮，", "部分未完成。"))
        question = call.prompt.splitlines()[-1]
        if question in BAD and question not in self.is_mended:
            return BAD[question]
        return Reply(tokens=("答：", question))


class OneBadTurn(Case):
    def setUp(self) -> None:
        super().setUp()
        self.agent.compress_over_rounds = 3
        self.agent.save()
        self.model.answer = self.script = Script()

    async def six_turns(self) -> list[Run]:
        first = await self.send_by_form(QUESTIONS[0])
        return [first, *[await self.send_by_form(text, first.thread_id) for text in QUESTIONS[1:]]]

    async def test_bad_turns_are_marked_kept_and_told_as_a_neutral_placeholder(self) -> None:
        runs = await self.six_turns()
        assert [run.status for run in runs] == ["completed", "failed", "failed", "failed", "completed", "completed"]
        assert self.model.refused == []
        sixth = self.model.calls[-1]
        for question in BAD:
            assert f"‹用户› {question}\n‹助手› {FAILED_ROUND}\n" in sixth.prompt
        assert "半截" not in sixth.text
        for language, state, again in ((EN, "Not finished", "Try again"), ("zh-hans", "未完成", "再试一次")):
            page = await self.get(f"/chat/t/{runs[0].thread_id}/", language)
            assert not TRACES.search(words(page)), language
            for run in runs[1:4]:
                shown = article(page, run.pk)
                assert part(shown, "status") == state
                assert 'class="trouble"' in shown and again in shown and f"/runs/{run.pk}/retry/" in shown
            assert part(article(page, runs[3].pk), "output") == "半截一半截二半截三"
        export = await self.get(f"/chat/t/{runs[0].thread_id}/export.md")
        assert SECRET not in export and export.count("回答不完整") == 3
        await self.restart()

    async def test_thread_goes_on_after_a_retry_a_restart_and_a_summary(self) -> None:
        runs = await self.six_turns()
        thread_id = runs[0].thread_id
        await self.settle()
        self.script.is_mended.add(QUESTIONS[1])
        again = await self.retry_by_form(runs[1])
        assert (again.status, again.slot) == ("completed", runs[1].slot)
        assert not any(question in self.model.calls[-1].prompt for question in QUESTIONS[2:])
        await self.restart()
        await self.settle()
        last = await self.send_by_form("第七轮，石榴。", thread_id)
        assert (last.status, last.output) == ("completed", "答：第七轮，石榴。")
        assert "（此前对话摘要）老师问了几轮，部分未完成。" in self.model.calls[-1].prompt
        await self.check_no_trace(thread_id)
        inputs = [run["input"] for run in (await self.api(f"/threads/{thread_id}/runs"))["runs"]]
        assert inputs == [*QUESTIONS, "第七轮，石榴。"]
        page = await self.get(f"/chat/t/{thread_id}/")
        assert re.findall('data-part="input">(.*?)</div>', page) == inputs
        assert part(article(page, again.pk), "output") == f"答：{QUESTIONS[1]}"
        await self.restart()

    async def check_no_trace(self, thread_id: str) -> None:
        """Of the failures nothing is in a prompt, a summary, a row or the log; each one took the placeholder's place."""
        assert self.model.refused == []
        assert not [call.prompt for call in self.model.calls if TRACES.search(call.prompt)]
        summaries = self.model.of("summary")
        assert len(summaries) == await MemoryOp.objects.filter(kind="summary").acount() == 2
        assert [call.prompt.count(FAILED_ROUND) for call in summaries] == [3, 2]
        assert "半截" not in "".join(call.text for call in summaries)
        assert await Summary.objects.filter(thread_id=thread_id).acount() == 1
        assert SECRET not in await self.stored()
        assert SECRET not in self.log.text


@pytest.mark.process
def test_thread_goes_on_in_new_processes(tmp_path: Path):
    script = Script()
    with contextlib.ExitStack() as stack, ModelServer(script) as model:
        world = World(tmp_path, f"http://{model.address}", stack)
        web = world.web()
        agent, thread = web.agent(), {}
        for question in QUESTIONS:
            answer = web.post(f"/agents/{agent}/run", input=question, **thread).json()
            thread = {"thread_id": answer["thread_id"]}
            assert answer["status"] == ("failed" if question in BAD else "completed")
        script.is_mended.add(QUESTIONS[1])
        retry(web, run_of(web, thread["thread_id"], 1)["id"])
        wait_until(lambda: run_of(web, thread["thread_id"], 1)["status"] == "completed")
        web.process.terminate()
        web.process.wait(15)
        web = world.web()
        for question in ("第七轮，石榴。", "第八轮，山楂。"):
            answer = web.post(f"/agents/{agent}/run", input=question, **thread).json()
            assert (answer["status"], answer["output"]) == ("completed", f"答：{question}")
            world.manage("worker", "--once")
        inputs = [run["input"] for run in web.get(f"/threads/{thread['thread_id']}/runs")["runs"]]
    assert inputs == [*QUESTIONS, "第七轮，石榴。", "第八轮，山楂。"]
    assert "（此前对话摘要）老师问了几轮，部分未完成。" in model.of("answer")[-1].prompt
    assert model.refused == []
    assert not [call.prompt for call in model.calls if TRACES.search(call.prompt)]
    assert SECRET not in "".join(path.read_text() for path in tmp_path.glob("*.log"))


def run_of(web: Web, thread_id: str, place: int) -> dict[str, str]:
    return web.get(f"/threads/{thread_id}/runs")["runs"][place]


def retry(web: Web, run_id: str) -> None:
    """As the page does it without script, by a teacher who logs in first."""
    with httpx.Client(base_url=web.url, follow_redirects=True) as browser:
        browser.get("/accounts/login/")
        form = {"username": "teacher", "password": "only-for-this-test"}
        for path, fields in (("/accounts/login/", form), (f"/runs/{run_id}/retry/", {})):
            token = {"csrfmiddlewaretoken": browser.cookies["csrftoken"]}
            assert browser.post(path, data=fields | token).status_code == 200
