"""Runs: start and wait, start and stream, stop."""

import asyncio
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest, JsonResponse, StreamingHttpResponse
from django.utils import translation
from django.utils.translation import gettext as _

from chat.api.answers import Json, json_answer
from chat.api.authentication import Caller
from chat.api.body import check_names, optional_flag, optional_text, read_object, text
from chat.api.errors import InvalidField, NotFound, NotYet
from chat.api.shapes import ledger_json, outcome_json
from chat.api.stream import run_frames
from chat.library.sources import sources_of
from chat.models import Run
from chat.runs import launch
from chat.runs.bridge import hop
from chat.runs.start import Order
from chat.runs.stop import stop

KEY_MAX_CHARS = 100
LOOK_AGAIN_SECONDS = 0.5  # at a run of another process

FIELDS = ("input", "thread_id", "mode", "incognito", "context")


@dataclass(frozen=True, slots=True)
class RunBody:
    """What a caller sent; "" and None are what was left out."""

    input: str
    thread_id: str
    mode: str
    is_incognito: bool | None
    continued_run_id: str


def parse_run_body(values: dict[str, Any]) -> RunBody:
    """Raises InvalidField for the first field that is not as described."""
    check_names(values, FIELDS)
    thread_id = optional_text(values, "thread_id")
    if thread_id == "":
        raise InvalidField("thread_id", _("Must not be empty; leave it out to begin a new thread."))
    context = {} if values.get("context") is None else values["context"]
    if not isinstance(context, dict):
        raise InvalidField("context", _("Must be an object."))
    check_names(context, ("run_id",), within="context.")
    return RunBody(
        input=text(values, "input"),
        thread_id=thread_id or "",
        mode=optional_text(values, "mode") or "",
        is_incognito=optional_flag(values, "incognito"),
        continued_run_id=optional_text(context, "run_id", field="context.run_id") or "",
    )


def key_of(request: HttpRequest) -> str:
    """The Idempotency-Key: 1 to 100 visible ASCII characters; "" when there is none."""
    key = request.headers.get("Idempotency-Key")
    if key is None:
        return ""
    if not 1 <= len(key) <= KEY_MAX_CHARS or not all("!" <= char <= "~" for char in key):
        raise InvalidField("Idempotency-Key", _("Must be 1 to %(most)d visible ASCII characters.") % {"most": KEY_MAX_CHARS})
    return key


def _order(request: HttpRequest, caller: Caller, agent_id: str, *, on_continue: str) -> Order:
    """The order of a call. Raises ApiError; `on_continue` is the code when an earlier run is to be continued."""
    key = key_of(request)
    body = parse_run_body(read_object(request))
    if body.continued_run_id:
        raise NotYet(on_continue)
    return Order(
        user_id=caller.user.pk,
        agent_id=agent_id,
        input=body.input,
        thread_id=body.thread_id,
        mode=body.mode,
        key=key,
        is_incognito=body.is_incognito,
    )


async def run(request: HttpRequest, caller: Caller, agent_id: str) -> JsonResponse:
    """`POST /agents/{agent_id}/run`: answers when the run has ended, however it ended. A caller that goes away does not stop it."""
    started = await launch.start(_order(request, caller, agent_id, on_continue="continue_needs_stream"))
    while True:
        await asyncio.shield(launch.wait(started.run_id))
        result = await hop(_result, caller.user, started.run_id)
        if result is not None:
            return json_answer(result)
        await asyncio.sleep(LOOK_AGAIN_SECONDS)


def _result(user: User, run_id: str) -> Json | None:
    """How the run ended; None while it is going. Raises NotFound when it was deleted meanwhile."""
    row = Run.objects.for_user(user).select_related("ledger").filter(pk=run_id).first()
    if row is None:
        raise NotFound
    if row.is_going:
        return None
    return outcome_json(row, sources_of([row]).get(row.pk, ())) | {"ledger": ledger_json(row)}


async def run_stream(request: HttpRequest, caller: Caller, agent_id: str) -> StreamingHttpResponse:
    """`POST /agents/{agent_id}/run/stream`: Server-Sent Events. A caller that goes away does not stop the run."""
    started = await launch.start(_order(request, caller, agent_id, on_continue="continue_not_ready"))
    frames = run_frames(caller.user, started, language=translation.get_language())
    return StreamingHttpResponse(
        frames,
        content_type="text/event-stream; charset=utf-8",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def stop_run(request: HttpRequest, caller: Caller, run_id: str) -> JsonResponse:
    """`POST /runs/{run_id}/stop`: asks the run to stop and answers with its status; one that has ended stays as it is."""
    check_names(read_object(request, may_be_empty=True), known=())
    if not await stop(caller.user, run_id):
        raise NotFound
    return json_answer(await hop(_standing, caller.user, run_id))


def _standing(user: User, run_id: str) -> Json:
    row = Run.objects.for_user(user).only("thread_id", "status").filter(pk=run_id).first()
    if row is None:
        raise NotFound
    return {"run_id": row.pk, "thread_id": row.thread_id, "status": row.status}
