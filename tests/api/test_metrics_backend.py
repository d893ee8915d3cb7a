"""The figures of a memory backend, by the names that the design gives them."""

from typing import Any
from unittest.mock import patch

from asgiref.sync import sync_to_async
from django.db import OperationalError
from django.test import TransactionTestCase
from prometheus_client.parser import text_string_to_metric_families

from chat.api.backend_metrics import backend_figures
from chat.jobs.worker import Worker
from chat.memory.external import chosen
from chat.memory.external.figures import METER, Figures
from chat.models import LayerState, RemoteFigure, Work
from chat.runs import beat
from chat.runs.sweep import RunSweeper
from tests import builders
from tests.api.cases import ApiCase
from tests.scripted_backend import NAME, scripted_backend


def stored_by_two_processes() -> None:
    for meter in (Figures(), Figures()):
        meter.count("openviking_requests_total", operation="search", status="200")
        meter.count("openviking_requests_total", operation="messages.add", status="timeout")
        meter.observe("openviking_request_duration_seconds", 0.25, operation="search")
        meter.count("openviking_commit_total", status="accepted")
        meter.count("openviking_search_results", 3, operation="search")
        meter.count("openviking_degraded_total", reason="memory_timeout")
        meter.store()


class BackendFigureTests(ApiCase):
    async def text(self) -> str:
        return (await self.http.get("/metrics")).content.decode()

    async def figures(self) -> dict[tuple[str, ...], float]:
        families = text_string_to_metric_families(await self.text())
        found = {
            (one.name, *(f"{name}={value}" for name, value in sorted(one.labels.items()))): one.value for f in families for one in f.samples
        }
        return {key: value for key, value in found.items() if key[0].startswith("openviking")}

    async def test_all_six_are_there_by_name_and_label_over_all_processes(self) -> None:
        await sync_to_async(stored_by_two_processes)()
        with scripted_backend():
            assert await self.figures() == {
                ("openviking_requests_total", "operation=search", "status=200"): 2,
                ("openviking_requests_total", "operation=messages.add", "status=timeout"): 2,
                ("openviking_request_duration_seconds_count", "operation=search"): 2,
                ("openviking_request_duration_seconds_sum", "operation=search"): 0.5,
                ("openviking_commit_total", "status=accepted"): 2,
                ("openviking_search_results", "operation=search"): 6,
                ("openviking_degraded_total", "reason=memory_timeout"): 2,
                ("openviking_pending_writes",): 0,
            }

    async def test_threads_whose_rounds_have_not_gone_there_are_counted(self) -> None:
        await sync_to_async(self.some_wait)()
        with scripted_backend():
            assert (await self.figures())["openviking_pending_writes",] == 2

    def some_wait(self) -> None:
        """Two wait, one of them from its second round on; one is there; one is not for the backend; one is still going."""
        for upto, fields in ((0, {}), (1, {}), (2, {}), (0, {"backend": ""}), (0, {"status": "running"})):
            thread = builders.thread(self.user, self.agent)
            for _ in range(2):
                builders.run(thread, **{"backend": NAME} | fields)
            LayerState.objects.create(thread=thread, layer="external", upto_slot=upto)
            Work.objects.mark("thread", thread.pk)

    async def test_without_such_a_backend_there_are_none(self) -> None:
        await sync_to_async(stored_by_two_processes)()
        assert "openviking" not in await self.text()


def test_with_the_built_in_backend_nothing_is_asked(django_assert_num_queries: Any, db: None) -> None:
    chosen.forget_managers()
    with django_assert_num_queries(0):
        assert list(backend_figures()) == []


class StoreTests(TransactionTestCase):
    def test_nothing_is_stored_where_nothing_was_counted(self) -> None:
        assert not METER.has_more
        with self.assertNumQueries(0):
            METER.store()

    def test_what_could_not_be_stored_is_kept_for_the_next_time(self) -> None:
        meter = Figures()
        meter.count("openviking_commit_total", 2, status="accepted")
        with patch.object(RemoteFigure.objects, "filter", side_effect=OperationalError), self.assertRaises(OperationalError):
            meter.store()
        meter.count("openviking_commit_total", status="accepted")
        meter.store()
        assert RemoteFigure.objects.get().value == 3

    def test_a_worker_stores_what_it_counted_also_when_it_only_drains(self) -> None:
        METER.count("openviking_commit_total", status="accepted")
        Worker("w").drain()
        assert RemoteFigure.objects.get().value == 1

    async def test_a_web_process_stores_what_it_counted_at_its_end(self) -> None:
        METER.count("openviking_commit_total", status="accepted")
        await beat.shutdown()
        assert (await RemoteFigure.objects.aget()).value == 1

    def test_a_beat_stores_it_with_its_sweep(self) -> None:
        METER.count("openviking_commit_total", status="accepted")
        beat._sweep(RunSweeper())
        assert RemoteFigure.objects.get().value == 1
