"""PR-05: summarising never takes away the conversation."""

import re
import threading

from django.db import connection
from django.test import Client

from chat.models import MemoryOp, Thread
from chat.text.boundary import SUMMARY_LABEL, THREAD_CLOSE_LAST, THREAD_OPEN
from tests.cases.model_server import Call, Reply
from tests.cases.world import Case, article, part, words

TURNS = 14
PLANTED = ["赤松", "白桦", "黑檀", "青竹", "紫藤", "银杏", "石榴", "山楂", "枇杷", "橄榄", "沉香", "胡桃", "茉莉", "腊梅"]
QUESTIONS = [f"第{number:02}问，暗号{word}号。" for number, word in enumerate(PLANTED, 1)]
SUMMARY = re.compile("摘要甲，第\\d+份。")


class SummariesTakeNothingAway(Case):
    def setUp(self) -> None:
        super().setUp()
        self.pages: list[str] = []  # what another browser was shown while a summary was being written
        self.model.answer = self.answer

    def answer(self, call: Call) -> Reply:
        if call.purpose == "summary":
            # In a thread of its own: a connection to the database belongs to the thread that opened it.
            reload = threading.Thread(target=self.reload, args=(call.headers["x-thread-id"],))
            reload.start()
            reload.join(10)
            return Reply(tokens=("摘要", "甲", "，第", f"{len(self.model.of('summary'))}", "份", "。"))
        return Reply(tokens=("答：", call.prompt.splitlines()[-1]))

    def reload(self, thread_id: str) -> None:
        try:
            self.pages.append(self.second_browser.get(f"/chat/t/{thread_id}/").content.decode())
        finally:
            connection.close()

    async def fourteen_turns(self) -> Thread:
        """Over the page's socket, with the background at work after each turn."""
        self.second_browser = Client()
        self.second_browser.cookies = (await self.browser()).cookies
        first = await self.send_by_form(QUESTIONS[0])
        async with self.socket(first.thread_id) as page:
            self.page = page
            for number, question in enumerate(QUESTIONS[1:], 2):
                end = await page.send(f"k{number}", question)
                assert 'data-status="completed"' in end["html"]
                await self.settle()
        return await Thread.objects.aget(pk=first.thread_id)

    async def test_summaries_stand_in_the_prompt_and_nowhere_in_the_conversation(self) -> None:
        thread = await self.fourteen_turns()
        await self.check_conversation_is_whole(thread)
        self.check_prompts()
        await self.check_line_and_text_of_the_summary(thread)
        await self.restart()

    async def check_conversation_is_whole(self, thread: Thread) -> None:
        summaries = len(self.model.of("summary"))
        assert summaries == await MemoryOp.objects.filter(kind="summary", outcome="done").acount() == 2
        assert not await MemoryOp.objects.exclude(outcome="done").aexists()
        assert "摘要甲" not in self.page.text
        assert len(self.pages) == summaries
        for page in self.pages:  # reloaded while the summary was being written
            self.check_order(page, upto=len(re.findall("<article", page)))
        page = await self.get(f"/chat/t/{thread.pk}/")
        self.check_order(page, upto=TURNS)
        assert "摘要甲" not in "".join(re.findall("<article.*?</article>", page, re.DOTALL))
        runs = (await self.api(f"/threads/{thread.pk}/runs"))["runs"]
        assert [(run["input"], run["output"]) for run in runs] == [(question, f"答：{question}") for question in QUESTIONS]
        export = await self.get(f"/chat/t/{thread.pk}/export.md")
        places = [export.index(text) for question in QUESTIONS for text in (f"\n{question}\n", f"\n答：{question}\n")]
        assert places == sorted(places)
        assert "摘要甲" not in export

    def check_order(self, page: str, upto: int) -> None:
        assert re.findall('data-part="input">(.*?)</div>', page) == QUESTIONS[:upto]
        ids = re.findall('data-run="(.*?)"', page)
        assert [part(article(page, run_id), "output") for run_id in ids] == [f"答：{question}" for question in QUESTIONS[:upto]]

    def check_prompts(self) -> None:
        """Each holds the question, the last rounds whole, and a summary inside the boundary for all older ones."""
        answers = self.model.of("answer")
        covered = 0  # how many rounds only a summary stands for, when this answer was asked for
        position = {id(call): place for place, call in enumerate(self.model.calls)}
        for number, call in enumerate(answers):
            before = self.model.calls[: position[id(call)]]
            covered = max([number for number in range(TURNS) if any(summed_up(one, number) for one in before)], default=-1) + 1
            assert call.prompt.endswith(QUESTIONS[number])
            assert number == 0 or call.prompt.endswith(f"\n{THREAD_CLOSE_LAST}\n{QUESTIONS[number]}")
            for recent in QUESTIONS[max(0, number - 2) : number]:
                assert f"‹用户› {recent}\n‹助手› 答：{recent}\n" in call.prompt
            for place in range(number):
                assert (QUESTIONS[place] in call.text) is (place >= covered), (number, place)
            if covered:
                inside = call.prompt[call.prompt.index(THREAD_OPEN) : call.prompt.index(THREAD_CLOSE_LAST)]
                assert len(SUMMARY.findall(call.text)) == 1
                assert SUMMARY.search(inside.partition(SUMMARY_LABEL)[2])
            else:
                assert "摘要甲" not in call.text
        assert covered >= TURNS - 7

    async def check_line_and_text_of_the_summary(self, thread: Thread) -> None:
        page = await self.get(f"/chat/t/{thread.pk}/")
        line = page.index('id="summary-line"')
        above = re.findall('data-part="input">(.*?)</div>', page[:line])
        assert above == QUESTIONS[: thread.summary_upto_slot]
        assert "以上轮次，模型从摘要中得知" in words(page[line:])
        assert f"/chat/t/{thread.pk}/summary/" in page[line:]
        shown = words(await self.get(f"/chat/t/{thread.pk}/summary/"))
        assert thread.rolling_summary == "摘要甲，第2份。"
        assert thread.rolling_summary in shown


def summed_up(call: Call, number: int) -> bool:
    return call.purpose == "summary" and QUESTIONS[number] in call.text
