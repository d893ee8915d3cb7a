"""Mirrors: the runs of other processes, as far as they are watched here."""

from django.db.models import Q

from chat.models import Run
from chat.runs import live
from chat.runs.bridge import hop
from chat.runs.live import LiveRun


def stored(thread_ids: list[str], own_ids: list[str], mirrored_ids: list[str]) -> list[Run]:
    """The runs of other processes that go in these threads, and what became of those mirrored. Sync; one query, or none."""
    if not thread_ids and not mirrored_ids:
        return []
    going = Q(thread_id__in=thread_ids, status__in=Run.GOING)
    return list(Run.objects.filter(going | Q(pk__in=mirrored_ids)).exclude(pk__in=own_ids))


async def adopt(thread_id: str) -> None:
    """Brings what is known here of the thread's runs in other processes up to what is stored."""
    own = [one.run_id for one in live.own_runs()]
    mirrored = [one.run_id for one in live.mirrors() if one.thread_id == thread_id]
    for run in await hop(stored, [thread_id], own, mirrored):
        take(run)


def take(run: Run) -> None:
    """Brings the mirror of a run up to its stored text; ends it when the run has ended."""
    going = live.get(run.pk)
    if going is None:
        if not run.is_going:
            return
        going = LiveRun(run)
        live.open_run(going)
    elif going.task is not None:
        return
    going.catch_up(0, run.output)
    if not run.is_going:
        live.close_run(going, run)
