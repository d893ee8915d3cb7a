"""Rows as JSON values (DESIGN §6). Times are ISO 8601 in UTC, costs decimal text."""

from collections.abc import Sequence
from datetime import UTC, datetime

from chat.api.answers import Json
from chat.library.sources import Source
from chat.memory.core.sources import Learnt
from chat.models import Agent, Run, RunLedger, Thread
from chat.presentation import trouble_words


def agent_json(agent: Agent) -> Json:
    """`agent` comes with its modes, provider and tenant."""
    return {
        "id": agent.pk,
        "name": agent.name,
        "description": agent.description,
        "tenant": {"id": agent.tenant_id, "name": agent.tenant.name},
        "modes": [{"id": mode.slug, "name": mode.name} for mode in agent.modes.all()],
        "model": agent.model,
        "is_local": agent.provider.is_local,
    }


def thread_json(thread: Thread, run_count: int) -> Json:
    """`run_count` counts the rounds of the active path."""
    return {
        "id": thread.pk,
        "title": thread.title,
        "status": thread.status,
        "incognito": thread.is_incognito,
        "updated_at": _time(thread.updated_at),
        "run_count": run_count,
    }


def learnt_json(learnt: Learnt) -> Json:
    """What was learnt from a thread and can be deleted with it."""
    return {
        "candidates": [{"id": candidate.pk, "text": candidate.text} for candidate in learnt.candidates],
        "facts": [{"id": fact.pk, "text": fact.text} for fact in learnt.facts],
    }


def run_json(run: Run, sources: Sequence[Source]) -> Json:
    """A round in the message stream of a thread; `output` grows while the run is going. `sources` from chat.library.sources."""
    return {
        "id": run.pk,
        "status": run.status,
        "input": run.input,
        "output": run.output,
        "citations": [_citation_json(source) for source in sources],
        "error": _error(run),
        "mode": run.mode or None,
        "created_at": _time(run.created_at),
        "finished_at": _time(run.finished_at),
        "usage": usage_json(run),
        "replaces": run.replaces_id,
    }


def outcome_json(run: Run, sources: Sequence[Source]) -> Json:
    """How a run ended; the ledger is told apart."""
    return {
        "run_id": run.pk,
        "thread_id": run.thread_id,
        "status": run.status,
        "output": run.output,
        "citations": [_citation_json(source) for source in sources],
        "error": _error(run),
        "usage": usage_json(run),
    }


def _citation_json(source: Source) -> Json:
    """What `[n]` in the output stands for, n being its place in the list from 1. Of a passage that is gone only the id is left."""
    return {
        "id": source.passage_id,
        "document": source.document_id or None,
        "name": source.name or None,
        "page": source.page,
        "heading": source.heading or None,
    }


def usage_json(run: Run) -> Json:
    return {
        "input_tokens": run.input_tokens,
        "output_tokens": run.output_tokens,
        "is_estimate": run.is_estimate,
        "cost": f"{run.cost:f}",
    }


def ledger_json(run: Run) -> Json | None:
    """What the model was told, whole: it is the owner's. None when it is no longer kept."""
    try:
        ledger = run.ledger
    except RunLedger.DoesNotExist:
        return None
    return {
        "segments": ledger.segments,
        "tools": ledger.tools,
        "total_tokens": ledger.total_tokens,
        "shared_tokens": ledger.shared_tokens,
        "shared_budget_tokens": ledger.shared_budget_tokens,
        "is_estimate": ledger.is_estimate,
    }


def _error(run: Run) -> Json | None:
    if run.status != Run.Status.FAILED:
        return None
    return {"code": run.error_code, "message": trouble_words(run)}


def _time(at: datetime | None) -> str | None:
    return None if at is None else at.astimezone(UTC).isoformat().replace("+00:00", "Z")
