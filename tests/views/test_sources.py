"""The sources of an answer: its [n] marks, the list below it, and what the API and the ledger say of them."""

import asyncio
import json

from asgiref.sync import sync_to_async

from chat.api.stream import run_frames
from chat.memory.knowledge.keep import delete_document
from chat.models import Document, Owner, Passage, Run, RunLedger, Thread
from chat.runs import launch
from tests import builders
from tests.fakes import ScriptedProvider, scripted
from tests.test_consumers import SocketCase
from tests.views.test_chat import ChatCase

HTMX = {"HX-Request": "true"}


class SourceCase(ChatCase):
    thread: Thread
    document: Document
    passages: list[Passage]

    @classmethod
    def setUpTestData(cls) -> None:
        super().setUpTestData()
        cls.thread = builders.thread(cls.user, cls.agent)
        cls.document = builders.document(cls.user, ["栈", "队列", "树"], name="讲义.pdf", agents=[cls.agent])
        Passage.objects.filter(position=2).update(page=12, heading="第三章 <栈>")
        cls.passages = list(cls.document.passages.order_by("position"))

    def answered(self, output: str, citations: list[str] | None = None) -> Run:
        ids = [passage.pk for passage in self.passages]
        return builders.run(self.thread, "栈是什么", output, citations=ids if citations is None else citations)

    def shown(self) -> str:
        return self.page(f"/chat/t/{self.thread.pk}/")

    def link(self, number: int) -> str:
        return f'<a class="cite" href="/knowledge/p/{self.passages[number - 1].pk}/"'


class MarkTests(SourceCase):
    def test_mark_leads_to_its_passage(self) -> None:
        self.answered("先进后出[1]，先进先出 [2]。")
        page = self.shown()
        assert f'{self.link(1)} title="讲义.pdf">[1]</a>' in page
        assert f'{self.link(2)} title="讲义.pdf · page 12 · 第三章 &lt;栈&gt;">[2]</a>' in page

    def test_list_below_names_those_that_are_cited(self) -> None:
        self.answered("先进先出 [2]。")
        page = self.shown()
        assert page.count("cited-source") == 1 and 'data-source="2"' in page
        assert "page 12 · 第三章 &lt;栈&gt;" in page and "used 3 passages" in page

    def test_code_links_and_footnotes_stay_as_they_are(self) -> None:
        self.answered("`a[1]` [1](https://example.org) [看 [1]](https://example.org) [^1] \\[1] ![1](x)\n\n```\na[1]\n```")
        page = self.shown()
        assert 'class="cite"' not in page and "cited-source" not in page and "<code>a[1]</code>" in page

    def test_number_without_a_source_stays_plain(self) -> None:
        self.answered("见 [9]、[0] 与 [1]。")
        page = self.shown()
        assert "见 [9]、[0] 与 <a" in page and page.count('class="cite"') == 1

    def test_run_without_citations_shows_its_marks_as_text(self) -> None:
        self.answered("见 [1]。", citations=[])
        page = self.shown()
        assert "见 [1]。" in page and "cited-source" not in page and "passages" not in page

    def test_answer_that_goes_is_plain(self) -> None:
        builders.run(self.thread, "栈", "见 [1]。\n\n", status="running", citations=[self.passages[0].pk])
        assert 'class="cite"' not in self.shown()

    def test_deleted_source_is_said_to_be_deleted(self) -> None:
        self.answered("见 [1]。")
        delete_document(Owner(self.agent.tenant_id, self.user.pk), self.document.pk)
        page = self.shown()
        assert "见 [1]。" in page and '<span class="quiet">deleted</span>' in page and "讲义.pdf" not in page

    def test_passage_of_somebody_else_is_told_like_a_deleted_one(self) -> None:
        foreign = builders.document(builders.teacher(self.agent.tenant), ["秘密"], name="秘密.txt")
        self.answered("见 [1]。", citations=[foreign.passages.get().pk])
        page = self.shown()
        assert "秘密" not in page and "deleted</span>" in page

    def test_page_asks_once_for_the_sources_of_all_its_rounds(self) -> None:
        self.answered("见 [1]。")
        with self.assertNumQueries(13):
            self.shown()
        for _ in range(9):
            self.answered("见 [1] 与 [3]。")
        with self.assertNumQueries(13):
            assert self.shown().count('class="cite"') == 19

    def test_earlier_tries_have_their_sources(self) -> None:
        first = self.answered("见 [1]。")
        again = builders.run(self.thread, "栈是什么", "好", replaces=first)
        assert self.link(1) in self.page(f"/runs/{again.pk}/tries/", **HTMX)

    def test_conversation_that_is_saved_names_its_sources(self) -> None:
        self.answered("先进先出 [2]，另见 [4]。", [passage.pk for passage in self.passages] + ["psg_gone"])
        text = self.page(f"/chat/t/{self.thread.pk}/export.md")
        assert "另见 [4]。\n\n- \\[2] 讲义.pdf · page 12 · 第三章 <栈>\n- \\[4] deleted\n" in text


