"""The threads of an assistant, the message stream of a thread, the archive, and the end of a thread."""

from collections.abc import Awaitable, Callable
from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import Count, Q
from django.http import HttpRequest, JsonResponse
from django.utils import timezone

from chat.api.answers import Json, json_answer
from chat.api.authentication import Caller
from chat.api.body import check_names, optional_ids, read_object
from chat.api.errors import Impossible, NotFound
from chat.api.query import choice_of, encode_cursor, limit_of, microseconds, search_of, slot_cursor_of, time_cursor_of
from chat.api.shapes import learnt_json, run_json, thread_json
from chat.finding import holding
from chat.library.sources import sources_of
from chat.memory.core.sources import learnt_from
from chat.models import Agent, Run, Thread
from chat.runs.bridge import hop
from chat.runs.delete import delete_thread

STATUSES = ("active", "archived", "all")


async def list_threads(request: HttpRequest, caller: Caller, agent_id: str) -> JsonResponse:
    """`GET /agents/{agent_id}/threads`, newest first."""
    wanted = Q() if (status := choice_of(request, "status", STATUSES)) == "all" else Q(status=status)
    search, limit, cursor = search_of(request), limit_of(request), time_cursor_of(request)
    return json_answer(await hop(_threads, caller.user, agent_id, wanted, search, limit=limit, cursor=cursor))


def _threads(user: User, agent_id: str, wanted: Q, search: str, *, limit: int, cursor: tuple[datetime, str] | None) -> Json:
    if not Agent.objects.for_user(user).filter(pk=agent_id).exists():
        raise NotFound
    if cursor is not None:
        wanted &= Q(updated_at__lt=cursor[0]) | Q(updated_at=cursor[0], pk__lt=cursor[1])
    threads = holding(Thread.objects.for_user(user).filter(wanted, agent_id=agent_id), search)
    found = list(threads.order_by("-updated_at", "-pk")[: limit + 1])
    page = found[:limit]
    counts = _run_counts(page)
    return {
        "threads": [thread_json(thread, counts.get(thread.pk, 0)) for thread in page],
        "next_cursor": encode_cursor(microseconds(page[-1].updated_at), page[-1].pk) if len(found) > limit else None,
    }


def _run_counts(threads: list[Thread]) -> dict[str, int]:
    """The rounds on the active path of each thread."""
    runs = Run.objects.filter(thread__in=threads, is_latest=True)
    return dict(runs.values_list("thread_id").annotate(count=Count("pk")))


async def list_runs(request: HttpRequest, caller: Caller, thread_id: str) -> JsonResponse:
    """`GET /threads/{thread_id}/runs`: the active path, oldest first."""
    limit, cursor = limit_of(request), slot_cursor_of(request)
    return json_answer(await hop(_runs, caller.user, thread_id, limit, cursor))


def _runs(user: User, thread_id: str, limit: int, cursor: int | None) -> Json:
    if not Thread.objects.for_user(user).filter(pk=thread_id).exists():
        raise NotFound
    runs = Run.objects.for_user(user).filter(thread_id=thread_id).active_path().defer("reasoning", "tool_calls")
    if cursor is not None:
        runs = runs.filter(slot__gt=cursor)
    found = list(runs[: limit + 1])
    page = found[:limit]
    sources = sources_of(page)
    return {
        "runs": [run_json(run, sources.get(run.pk, ())) for run in page],
        "next_cursor": encode_cursor(page[-1].slot) if len(found) > limit else None,
    }


def move_thread(status: Thread.Status) -> Callable[..., Awaitable[JsonResponse]]:
    """The calls that put a thread into the archive and take it out; doing it twice changes nothing."""

    async def call(request: HttpRequest, caller: Caller, thread_id: str) -> JsonResponse:
        check_names(read_object(request, may_be_empty=True), known=())
        return json_answer(await hop(_move, caller.user, thread_id, status))

    return call


def _move(user: User, thread_id: str, status: Thread.Status) -> Json:
    mine = Thread.objects.for_user(user).filter(pk=thread_id)
    if status == Thread.Status.ARCHIVED and mine.filter(is_incognito=True).exists():
        raise Impossible("thread_is_incognito")
    # The new time brings the change to open pages, which look for threads that were touched.
    mine.exclude(status=status).update(status=status, updated_at=timezone.now())
    thread = mine.first()
    if thread is None:
        raise NotFound
    return thread_json(thread, _run_counts([thread]).get(thread.pk, 0))


async def show_thread(request: HttpRequest, caller: Caller, thread_id: str) -> JsonResponse:
    """`GET /threads/{thread_id}`: the thread, and what was learnt from it and can be deleted with it."""
    return json_answer(await hop(_thread, caller.user, thread_id))


def _thread(user: User, thread_id: str) -> Json:
    thread = Thread.objects.for_user(user).filter(pk=thread_id).first()
    if thread is None:
        raise NotFound
    return thread_json(thread, _run_counts([thread]).get(thread.pk, 0)) | {"learnt": learnt_json(learnt_from(user, thread_id))}


async def end_thread(request: HttpRequest, caller: Caller, thread_id: str) -> JsonResponse:
    """`DELETE /threads/{thread_id}`: stops what goes in it and deletes it, with the chosen of what was learnt from it."""
    values = read_object(request, may_be_empty=True)
    check_names(values, ("candidates", "facts"))
    candidates, facts = optional_ids(values, "candidates"), optional_ids(values, "facts")
    deleted = await delete_thread(caller.user, thread_id, candidate_ids=candidates, fact_ids=facts)
    if deleted is None:
        raise NotFound
    return json_answer({"id": thread_id, "candidates": deleted.candidate_ids, "facts": deleted.fact_ids})
