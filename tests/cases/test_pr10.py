"""PR-10: every background call is on the bill (titles need no call; summaries are what memory asks for now)."""

import re
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from itertools import count
from typing import Any

from asgiref.sync import sync_to_async
from django.contrib.auth.models import Group, User
from django.test import AsyncClient

from chat.models import MemoryOp, Run
from chat.roles import SCHOOL_ADMINISTRATORS
from tests import builders
from tests.cases.model_server import Call, Reply
from tests.cases.world import ZH, Case, article, words

INPUT_PRICE, OUTPUT_PRICE = 30_000, 70_000  # a million tokens, so that one token shows in two decimals
TURNS = 5
UNCOUNTED = f"第1会话第{TURNS}问"  # the one answer that comes without usage


def primes() -> Iterator[int]:
    return (number for number in count(1_009, 2) if all(number % divisor for divisor in range(3, int(number**0.5) + 1, 2)))


class EveryCallIsOnTheBill(Case):
    def setUp(self) -> None:
        super().setUp()
        self.provider.input_price, self.provider.output_price = INPUT_PRICE, OUTPUT_PRICE
        self.provider.save()
        self.agent.compress_over_rounds, self.agent.keep_rounds = 2, 1
        self.agent.save()
        self.primes = primes()
        self.model.answer = self.answer

    def answer(self, call: Call) -> Reply:
        """Other usage for each call; one answer and the second summary come without, the third summary breaks off after some text."""
        if call.purpose == "summary":
            number = len(self.model.of("summary"))
            if number == 2:
                return Reply(tokens=("老师在出试卷，", "没有用量。"))
            if number == 3:
                return Reply(tokens=("老师在",), end="hang_up")
            return Reply(tokens=(f"老师在出试卷，第{number}份摘要。",), usage=(next(self.primes), next(self.primes)))
        usage = None if call.prompt.endswith(UNCOUNTED) else (next(self.primes), next(self.primes))
        return Reply(tokens=("好的。",), usage=usage)

    async def ten_turns(self) -> list[str]:
        threads = ["", ""]
        for turn in range(1, TURNS + 1):
            for place in (0, 1):
                threads[place] = (await self.send_by_form(f"第{place}会话第{turn}问", threads[place])).thread_id
            await self.settle()
        await self.settle()
        return threads

    def counted(self, purpose: str) -> list[tuple[int, int] | None]:
        """The usage that the service has told, call by call."""
        return [call.reply.usage for call in self.model.of(purpose)]

    async def test_rows_equal_what_the_service_counted(self) -> None:
        threads = await self.ten_turns()
        assert {call.purpose for call in self.model.calls} == {"answer", "extraction", "summary"}
        runs = [run async for run in Run.objects.order_by("created_at")]
        for run, usage in zip(runs, self.counted("answer"), strict=True):
            assert run.is_estimate is (usage is None) is (run.input == UNCOUNTED)
            assert run.input_tokens > 0 and run.output_tokens > 0 and run.cost == cost_of(run.input_tokens, run.output_tokens)
            assert usage is None or (run.input_tokens, run.output_tokens) == usage
        asked = [op async for op in MemoryOp.objects.filter(kind="extraction").order_by("created_at")]
        assert [(op.input_tokens, op.output_tokens) for op in asked] == self.counted("extraction")
        assert (len(asked), {op.outcome for op in asked}) == (len(runs), {"done"})
        ops = [op async for op in MemoryOp.objects.filter(kind="summary").order_by("created_at")]
        calls = self.model.of("summary")
        assert [op.thread_id for op in ops] == [call.headers["x-thread-id"] for call in calls]
        assert {op.thread_id for op in ops} == set(threads)
        for op, usage in zip(ops, self.counted("summary"), strict=True):
            assert (op.kind, op.provider_id, op.model, op.user_id) == ("summary", self.provider.pk, "stub", self.user.pk)
            assert op.is_estimate is (usage is None)
            assert usage is None or (op.input_tokens, op.output_tokens) == usage
            assert op.cost == cost_of(op.input_tokens, op.output_tokens)
        assert Counter(op.outcome for op in ops) == {"done": len(ops) - 1, "failed": 1}
        without, broken = ops[1], ops[2]
        assert (without.outcome, without.error_code) == ("done", "")
        assert (broken.outcome, broken.error_code) == ("failed", "stream_broken")
        for op in (without, broken):
            assert op.input_tokens > 200 and op.output_tokens > 0 and op.cost > 0
        await self.restart()

    async def test_what_is_shown_equals_what_was_counted_and_never_mixes(self) -> None:
        threads = await self.ten_turns()
        told = self.counted("answer")
        for place, thread_id in enumerate(threads):
            page = await self.get(f"/chat/t/{thread_id}/")
            for counted, run in zip(told[place::2], (await self.api(f"/threads/{thread_id}/runs"))["runs"], strict=True):
                self.check_shown(run, words(article(page, run["id"])), counted)
        runs = [run async for run in Run.objects.all()]
        ops = [op async for op in MemoryOp.objects.order_by("created_at")]
        await self.check_metrics(runs, [op for op in ops if op.kind == "summary"])
        await self.check_admin(ops, sum(run.cost for run in runs), sum(op.cost for op in ops))
        await self.restart()

    def check_shown(self, run: dict[str, Any], shown: str, counted: tuple[int, int] | None) -> None:
        """A round in the API and on the page."""
        usage = run["usage"]
        read, written = usage["input_tokens"], usage["output_tokens"]
        assert usage["is_estimate"] is (counted is None)
        assert counted is None or (read, written) == counted
        assert Decimal(usage["cost"]) == cost_of(read, written)
        tokens = f"{read + written:,} token"
        assert tokens in shown and (f"约 {tokens}" in shown) is (counted is None)

    async def test_request_that_was_not_taken_costs_nothing(self) -> None:
        self.model.answer = lambda _call: Reply(status=401, body="{}")
        refused = await self.send_by_form("问一")
        self.model.answer = lambda _call: Reply(tokens=("半截",), end="hang_up")
        broken = await self.send_by_form("问二", refused.thread_id)
        assert (refused.input_tokens, refused.output_tokens, refused.is_estimate, refused.cost) == (0, 0, False, 0)
        assert broken.is_estimate and broken.output_tokens > 0 and broken.cost == cost_of(broken.input_tokens, broken.output_tokens)

    async def check_metrics(self, runs: list[Run], ops: list[MemoryOp]) -> None:
        text = (await AsyncClient().get("/metrics")).content.decode()
        figures = {name: float(value) for name, value in re.findall(r"^(\w+(?:{[^}]*})?) ([\d.e+]+)$", text, re.MULTILINE)}
        for direction in ("input", "output"):
            of_runs, of_ops = (sum(getattr(row, f"{direction}_tokens") for row in rows) for rows in (runs, ops))
            assert figures[f'memoryapp_run_tokens_total{{direction="{direction}"}}'] == of_runs
            assert figures[f'memoryapp_memory_op_tokens_total{{direction="{direction}",kind="summary"}}'] == of_ops
        assert figures["memoryapp_run_cost_total"] == float(sum(run.cost for run in runs))
        assert figures['memoryapp_memory_op_cost_total{kind="summary"}'] == float(sum(op.cost for op in ops))
        assert figures['memoryapp_memory_ops_total{kind="summary",outcome="failed"}'] == 1

    async def check_admin(self, ops: list[MemoryOp], run_cost: Decimal, memory_cost: Decimal) -> None:
        """What the school's administrator sees: the totals, each call with its tokens, the estimate and the failure as such."""
        browser = AsyncClient()
        await browser.aforce_login(await sync_to_async(self.administrator)())
        index = words((await browser.get("/admin/", headers={"accept-language": ZH})).content.decode())
        for amount in (run_cost, memory_cost, run_cost + memory_cost):
            assert f" {amount:.2f} " in index
        listing = (await browser.get("/admin/chat/memoryop/", headers={"accept-language": ZH})).content.decode()
        rows = re.findall(r"<tr>.*?</tr>", listing, re.DOTALL)
        for op in ops:
            row = next(row for row in rows if op.pk in row)
            assert cell(row, "input_tokens") == str(op.input_tokens) and cell(row, "output_tokens") == str(op.output_tokens)
            assert Decimal(cell(row, "cost")) == op.cost
            assert (cell(row, "thread_key"), cell(row, "provider")) == (op.thread_id, self.provider.name)
            assert (cell(row, "kind"), cell(row, "duration_ms")) == (
                {"summary": "摘要", "extraction": "提取"}[op.kind],
                str(op.duration_ms),
            )
            assert f'alt="{op.is_estimate}"' in row
            assert cell(row, "error_code") == ("stream_broken" if op.outcome == "failed" else "-")
        estimated = next(op for op in ops if op.is_estimate)
        shown = (await browser.get(f"/admin/chat/memoryop/{estimated.pk}/change/")).content.decode()
        assert estimated.thread_id in shown and 'alt="True"' in shown

    def administrator(self) -> User:
        user = builders.teacher(self.school, role="admin")
        user.is_staff = True
        user.save()
        user.groups.add(Group.objects.get(name=SCHOOL_ADMINISTRATORS))
        return user


def cost_of(read: int, written: int) -> Decimal:
    return Decimal(INPUT_PRICE * read + OUTPUT_PRICE * written) / 1_000_000


def cell(row: str, name: str) -> str:
    found = re.search(f'class="field-{name}[^"]*">(.*?)</td>', row)
    assert found, name
    return words(found[1])
