"""Transcript: the rounds of a conversation as its owner reads them."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from chat.library.sources import Source, sources_of
from chat.models import Run, Thread

PAGE_RUNS = 30
SYNC_RUNS = 100  # more than these are behind only after hours without the socket; a reload shows the rest


def shown_runs(user: AbstractBaseUser, thread_id: str) -> QuerySet[Run]:
    """The active path of the user's thread, each run with its provider and the memory in its prompt."""
    runs = Run.objects.for_user(user).filter(thread_id=thread_id).active_path()
    return runs.select_related("provider", "embedder").with_memory()


@dataclass(frozen=True, slots=True)
class RunPage:
    """A part of a conversation, oldest round first. `earlier_than` is the slot before which there is more, None when there is not."""

    runs: list[Run]
    earlier_than: int | None


def page_of_runs(user: AbstractBaseUser, thread_id: str, before: int | None = None) -> RunPage:
    """The newest rounds, of those before the slot `before` when it is given."""
    found = shown_runs(user, thread_id)
    if before is not None:
        found = found.filter(slot__lt=before)
    runs = list(found.order_by("-slot")[: PAGE_RUNS + 1])
    has_earlier = len(runs) > PAGE_RUNS
    runs = runs[:PAGE_RUNS][::-1]
    return RunPage(runs, runs[0].slot if has_earlier else None)


def page_end_for(user: AbstractBaseUser, thread_id: str, run_id: str) -> int | None:
    """The `before` of a page that shows this run with some of what follows it; None when the newest page does, or there is no such run."""
    runs = Run.objects.for_user(user).filter(thread_id=thread_id)
    slot = runs.filter(pk=run_id).values_list("slot", flat=True).first()
    later = list(runs.active_path().filter(slot__gte=slot).values_list("slot", flat=True)[: PAGE_RUNS + 1]) if slot is not None else []
    return later[PAGE_RUNS // 2] if len(later) > PAGE_RUNS else None


@dataclass(frozen=True, slots=True)
class Seen:
    """What a page shows: the first and the last slot, the runs that go as far as it knows, and the finished ones."""

    first: int
    last: int
    going: Collection[str] = ()
    finished: Collection[str] | None = None  # None: the page did not say, so they are taken as right


def runs_behind(user: AbstractBaseUser, thread_id: str, seen: Seen) -> list[Run]:
    """The rounds in which a page is behind: newer ones, those that go, those it thinks go, and replaced ones."""
    places = Run.objects.for_user(user).filter(thread_id=thread_id, pk__in=seen.going).values("slot")
    behind = Q(slot__gt=seen.last) | Q(status__in=Run.GOING) | Q(slot__in=places)
    if seen.finished is not None:
        behind |= Q(slot__gte=seen.first) & ~Q(pk__in=seen.finished)
    return list(shown_runs(user, thread_id).filter(behind).order_by("-slot")[:SYNC_RUNS])[::-1]


def earlier_tries(user: AbstractBaseUser, run: Run) -> list[Run]:
    """The runs that stood in the place of `run` before it, newest first."""
    tries = Run.objects.for_user(user).filter(thread_id=run.thread_id, slot=run.slot, position__lt=run.position)
    return list(tries.select_related("provider", "embedder").order_by("-position"))


def export_markdown(user: AbstractBaseUser, thread: Thread) -> str:
    """The whole conversation as Markdown text, as it stands on the active path, with the names of the sources that answers cite."""
    new, question, incomplete = _("New conversation"), _("Question"), _("The answer is not complete.")
    parts = [f"# {thread.title or new}"]
    runs = list(shown_runs(user, thread.pk))
    sources = sources_of(runs)
    for run in runs:
        parts.append(f"## {question}\n\n{run.input}")
        note = "" if run.status == Run.Status.COMPLETED else f"*({incomplete})*"
        cited = _cited_lines(run.output, sources.get(run.pk, ()))
        parts.append("\n\n".join(part for part in (f"## {thread.agent.name}", run.output, cited, note) if part))
    return "\n\n".join(parts) + "\n"


def _cited_lines(output: str, sources: Iterable[Source]) -> str:
    """One line for each source whose mark stands in the answer."""
    deleted = _("deleted")
    cited = [source for source in sources if f"[{source.number}]" in output]
    return "\n".join(f"- \\[{source.number}] {source.mark.title or deleted}" for source in cited)
