"""The figures above the admin site's index: is the worker there, what waits, what fails, what it costs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from django.db.models import Count, Q, QuerySet, Sum
from django.http import HttpRequest
from django.utils import timezone

from chat.admin.base import administrated_schools
from chat.memory.external import chosen, start
from chat.memory.external.permission import NOT_AGREED
from chat.memory.external.waiting import Waiting, waiting
from chat.models import Document, LayerState, MemoryOp, Run, Thread, Work, WorkerBeat


@dataclass(frozen=True, slots=True)
class Failing:
    """A layer that is in trouble in `threads` conversations, for one reason."""

    layer: str
    error_code: str
    threads: int


@dataclass(frozen=True, slots=True)
class Missed:
    """How many answers of the last hour came without the memory backend, for one reason."""

    code: str
    answers: int


@dataclass(frozen=True, slots=True)
class Outside:
    """The memory backend outside: `missed` says what it did not do lately, `degraded` what this process found as it started."""

    title: str
    place: str
    missed: Sequence[Missed]
    degraded: str


@dataclass(frozen=True, slots=True)
class Overview:
    """`worker_age_seconds` is None when no worker is running. Costs are those of the calendar month."""

    worker_age_seconds: float | None
    backlog: int
    failing: list[Failing]
    run_cost: Decimal
    memory_cost: Decimal
    forgetting: Sequence[Waiting] = ()
    outside: Outside | None = None

    @property
    def cost(self) -> Decimal:
        return self.run_cost + self.memory_cost


def overview(request: HttpRequest) -> Overview:
    """For a superuser of all schools, for anybody else of the schools that they administrate."""
    threads, runs, operations = Thread.objects.all(), Run.objects.all(), MemoryOp.objects.all()
    work, layers, school_ids = Work.objects.all(), LayerState.objects.all(), None
    if not request.user.is_superuser:
        schools = school_ids = administrated_schools(request.user)
        threads, runs, operations = (
            threads.filter(tenant__in=schools),
            runs.filter(tenant__in=schools),
            operations.filter(tenant__in=schools),
        )
        documents = Document.objects.filter(tenant__in=schools)
        work = work.filter(Q(subject_id__in=threads.values("pk")) | Q(subject_id__in=documents.values("pk")))
        layers = layers.filter(thread__tenant__in=schools)
    month = timezone.localtime().replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    newest = WorkerBeat.objects.order_by("-beat_at").values_list("beat_at", flat=True).first()
    failing = layers.exclude(error_code="").values_list("layer", "error_code").annotate(threads=Count("pk")).order_by("-threads")[:10]
    return Overview(
        worker_age_seconds=(timezone.now() - newest).total_seconds() if newest else None,
        backlog=work.count(),
        failing=[Failing(*row) for row in failing],
        run_cost=runs.filter(created_at__gte=month).aggregate(sum=Sum("cost"))["sum"] or Decimal(0),
        forgetting=waiting(school_ids),
        outside=_outside(runs),
        memory_cost=operations.filter(created_at__gte=month).aggregate(sum=Sum("cost"))["sum"] or Decimal(0),
    )


def _outside(runs: QuerySet[Run]) -> Outside | None:
    """None without a memory backend outside; then nothing is asked."""
    capabilities = chosen.installed().capabilities
    if not capabilities.is_external:
        return None
    lately = runs.filter(created_at__gte=timezone.now() - timedelta(hours=1)).exclude(backend_code__in=["", NOT_AGREED])
    counted = lately.order_by().values_list("backend_code").annotate(answers=Count("pk")).order_by("-answers")
    return Outside(capabilities.title, capabilities.place, [Missed(*row) for row in counted[:3]], start.degraded())
