"""Finish: one transaction writes the run's final state and says that its thread has memory work."""

import copy
import json
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from django.db import connection, transaction
from django.utils import timezone

from chat.models import Run, SearchText, Thread, Work
from chat.models.writing import update
from chat.runs.start import Prepared

# What tools may have written of a run that goes.
NOTED: Final = "SELECT citations, EXISTS (SELECT 1 FROM chat_noteop WHERE run_id = chat_run.id) FROM chat_run WHERE id = %s"


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


def finish_run(run_id: str, thread_id: str, outcome: Outcome, prepared: Prepared | None = None) -> Run:
    """Ends a run that is still going and returns its row as it is then, with what pages show of it; `prepared` spares reading that.

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
        if update(Run, told | verdict, "id = %s AND status IN (%s, %s)", [run_id, *Run.GOING]):
            after_end([thread_id], now)
            run = _ended(prepared, told | verdict) if prepared is not None else _read(run_id)
        else:
            update(Run, told, "id = %s AND status = %s AND error_code = %s", [run_id, Run.Status.FAILED, "interrupted"])
            run = _read(run_id)
        SearchText.objects.keep_run(run)
    return run


def _read(run_id: str) -> Run:
    run: Run = Run.objects.filter(pk=run_id).select_related("thread", "provider", "embedder").with_memory().get()
    return run


def _ended(prepared: Prepared, changes: dict[str, Any]) -> Run:
    """As `_read`, of a run whose end has just been written, in the same transaction."""
    run: Any = copy.copy(prepared.run)  # viewers hold the row of the run that goes
    for name, value in changes.items():
        setattr(run, name, value)
    first = prepared.ledger.segments[1]
    run.memory_tokens, run.core_name, run.core_ids = prepared.ledger.shared_tokens, first.name, first.source_ids
    run.backend_ids = next((one.source_ids for one in prepared.ledger.segments if one.name == "external"), None)
    with connection.cursor() as cursor:
        cursor.execute(NOTED, [run.pk])
        citations, has_notes = cursor.fetchone()
    run.citations, run.has_notes = json.loads(citations), bool(has_notes)
    ended: Run = run
    return ended


def after_end(thread_ids: list[str], now: datetime) -> None:
    """What follows when runs have ended, in their transaction: the threads move up and have memory work."""
    for thread_id in thread_ids:
        update(Thread, {"updated_at": now}, "id = %s", [thread_id])
        Work.objects.mark(Work.Kind.THREAD, thread_id)
