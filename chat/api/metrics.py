"""`GET /metrics`: Prometheus. All figures come from the database, so every web process answers the same.

Only from loopback, or with `Authorization: Bearer METRICS_TOKEN`. Labels are states and kinds, never a person or a school.
"""

import ipaddress
import secrets
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal

from django.conf import settings
from django.db.models import Count, Sum
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from chat.api.authentication import bearer_token
from chat.api.backend_metrics import backend_figures
from chat.api.errors import NotAuthenticated
from chat.api.health import Backlog, read_backlog
from chat.models import MemoryOp, Run
from chat.runs.bridge import hop

# Durations are those of the last hour; the index of the ledgers' times finds these runs without reading the others.
RECENT = timedelta(hours=1)
RECENT_RUNS = 2_000
QUANTILES = (0.5, 0.9, 0.99)
PROXY_HEADERS = ("X-Forwarded-For", "Forwarded", "X-Real-IP")


async def metrics(request: HttpRequest) -> HttpResponse:
    if not may_read(request):
        raise NotAuthenticated
    return HttpResponse(await hop(_exposition), content_type=CONTENT_TYPE_LATEST)


def may_read(request: HttpRequest) -> bool:
    """Whether the call has the token, or comes from this machine itself; behind a proxy every call seems to."""
    header = request.headers.get("Authorization")
    if header is not None:
        given, expected = bearer_token(header), settings.METRICS_TOKEN
        return bool(expected) and secrets.compare_digest(given.encode(), expected.encode())
    if any(name in request.headers for name in PROXY_HEADERS):
        return False
    try:
        return ipaddress.ip_address(request.META.get("REMOTE_ADDR") or "").is_loopback
    except ValueError:
        return False


def _exposition() -> bytes:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Figures())
    return generate_latest(registry)


class _Figures(Collector):
    """Reads the figures when they are asked for."""

    def collect(self) -> Iterator[Metric]:
        yield from _runs()
        yield from _durations()
        yield from _memory_ops()
        yield from _background(read_backlog())
        yield from backend_figures()


def _runs() -> Iterator[Metric]:
    runs = CounterMetricFamily("memoryapp_runs", "Runs by status", labels=["status"])
    tokens = CounterMetricFamily("memoryapp_run_tokens", "Tokens of runs", labels=["direction"])
    cost = CounterMetricFamily("memoryapp_run_cost", "Cost of runs, in the currency of the prices")
    sums = (
        Run.objects.order_by()
        .values("status")
        .annotate(count=Count("pk"), read=Sum("input_tokens"), written=Sum("output_tokens"), paid=Sum("cost"))
    )
    by_status = {one["status"]: one for one in sums}
    for status in Run.Status.values:
        runs.add_metric([status], by_status.get(status, {}).get("count", 0))
    tokens.add_metric(["input"], sum(one["read"] for one in by_status.values()))
    tokens.add_metric(["output"], sum(one["written"] for one in by_status.values()))
    cost.add_metric([], float(sum(one["paid"] for one in by_status.values())))
    yield from (runs, tokens, cost)


def _durations() -> Iterator[Metric]:
    recent = Run.objects.filter(ledger__created_at__gte=timezone.now() - RECENT, finished_at__isnull=False)
    times = list(recent.order_by("-ledger__created_at").values_list("created_at", "first_token_at", "finished_at")[:RECENT_RUNS])
    whole = [(finished - created).total_seconds() for created, _, finished in times if finished]
    first = [(token - created).total_seconds() for created, token, _ in times if token]
    for name, seconds, words in (
        ("memoryapp_run_seconds", whole, "Seconds from a run's start to its end, of the last hour"),
        ("memoryapp_run_first_token_seconds", first, "Seconds from a run's start to its first token, of the last hour"),
    ):
        metric = GaugeMetricFamily(name, words, labels=["quantile"])
        for quantile in QUANTILES:
            metric.add_metric([str(quantile)], _quantile(sorted(seconds), quantile))
        yield metric


def _quantile(ordered: list[float], quantile: float) -> float:
    """The nearest-rank quantile; NaN, as Prometheus writes it, when there is nothing."""
    return ordered[min(len(ordered) - 1, int(quantile * len(ordered)))] if ordered else float("nan")


def _memory_ops() -> Iterator[Metric]:
    ops = CounterMetricFamily("memoryapp_memory_ops", "Background model calls", labels=["kind", "outcome"])
    tokens = CounterMetricFamily("memoryapp_memory_op_tokens", "Tokens of background model calls", labels=["kind", "direction"])
    cost = CounterMetricFamily("memoryapp_memory_op_cost", "Cost of background model calls", labels=["kind"])
    sums = (
        MemoryOp.objects.order_by()
        .values("kind", "outcome")
        .annotate(count=Count("pk"), read=Sum("input_tokens"), written=Sum("output_tokens"), paid=Sum("cost"))
    )
    by_kind: dict[str, list[Decimal]] = {}
    for one in sums:
        ops.add_metric([one["kind"], one["outcome"]], one["count"])
        totals = by_kind.setdefault(one["kind"], [Decimal(0)] * 3)
        for index, value in enumerate((one["read"], one["written"], one["paid"])):
            totals[index] += value
    for kind, (read, written, paid) in by_kind.items():
        tokens.add_metric([kind, "input"], float(read))
        tokens.add_metric([kind, "output"], float(written))
        cost.add_metric([kind], float(paid))
    yield from (ops, tokens, cost)


def _background(backlog: Backlog) -> Iterator[Metric]:
    waiting = GaugeMetricFamily("memoryapp_backlog_threads", "Threads with memory work waiting or under way")
    waiting.add_metric([], backlog.threads)
    yield waiting
    if backlog.worker_age_seconds is not None:
        age = GaugeMetricFamily("memoryapp_worker_age_seconds", "Seconds since a worker was last seen")
        age.add_metric([], backlog.worker_age_seconds)
        yield age
