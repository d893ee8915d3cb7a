"""The list of threads, the message stream of a thread, and the archive."""

from datetime import UTC, datetime, timedelta
from typing import Any

from asgiref.sync import sync_to_async

from chat.models import Run, Thread
from tests import builders
from tests.api.cases import ApiCase

NOON = datetime(2026, 9, 1, 12, tzinfo=UTC)


class ThreadListTests(ApiCase):
    async def listed(self, **query: Any) -> list[str]:
        return [one["title"] for one in (await self.page(**query))["threads"]]

    async def page(self, **query: Any) -> dict[str, Any]:
        response = await self.get(f"/agents/{self.agent.pk}/threads", query)
        assert response.status_code == 200, response.content
        return response.json()

    async def add(self, *titles: str, **fields: Any) -> None:
        """Threads in the order of time, a minute apart."""
        count = await Thread.objects.acount()
        for number, title in enumerate(titles, count):
            values = {"title": title, "updated_at": NOON + timedelta(minutes=number)} | fields
            await sync_to_async(builders.thread)(self.user, self.agent, **values)

    async def test_newest_is_first(self) -> None:
        await self.add("一", "二", "三")
        assert await self.listed() == ["三", "二", "一"]

    async def test_thread_has_time_in_utc_and_its_rounds(self) -> None:
        await self.add("一")
        thread = await Thread.objects.aget()
        for position, is_latest in ((1, False), (2, True), (3, True)):
            await Run.objects.acreate(
                tenant=self.school, agent=self.agent, user=self.user, thread=thread, position=position,
                slot=max(1, position - 1), is_latest=is_latest, status="completed", finished_at=NOON, input="问",
            )  # fmt: skip
        expected = {
            "id": thread.pk,
            "title": "一",
            "status": "active",
            "incognito": False,
            "updated_at": "2026-09-01T12:00:00Z",
            "run_count": 2,
        }
        assert (await self.page())["threads"] == [expected]

    async def test_archived_threads_are_asked_for(self) -> None:
        await self.add("用着的")
        await self.add("收起来的", status="archived")
        assert await self.listed() == ["用着的"]
        assert await self.listed(status="archived") == ["收起来的"]
        assert await self.listed(status="all") == ["收起来的", "用着的"]

    async def test_search_takes_wildcards_literally(self) -> None:
        await self.add("100% 正确", "100 正确", "a_b", "aXb", "C:\\试卷")
        assert await self.listed(q="100%") == ["100% 正确"]
        assert await self.listed(q="a_b") == ["a_b"]
        assert await self.listed(q="\\试") == ["C:\\试卷"]
        assert await self.listed(q="") == ["C:\\试卷", "aXb", "a_b", "100 正确", "100% 正确"]

    async def test_search_finds_words_of_messages_as_the_page_does(self) -> None:
        await self.add("一", "二", "三")
        threads = {thread.title: thread async for thread in Thread.objects.all()}
        await sync_to_async(builders.run)(threads["一"], "讲讲ＰＹＴＨＯＮ 列表", "好")
        await sync_to_async(builders.run)(threads["二"], "半夜", "python 的列表")
        await sync_to_async(builders.run)(threads["三"], "python", "别的")
        assert sorted(await self.listed(q="Python 列")) == ["一", "二"]
        assert await self.walked(q="python", limit=1) == await self.listed(q="python")
        assert await self.listed(q="夜") == ["二"]
        assert await self.listed(q="没有") == []
        assert len(await self.listed(q=" \u3000")) == 3

    async def walked(self, **query: Any) -> list[str]:
        """All titles, page by page."""
        titles, cursor = [], {}
        while True:
            page = await self.page(**query, **cursor)
            titles += [one["title"] for one in page["threads"]]
            if page["next_cursor"] is None:
                return titles
            cursor = {"cursor": page["next_cursor"]}

    async def test_pages_join_without_gap_or_repetition(self) -> None:
        await self.add(*"甲乙丙丁戊")
        for limit in (1, 2, 4, 5, 100):
            with self.subTest(limit=limit):
                assert await self.walked(limit=limit) == list("戊丁丙乙甲")

    async def test_pages_join_where_times_are_equal(self) -> None:
        await self.add(*"甲乙丙丁戊", updated_at=NOON + timedelta(microseconds=123_457))
        titles = await self.walked(limit=2)
        assert sorted(titles) == sorted("甲乙丙丁戊") and titles == await self.listed()

    async def test_thread_that_moves_up_meanwhile_hides_no_other(self) -> None:
        await self.add(*"甲乙丙丁")
        page = await self.page(limit=2)
        await Thread.objects.filter(title="甲").aupdate(updated_at=NOON + timedelta(hours=1))
        rest = await self.page(limit=2, cursor=page["next_cursor"])
        assert [one["title"] for one in rest["threads"]] == ["乙"]

    async def test_wrong_values_are_named(self) -> None:
        for name, values in {
            "limit": ("0", "101", "-1", "1.5", "x", "", "٣", "9" * 30),
            "cursor": ("x", "", "é", "eDp5", "OTk5OTk5OTk5OTk5OTk5OTk5OTk5OnRo", "a" * 5_000, "OTk5OTk5OTk5OTk5OTk5OTk5OnRo"),
            "status": ("gone", "", "ACTIVE"),
            "q": ("x" * 201, "a\x00"),
        }.items():
            for value in values:
                with self.subTest(name=name, value=value[:20]):
                    response = await self.get(f"/agents/{self.agent.pk}/threads", {name: value})
                    assert self.error_of(response, 400) == "invalid_field"
                    assert name in response.json()["error"]["message"]

    async def test_assistant_of_nobody_is_not_found(self) -> None:
        assert self.error_of(await self.get("/agents/ag_none/threads"), 404) == "not_found"


