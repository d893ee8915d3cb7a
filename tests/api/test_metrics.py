"""Figures for Prometheus, and who may read them."""

from datetime import timedelta

from django.test import AsyncClient, override_settings
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from chat.models import MemoryOp, Run, RunLedger, Work, WorkerBeat
from tests import builders
from tests.api.cases import ApiCase

TOKEN = override_settings(METRICS_TOKEN="metrics-secret")


class CallerFrom(AsyncClient):
    """A caller at an address."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self.address = address

    def _base_scope(self, **request: object) -> dict:
        return super()._base_scope(**request) | {"client": [self.address, 1234]}


class AccessTests(ApiCase):
    async def status(self, address: str = "127.0.0.1", **headers: str) -> int:
        response = await CallerFrom(address).get("/metrics", headers=headers)
        if response.status_code != 200:
            assert self.error_of(response, 401) == "not_authenticated"
        return response.status_code

    async def test_this_machine_may_read(self) -> None:
        assert [await self.status(address) for address in ("127.0.0.1", "127.8.8.8", "::1")] == [200, 200, 200]

    async def test_others_may_not(self) -> None:
        for address in ("10.0.0.7", "192.0.2.1", "::2", "", "localhost"):
            with self.subTest(address):
                assert await self.status(address) == 401

    async def test_call_through_a_proxy_is_not_from_this_machine(self) -> None:
        for header in ("X-Forwarded-For", "Forwarded", "X-Real-IP"):
            with self.subTest(header):
                assert await self.status(**{header: "127.0.0.1"}) == 401

    @TOKEN
    async def test_token_opens_from_everywhere(self) -> None:
        headers = {"Authorization": "Bearer metrics-secret", "X-Forwarded-For": "10.0.0.7"}
        assert await self.status("192.0.2.1", **headers) == 200

    @TOKEN
    async def test_wrong_token_is_refused_even_here(self) -> None:
        assert await self.status(Authorization="Bearer metrics-secre") == 401

    async def test_without_a_setting_no_token_opens(self) -> None:
        assert [await self.status(Authorization=header) for header in ("Bearer", "Bearer ", "Bearer x")] == [401, 401, 401]

    async def test_token_of_a_user_is_not_the_token_of_the_metrics(self) -> None:
        assert await self.status(Authorization=f"Bearer {self.token}") == 401


class FigureTests(ApiCase):
    def setUp(self) -> None:
        super().setUp()
        thread = builders.thread(self.user, self.agent, title="很私密的题目")
        now = timezone.now()
        for seconds in (1, 2, 3):
            run = builders.run(
                thread, created_at=now - timedelta(seconds=seconds), first_token_at=now - timedelta(seconds=seconds - 0.5),
                finished_at=now, input_tokens=10, output_tokens=20, cost="0.5",
            )  # fmt: skip
            RunLedger.objects.create(run=run, created_at=now)
        builders.run(thread, status="failed", error_code="stream_broken")
        MemoryOp.objects.create(
            tenant=self.school, user=self.user, thread=thread, kind="summary", outcome="done", input_tokens=5, output_tokens=6, cost="0.25"
        )
        Work.objects.mark("thread", thread.pk)
        WorkerBeat.objects.create(worker="w1", beat_at=now - timedelta(seconds=4))

    async def figures(self) -> dict[tuple[str, ...], float]:
        response = await self.http.get("/metrics")
        families = text_string_to_metric_families(response.content.decode())
        return {(sample.name, *sample.labels.values()): sample.value for family in families for sample in family.samples}

    async def test_runs_are_counted_with_tokens_and_cost(self) -> None:
        figures = await self.figures()
        assert figures["memoryapp_runs_total", "completed"] == 3
        assert figures["memoryapp_runs_total", "failed"] == 1
        assert figures["memoryapp_runs_total", "running"] == 0
        assert figures["memoryapp_run_tokens_total", "input"] == 30
        assert figures["memoryapp_run_tokens_total", "output"] == 60
        assert figures["memoryapp_run_cost_total",] == 1.5

    async def test_durations_are_of_the_runs_that_ended(self) -> None:
        figures = await self.figures()
        assert abs(figures["memoryapp_run_seconds", "0.5"] - 2) < 0.01
        assert abs(figures["memoryapp_run_seconds", "0.99"] - 3) < 0.01
        assert abs(figures["memoryapp_run_first_token_seconds", "0.5"] - 0.5) < 0.01

    async def test_memory_work_is_counted_apart(self) -> None:
        figures = await self.figures()
        assert figures["memoryapp_memory_ops_total", "summary", "done"] == 1
        assert figures["memoryapp_memory_op_tokens_total", "output", "summary"] == 6
        assert figures["memoryapp_memory_op_cost_total", "summary"] == 0.25
        assert figures["memoryapp_backlog_threads",] == 1
        assert 4 <= figures["memoryapp_worker_age_seconds",] < 30

    async def test_nothing_personal_is_in_it(self) -> None:
        text = (await self.http.get("/metrics")).content.decode()
        run = await Run.objects.afirst()
        for secret in (self.user.username, self.school.name, self.school.pk, "很私密", run.pk, self.agent.pk, self.agent.name):
            assert secret not in text

    async def test_empty_database_has_figures_too(self) -> None:
        await Run.objects.all().adelete()
        assert (await self.figures())["memoryapp_runs_total", "completed"] == 0
