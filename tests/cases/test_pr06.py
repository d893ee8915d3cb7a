"""PR-06: Chinese words are found, all of them; and what is recalled follows renaming and deleting at once."""

import html
import re
from urllib.parse import quote

from asgiref.sync import sync_to_async
from django.db import connection

from chat.memory.ledger import from_row
from chat.memory.recall.keep import catch_up
from chat.models import RunLedger, Thread
from chat.text.boundary import RECALL, close_line
from tests import builders
from tests.cases.model_server import Call, Reply
from tests.cases.world import ZH, Case, words
from tests.memory.answering import FreeLease

QUERIES = ("卷积", "半夜", "列表", "推导", "python 列表", "C++", "卷", "卷积\u3000", "%_%")
ASKED = "上次我们讲卷积的练习放在哪里了？"
CONVOLUTION = (
    ("信号课", "请把信号与系统里关于卷积运算的三道习题整理一下", "整理好了，题目在讲义第三页，暗号青竹七号。"),
    ("图像课", "图像处理那一章怎么解释二维卷积核的练习", "先画图，再算。练习在附录甲，暗号赤松五号。"),
    ("数学课", "概率课上两个随机变量之和要用到卷积公式吗", "要用到，练习放在第五节末尾，暗号黑檀三号。"),
)
SPECIAL = (
    ("值班", "宿舍楼半夜有人敲门怎么处理", "先通知值班老师。"),
    ("编程一", "Python 列表推导式怎么讲", "用 [x*x for x in range(10)] 举例。"),
    ("编程二", "C++ 指针的练习", "交换两个整数。"),
)
THINGS = [
    "班会",
    "春游",
    "值日",
    "黑板报",
    "运动会",
    "家访",
    "作文",
    "诗歌",
    "朗读",
    "书法",
    "合唱",
    "植树",
    "升旗",
    "戏剧",
    "手工",
    "剪纸",
]
OTHERS = [(f"旧话{n}", f"第{n}周的{THINGS[n % 15]}怎么安排", f"第{n}周先定时间，再分工，完成 100% 为止。") for n in range(54)]


class ChineseWordsAreFound(Case):
    def setUp(self) -> None:
        super().setUp()
        self.model.answer = lambda call: self.reply(call)
        self.threads: dict[str, Thread] = {}
        self.texts: dict[str, str] = {}
        for title, said, answer in (*CONVOLUTION, *SPECIAL, *OTHERS):
            thread = builders.thread(self.user, self.agent, title=title)
            builders.run(thread, said, answer, provider=self.provider, model="stub")
            catch_up(thread, FreeLease())
            self.threads[title] = thread
            self.texts[thread.pk] = f"{title}\n{said}\n{answer}"

    @staticmethod
    def reply(call: Call) -> Reply:
        return Reply(tokens=("NONE",) if call.purpose == "extraction" else ("好的。",))

    def scan(self, query: str) -> set[str]:
        """The threads in which an exhaustive scan finds all words of the query."""
        wanted = query.lower().split()
        return {key for key, text in self.texts.items() if all(word in text.lower() for word in wanted)}

    async def search(self, query: str) -> str:
        page = await self.get(f"/search/?q={quote(query)}", ZH)
        return page[page.index('id="found"') :]

    async def found(self, query: str) -> set[str]:
        return set(re.findall(r'href="/chat/t/([^/"]+)/', await self.search(query)))

    async def ask(self) -> tuple[str, list[str]]:
        """What recall tells the model in a new thread, and the runs that it is from."""
        run = await self.send_by_form(ASKED)
        prompt = self.model.of("answer")[-1].prompt
        ledger = from_row(await RunLedger.objects.aget(pk=run.pk))
        segment = next((one for one in ledger.segments if one.name == "recall"), None)
        if segment is None:
            assert RECALL not in prompt
            return "", []
        assert segment.text in prompt and prompt.endswith(ASKED)
        assert segment.text.endswith(close_line(RECALL)) and len(segment.text) <= 2_000
        return segment.text, segment.source_ids

    async def test_words_are_found_shown_recalled_and_follow(self) -> None:
        assert len(self.threads) == 60
        for query in QUERIES:
            assert await self.found(query) == self.scan(query), query
        await self.check_hit_leads_to_the_message()
        await self.check_recall()
        await self.check_changes_follow()
        await self.restart()

    async def check_hit_leads_to_the_message(self) -> None:
        run = await self.threads["值班"].runs.aget()
        results = await self.search("半夜")
        assert "宿舍楼半夜有人敲门" in words(results).replace(" ", "")
        [address] = set(re.findall(rf'href="(/chat/t/{run.thread_id}/[^"]*)#{run.pk}"', results))
        assert f'data-run="{run.pk}"' in await self.get(html.unescape(address), ZH)

    async def check_recall(self) -> None:
        told, sources = await self.ask()
        own = {(await self.threads[title].runs.aget()).pk for title, _said, _answer in CONVOLUTION}
        assert 1 <= len(sources) <= 3 and set(sources) <= own
        assert "暗号青竹七号" in told or "暗号赤松五号" in told or "暗号黑檀三号" in told
        assert told.count(ASKED) == 0
        self.sources = sources

    async def check_changes_follow(self) -> None:
        renamed, deleted = self.threads["信号课"], self.threads["图像课"]
        page = await self.browser()
        await page.post(f"/chat/t/{renamed.pk}/rename/", {"title": "滤波器"})
        await page.post(f"/chat/t/{deleted.pk}/delete/")
        self.texts[renamed.pk] = self.texts[renamed.pk].replace("信号课", "滤波器")
        del self.texts[deleted.pk]
        asked = {thread.pk async for thread in Thread.objects.exclude(pk__in=self.texts)}  # the question of step 2
        for query in ("卷积", "滤波器", "信号课"):
            assert await self.found(query) - asked == self.scan(query), query
        told, sources = await self.ask()
        assert "赤松五号" not in told and "图像课" not in told and "《信号课》" not in told
        assert "《滤波器》" in told or (await renamed.runs.aget()).pk not in sources
        assert "赤松五号" not in await self.stored_elsewhere()

    async def stored_elsewhere(self) -> str:
        """What the ledgers and the entries say after the deletion."""

        def rows() -> str:
            with connection.cursor() as cursor:
                cursor.execute("SELECT input, head, title FROM chat_recallentry")
                entries = cursor.fetchall()
            return str(entries) + str(list(RunLedger.objects.values()))

        return await sync_to_async(rows)()