class RunListTests(ApiCase):
    def setUp(self) -> None:
        super().setUp()
        self.thread = builders.thread(self.user, self.agent)

    async def page(self, **query: Any) -> dict[str, Any]:
        return (await self.get(f"/threads/{self.thread.pk}/runs", query)).json()

    async def add(self, text: str, **fields: Any) -> Run:
        position = self.thread.last_position = self.thread.last_position + 1
        values = {"status": "completed", "slot": position, "output": f"答{text}", "created_at": NOON, "finished_at": NOON} | fields
        return await Run.objects.acreate(
            tenant=self.school, agent=self.agent, user=self.user, thread=self.thread, position=position, input=text, **values
        )

    async def test_oldest_is_first_and_replaced_runs_are_left_out(self) -> None:
        first = await self.add("一", is_latest=False, status="failed", error_code="stream_broken")
        await self.add("二")
        await self.add("一", slot=1, replaces=first)
        runs = (await self.page())["runs"]
        assert [(one["input"], one["replaces"]) for one in runs] == [("一", first.pk), ("二", None)]

    async def test_run_has_all_its_fields(self) -> None:
        run = await self.add("一", mode="exam", input_tokens=3, output_tokens=4, cost="0.125", is_estimate=True)
        assert (await self.page())["runs"] == [
            {
                "id": run.pk,
                "status": "completed",
                "input": "一",
                "output": "答一",
                "citations": [],
                "error": None,
                "mode": "exam",
                "created_at": "2026-09-01T12:00:00Z",
                "finished_at": "2026-09-01T12:00:00Z",
                "usage": {"input_tokens": 3, "output_tokens": 4, "is_estimate": True, "cost": "0.125000"},
                "replaces": None,
            }
        ]

    async def test_failed_run_has_code_and_words(self) -> None:
        await self.add("一", status="failed", error_code="interrupted")
        error = (await self.page())["runs"][0]["error"]
        assert error["code"] == "interrupted" and "interrupted" in error["message"]

    async def test_going_run_has_its_text_so_far(self) -> None:
        await self.add("一", status="running", output="写到", finished_at=None)
        run = (await self.page())["runs"][0]
        assert (run["status"], run["output"], run["finished_at"]) == ("running", "写到", None)

    async def test_pages_join_without_gap_or_repetition(self) -> None:
        for text in "甲乙丙丁戊":
            await self.add(text)
        seen, page = [], await self.page(limit=2)
        seen += page["runs"]
        while page["next_cursor"]:
            page = await self.page(limit=2, cursor=page["next_cursor"])
            seen += page["runs"]
        assert [one["input"] for one in seen] == list("甲乙丙丁戊")

    async def test_wrong_cursor_is_named(self) -> None:
        response = await self.get(f"/threads/{self.thread.pk}/runs", {"cursor": "LTE"})
        assert self.error_of(response, 400) == "invalid_field"


class ArchiveTests(ApiCase):
    def setUp(self) -> None:
        super().setUp()
        self.thread = builders.thread(self.user, self.agent)
        builders.run(self.thread)

    async def move(self, verb: str) -> dict[str, Any]:
        return (await self.post(f"/threads/{self.thread.pk}/{verb}")).json()

    async def test_archived_thread_leaves_the_list_and_loses_nothing(self) -> None:
        moved = await self.move("archive")
        assert (moved["id"], moved["status"], moved["run_count"]) == (self.thread.pk, "archived", 1)
        assert (await self.get(f"/agents/{self.agent.pk}/threads")).json()["threads"] == []
        assert len((await self.get(f"/threads/{self.thread.pk}/runs")).json()["runs"]) == 1

    async def test_archiving_twice_changes_nothing(self) -> None:
        assert await self.move("archive") == await self.move("archive")

    async def test_thread_comes_back(self) -> None:
        await self.move("archive")
        assert (await self.move("unarchive"))["status"] == "active"
        assert len((await self.get(f"/agents/{self.agent.pk}/threads")).json()["threads"]) == 1
