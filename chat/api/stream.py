"""A run as Server-Sent Events (DESIGN §6): started, ledger, then deltas, reasoning and tools, then how it ended.

Nothing is queued for a client. The run keeps its text, and each client has only the offsets up to which it was told:
one that lags gets fewer and longer deltas, one that joins late gets the text so far as its first.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator, Sequence

from django.contrib.auth.models import User
from django.utils import translation

from chat.api.answers import Json
from chat.api.errors import NotFound
from chat.api.shapes import ledger_json, outcome_json
from chat.library.sources import Source, sources_of
from chat.models import Run
from chat.runs import live
from chat.runs.beat import watch
from chat.runs.bridge import hop
from chat.runs.events import Event, RunEnded
from chat.runs.start import Started

COMMENT_SECONDS = 15.0  # DESIGN §6: proxies close what is silent
COMMENT = b": \n\n"


def frame(name: str, values: Json) -> bytes:
    """One event. The JSON is ASCII, so that readers which also break lines at U+2028 or U+0085 read it whole."""
    return f"event: {name}\ndata: {json.dumps(values)}\n\n".encode()


class Viewer:
    """How far one client was told of a run. `ended` is the run's row once it has ended."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self.ended: Run | None = None
        self._news = asyncio.Event()
        self._offset = self._reasoning_offset = self._tools = 0

    def deliver(self, event: Event) -> None:
        if event.run_id != self.run_id:
            return
        if isinstance(event, RunEnded):
            self.ended = event.run
        self._news.set()

    async def has_news(self, within_seconds: float) -> bool:
        """Waits for something to tell; false when nothing came in that time."""
        try:
            async with asyncio.timeout(within_seconds):
                await self._news.wait()
        except TimeoutError:
            return False
        self._news.clear()
        return True

    def frames(self, text: str, reasoning: str, tool_calls: list[Json]) -> Iterator[bytes]:
        """What the client does not know yet of the run's whole text, reasoning and tool calls."""
        if len(reasoning) > self._reasoning_offset:
            yield frame("reasoning", self._piece(self._reasoning_offset, reasoning))
            self._reasoning_offset = len(reasoning)
        for call in tool_calls[self._tools :]:
            yield frame("tool", {"run_id": self.run_id} | {name: call[name] for name in ("name", "arguments", "is_ok")})
        self._tools = max(self._tools, len(tool_calls))
        if len(text) > self._offset:
            yield frame("delta", self._piece(self._offset, text))
            self._offset = len(text)

    def _piece(self, offset: int, whole: str) -> Json:
        return {"run_id": self.run_id, "offset": offset, "text": whole[offset:]}


async def run_frames(
    user: User, started: Started, *, language: str | None, comment_seconds: float = COMMENT_SECONDS
) -> AsyncGenerator[bytes, None]:
    """The events of the run until it has ended, for a client that is there from the start or comes late.

    `language` comes as a value: the request's is no longer active when the response is streamed.
    """
    if live.get(started.run_id) is None:
        await watch(started.thread_id)  # it goes in another process, or has ended
    viewer = Viewer(started.run_id)
    leave = live.subscribe(started.thread_id, viewer.deliver)
    try:
        yield frame("started", {"run_id": started.run_id, "thread_id": started.thread_id})
        row = await hop(_row, user, started.run_id)
        yield frame("ledger", {"run_id": started.run_id, "ledger": row and ledger_json(row)})
        while viewer.ended is None and row is not None and row.is_going:
            going = live.get(started.run_id)
            if going is not None:
                for one in viewer.frames(going.text, going.reasoning, going.tool_calls):
                    yield one
            if not await viewer.has_news(comment_seconds):
                yield COMMENT
                row = await hop(_row, user, started.run_id)
        ended = viewer.ended or row
        sources = (await hop(sources_of, [ended])).get(ended.pk, []) if ended is not None and ended.citations else ()
        for one in _last_frames(viewer, started, ended, language, sources=sources):
            yield one
    finally:
        leave()


def _row(user: User, run_id: str) -> Run | None:
    return Run.objects.for_user(user).select_related("ledger").filter(pk=run_id).first()


def _last_frames(viewer: Viewer, started: Started, row: Run | None, language: str | None, *, sources: Sequence[Source]) -> Iterator[bytes]:
    """What is left of the text, then the one event that ends the stream."""
    with translation.override(language):
        if row is None:  # deleted while the client watched
            gone = {"code": NotFound.code, "message": NotFound().message()}
            outcome = {"run_id": started.run_id, "thread_id": started.thread_id, "status": Run.Status.FAILED}
            yield frame("failed", outcome | {"output": "", "citations": [], "error": gone, "usage": None})
            return
        yield from viewer.frames(row.output, row.reasoning, row.tool_calls)
        yield frame(row.status, outcome_json(row, sources))