class PanelTests(SourceCase):
    def test_panel_lists_all_that_was_given_to_the_model(self) -> None:
        run = self.answered("见 [1]。")
        page = self.page(f"/runs/{run.pk}/sources/", **HTMX)
        assert page.count("cited-source") == 3 and "data-panel" in page
        assert "<html" in self.page(f"/runs/{run.pk}/sources/")

    def test_panel_of_an_answer_without_any_says_so(self) -> None:
        assert "No passage of the knowledge base" in self.page(f"/runs/{self.answered('好', []).pk}/sources/")

    def test_somebody_elses_panel_does_not_exist(self) -> None:
        run = self.answered("见 [1]。")
        answers = [self.colleague().get(f"/runs/{one}/sources/") for one in (run.pk, "run_missing")]
        assert [answer.status_code for answer in answers] == [404, 404]

    def test_ledger_names_the_passages_and_why_they_were_found(self) -> None:
        run, passage = self.answered("见 [1]。"), self.passages[1]
        segment = {"name": "knowledge", "role": "user", "text": "x", "tokens": 9, "budget_tokens": 2000, "priority": 3}
        found = {"source_ids": [passage.pk], "notes": [{"id": passage.pk, "score": 0.83, "matched": ["队列"]}]}
        RunLedger.objects.create(run=run, segments=[segment | found], tools=[])
        page = self.page(f"/runs/{run.pk}/ledger/", **HTMX)
        assert "讲义.pdf · page 12 · 第三章 &lt;栈&gt; is related with 0.83 of 1: 队列." in page
        assert f'href="/knowledge/p/{passage.pk}/"' in page and f"<code>{passage.pk}" not in page


class SocketTests(SocketCase):
    """What an open page is told of an answer and its sources."""

    async def test_marks_are_text_while_the_answer_goes_and_links_when_it_has_ended(self) -> None:
        document = await sync_to_async(builders.document)(self.user, ["栈"], name="讲义.txt")
        passage = await document.passages.aget()
        gate = asyncio.Event()
        with scripted(ScriptedProvider(["后进先出 [1]。\n\n", gate, "完。"])):
            async with self.page() as page:
                await page.join()
                started = await launch.start(self.order(thread_id=self.thread.pk))
                block = await page.hear("block")
                await Run.objects.filter(pk=started.run_id).aupdate(citations=[passage.pk])
                gate.set()
                end = await page.hear_end()
            await launch.wait(started.run_id)
        link = f'<a class="cite" href="/knowledge/p/{passage.pk}/"'
        assert "后进先出 [1]。" in block["html"] and link in end["html"] and 'data-part="sources"' in end["html"]
        async with self.page() as late:
            await late.join()
        assert any(link in frame.get("html", "") for frame in late.frames)

    async def test_stream_of_the_api_ends_with_the_citations(self) -> None:
        document = await sync_to_async(builders.document)(self.user, ["栈"], name="讲义.txt")
        passage = await document.passages.aget()
        gate = asyncio.Event()
        await self.async_client.aforce_login(self.user)
        with scripted(ScriptedProvider(["见 [1]。", gate, "完。"])):
            started = await launch.start(self.order(thread_id=self.thread.pk))
            frames = run_frames(self.user, started, language="en")
            await anext(frames)
            await Run.objects.filter(pk=started.run_id).aupdate(citations=[passage.pk])
            gate.set()
            last = [frame async for frame in frames][-1].decode()
        told = json.loads(last.split("data: ")[1])
        assert [one["id"] for one in told["citations"]] == [passage.pk] and told["output"] == "见 [1]。完。"

    async def test_api_tells_output_as_text_and_what_its_marks_mean(self) -> None:
        document = await sync_to_async(builders.document)(self.user, ["栈"], name="讲义.pdf")
        passage = await document.passages.aget()
        await Passage.objects.aupdate(page=12, heading="第三章 <栈>")
        await sync_to_async(builders.run)(self.thread, "栈是什么", "见 [1]。", citations=[passage.pk, "psg_gone"])
        await self.async_client.aforce_login(self.user)
        told = (await self.async_client.get(f"/threads/{self.thread.pk}/runs")).json()["runs"][0]
        known = {"id": passage.pk, "document": document.pk, "name": "讲义.pdf", "page": 12, "heading": "第三章 <栈>"}
        assert told["output"] == "见 [1]。"
        assert told["citations"] == [known, {"id": "psg_gone", "document": None, "name": None, "page": None, "heading": None}]
