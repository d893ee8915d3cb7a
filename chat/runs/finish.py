"""Finish: one transaction writes the run's final state and says that its thread has memory work."""

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils import timezone

from chat.models import Run, SearchText, Thread, Work


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended. Tokens are the sums over all requests of the run."""

    status: str
    output: str
    error_code: str = ""
    reasoning: str = ""
    tool_calls: list[dict[str, Any]] = field(default_factory=list)
    input_tokens: int = 0
    output_tokens: int = 0
    is_estimate: bool = False
    cost: Decimal = Decimal(0)
    first_token_at: datetime | None = None


def finish_run(run_id: str, thread_id: str, outcome: Outcome) -> Run:
    """Ends a run that is still going and returns its row as it is then.

    A run that the sweep has ended meanwhile keeps that verdict (RUNTIME 4), but gets the text and the costs, of which the
    sweep knew only the last checkpoint.
    """
    now = timezone.now()
    told = {
        "output": outcome.output,
        "reasoning": outcome.reasoning,
        "tool_calls": outcome.tool_calls,
        "input_tokens": outcome.input_tokens,
        "output_tokens": outcome.output_tokens,
        "is_estimate": outcome.is_estimate,
        "cost": outcome.cost,
        "first_token_at": outcome.first_token_at,
    }
    verdict = {"status": outcome.status, "error_code": outcome.error_code, "heartbeat_at": now, "finished_at": now}
    with transaction.atomic():
        rows = Run.objects.filter(pk=run_id)
        if rows.going().update(**told, **verdict):
            after_end([thread_id], now)
        else:
            rows.filter(status=Run.Status.FAILED, error_code="interrupted").update(**told)
        # With what pages show of it, so that no viewer has to look it up again.
        run = rows.select_related("thread", "provider", "embedder").with_memory().get()
        SearchText.objects.keep_run(run)
    return run


def after_end(thread_ids: list[str], now: datetime) -> None:
    """What follows when runs have ended, in their transaction: the threads move up and have memory work."""
    Thread.objects.filter(pk__in=thread_ids).update(updated_at=now)
    for thread_id in thread_ids:
        Work.objects.mark(Work.Kind.THREAD, thread_id)
