"""The figures of memory backends in `/metrics` (seed 002 §14): those that all processes have stored, and what waits.

Without a backend outside there are none, and nothing is asked for.
"""

from collections import defaultdict
from collections.abc import Iterator

from django.conf import settings
from django.db.models import F, OuterRef, Subquery, Value
from django.db.models.functions import Coalesce
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric, SummaryMetricFamily, UntypedMetricFamily

from chat.memory.external import chosen
from chat.models import LayerState, RemoteFigure, Run, Work

LAYER = "external"
# Name without its suffix → what it is, and its labels. A row with another name or other labels is left out.
HELP: dict[str, tuple[str, tuple[str, ...]]] = {
    "openviking_requests": ("Requests to OpenViking by what they were for and how they ended", ("operation", "status")),
    "openviking_request_duration_seconds": ("How long requests to OpenViking took", ("operation",)),
    "openviking_commit": ("Commits of sessions by how they ended", ("status",)),
    "openviking_search_results": ("Memories that searches found", ("operation",)),
    "openviking_degraded": ("How often an answer or a message did without OpenViking, and why", ("reason",)),
}
Values = dict[tuple[str, ...], float]


def backend_figures() -> Iterator[Metric]:
    if not chosen.installed().capabilities.is_external:
        return
    stored: dict[str, Values] = defaultdict(dict)
    for name, labels, value in RemoteFigure.objects.order_by("name", "labels").values_list("name", "labels", "value"):
        named = dict(label.split("=", 1) for label in labels.split(",") if "=" in label)
        stored[name][tuple(named[label] for label in sorted(named))] = value
    for known, (words, names) in HELP.items():
        yield from _metric(known, words, names, stored)
    pending = GaugeMetricFamily("openviking_pending_writes", "Conversations with rounds that the memory backend has not got yet")
    pending.add_metric([], pending_writes(settings.MEMORY_MANAGER))
    yield pending


def _metric(name: str, words: str, labels: tuple[str, ...], stored: dict[str, Values]) -> Iterator[Metric]:
    """As a counter, as sum and count, or as it stands: whatever was stored under the name."""
    if values := _with(labels, stored[f"{name}_total"]):
        counter = CounterMetricFamily(name, words, labels=labels)
        for of, value in values.items():
            counter.add_metric(of, value)
        yield counter
    if counts := _with(labels, stored[f"{name}_count"]):
        summary = SummaryMetricFamily(name, words, labels=labels)
        for of, count in counts.items():
            summary.add_metric(of, int(count), stored[f"{name}_sum"].get(of, 0))
        yield summary
    elif values := _with(labels, stored[name]):
        plain = UntypedMetricFamily(name, words, labels=labels)
        for of, value in values.items():
            plain.add_metric(of, value)
        yield plain


def _with(labels: tuple[str, ...], values: Values) -> Values:
    return {of: value for of, value in values.items() if len(of) == len(labels)}


def pending_writes(backend: str) -> int:
    """Threads with rounds that the backend has not got yet. Each is marked as work, so only those are looked at."""
    upto = LayerState.objects.filter(thread=OuterRef("thread"), layer=LAYER).values("upto_slot")
    waiting = Work.objects.filter(kind=Work.Kind.THREAD).values("subject_id")
    runs = Run.objects.filter(backend=backend, is_latest=True, thread_id__in=waiting).exclude(status__in=Run.GOING)
    behind = runs.annotate(upto=Coalesce(Subquery(upto), Value(0))).filter(slot__gt=F("upto"))
    return behind.order_by().values("thread_id").distinct().count()
