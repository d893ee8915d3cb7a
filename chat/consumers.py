"""The live page: one socket a page, for the rounds of a thread and for what changes for its user (DESIGN §3, RUNTIME 7).

Everything that goes out passes one queue, which one task empties: what a page is told keeps its order, and a message
that is being stored never holds up a stop. A page that cannot keep up is closed, and comes back.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any
from urllib.parse import parse_qs

from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db import DatabaseError
from django.utils import timezone, translation

from chat.actions import BadAction, Send, Stop, Sync, parse
from chat.frames import Gap, Told, frame
from chat.library.sources import Source, sources_of
from chat.memory.notes.shortcut import content_of
from chat.models import Run
from chat.note_lines import WRITERS, NoteLine, notes_html, notes_of, notes_of_run
from chat.presentation import refusal_words, run_card, run_html, tools_html
from chat.runs import beat, launch, live
from chat.runs.bridge import hop
from chat.runs.errors import RunRefused, SignedOut
from chat.runs.events import News, ReasoningAdded, RunEnded, RunStarted, TextAdded, ToolUsed
from chat.runs.start import Order
from chat.runs.stop import stop
from chat.sidebar import remember_agent
from chat.transcript import runs_behind, shown_runs
from chat.viewer import Fragment, Viewer, find_viewer, fragments, may_stay, memory_badge

OUTBOX_EVENTS = 1_000  # 50 s of one run at full pace
SENDS_AT_ONCE = 4
FRAME_MAX_BYTES = 1024 * 1024
ANONYMOUS, NOT_FOUND, TOO_SLOW, BROKEN = 4401, 4404, 4408, 1011

log = logging.getLogger(__name__)


class PageConsumer(AsyncWebsocketConsumer):
    """The socket of one page, with a thread or without."""

    channel_layer_alias = "none"  # what viewers are told comes from chat.runs.live
    guard_seconds = 60.0

    viewer: Viewer
    user: AbstractBaseUser

    async def connect(self) -> None:
        self._endings: list[Callable[[], None]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._outbox: asyncio.Queue[Any] = asyncio.Queue(OUTBOX_EVENTS)
        self._told: dict[str, Told] = {}
        self._shown: dict[str, str] = {}
        self._is_closing = False
        user = self.scope.get("user")
        if user is None or not user.is_authenticated:
            await self.close(ANONYMOUS)
            return
        self.user = user
        thread_id = self.scope["url_route"]["kwargs"].get("thread_id", "")
        agent_ids = parse_qs(self.scope.get("query_string", b"").decode("ascii", "replace")).get("agent", [""])
        viewer = await hop(find_viewer, user, thread_id, agent_ids[0], self.scope)
        if viewer is None:
            await self.close(NOT_FOUND)
            return
        self.viewer = viewer
        if thread_id:
            await beat.watch(thread_id)
            self._endings.append(live.subscribe(thread_id, self._deliver))
        self._endings.append(live.subscribe_user(user.pk, self._deliver))
        beat.ensure_running()
        await self.accept()
        self._spawn(self._write())
        self._spawn(self._guard())

    async def _guard(self) -> None:
        """Closes the page's socket soon after its user may no longer read what it shows."""
        while await hop(may_stay, self.user.pk, self.scope["session"].session_key, self.viewer.thread_id):
            await asyncio.sleep(self.guard_seconds)
        await self._sign_out()

    async def _sign_out(self) -> None:
        if not self._is_closing:
            self._is_closing = True
            await self.close(ANONYMOUS)

    async def disconnect(self, code: int) -> None:
        for end in self._endings:
            end()
        for task in self._tasks:
            if task.get_name() == "writer":
                task.cancel()

    def _spawn(self, work: Coroutine[Any, Any, None], name: str = "writer") -> None:
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._settle)

    def _settle(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not self._is_closing:
            log.error("The page's socket failed in %s", task.get_name(), exc_info=error)
            self._is_closing = True
            self._spawn(self.close(BROKEN), "close")  # the page comes back and is told all

    def _deliver(self, item: Any) -> None:  # noqa: ANN401  an event, news, a synchronisation or a ready frame
        """Takes what is to go out; never waits."""
        if self._is_closing:
            return
        try:
            self._outbox.put_nowait(item)
        except asyncio.QueueFull:
            self._is_closing = True
            self._spawn(self.close(TOO_SLOW), "close")

    # What comes in

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if text_data is not None and len(text_data) > FRAME_MAX_BYTES // 4 and len(text_data.encode(errors="replace")) > FRAME_MAX_BYTES:
            self._refuse("", "frame_too_large")
            return
        try:
            action = parse(text_data)
        except BadAction as error:
            self._refuse(error.key, "bad_frame")
            return
        if isinstance(action, Stop):
            if not await stop(self.user, action.run_id):
                self._refuse("", "not_found")
        elif not self.viewer.thread_id:
            self._refuse(action.key if isinstance(action, Send) else "", "bad_frame")
        elif isinstance(action, Sync):
            self._deliver(action)
        elif sum(task.get_name() == "send" for task in self._tasks) >= SENDS_AT_ONCE:
            self._refuse(action.key, "rate_limited")
        else:
            # In a task of its own: frames are handled one at a time, so a stop would wait for it.
            self._spawn(self._send(action), "send")

    async def _send(self, action: Send) -> None:
        order = Order(
            user_id=self.user.pk,
            agent_id=self.viewer.agent_id,
            thread_id=self.viewer.thread_id,
            input=action.input,
            mode=action.mode,
            key=action.key,
            replaces=action.replaces,
        )
        try:
            # Asked again for each message: the user may have logged out in another tab, which the guard has not seen yet.
            started = await launch.start(order, partial(may_stay, self.user.pk, self.scope["session"].session_key, ""))
        except SignedOut:
            await self._sign_out()
        except RunRefused as error:
            self._refuse(action.key, error.code)
        except (DatabaseError, OSError):  # the disk of the notes, too
            self._refuse(action.key, "unavailable")
        else:
            self._deliver(frame("sent", key=action.key, run=started.run_id))
            if self.viewer.last_agent_id != self.viewer.agent_id:
                self.viewer.last_agent_id = self.viewer.agent_id
                await hop(remember_agent, self.user.pk, self.viewer.agent_id)

    def _refuse(self, key: str, code: str) -> None:
        with translation.override(self.viewer.language):
            self._deliver(frame("error", key=key, code=code, message=refusal_words(code)))

    # What goes out

    async def _write(self) -> None:
        """Empties the queue, in the viewer's language and time zone."""
        translation.activate(self.viewer.language)
        timezone.activate(self.viewer.time_zone or settings.TIME_ZONE)
        while True:
            item = await self._outbox.get()
            if isinstance(item, str):
                await self.send(item)
            elif isinstance(item, TextAdded | ReasoningAdded):
                await self._grow(item)
            elif isinstance(item, RunStarted):
                await self._put(await self._join(item.run_id))
            elif isinstance(item, ToolUsed):
                await self._use(item)
            elif isinstance(item, RunEnded):
                await self._put(await self._end(item))
            elif isinstance(item, News):
                await self._tell_news(item)
            elif isinstance(item, Sync):
                await self._catch_up(item)

    async def _put(self, text: str) -> None:
        if text:
            await self.send(text)

    async def _grow(self, event: TextAdded | ReasoningAdded) -> None:
        told = self._told.get(event.run_id)
        if told is None:  # joins with the next synchronisation
            return
        try:
            text = told.add(event, self.viewer.language) if isinstance(event, TextAdded) else told.think(event)
        except Gap:
            del self._told[event.run_id]
            text = await self._join(event.run_id)
        await self._put(text)

    async def _join(self, run_id: str) -> str:
        """The whole of a run that goes, "" when the page has it or the run has ended meanwhile."""
        going = live.get(run_id)
        notes = await self._notes(going.run) if going is not None and _may_have_noted(going) else ()
        going = live.get(run_id)  # nothing is awaited between this look and the note of how far the page is told
        if going is None or run_id in self._told:
            return ""
        return self._run_frame(going.run, going, notes=notes)

    async def _notes(self, run: Run) -> Sequence[NoteLine]:
        return (await hop(notes_of, self.user, [run])).get(run.pk, ())

    def _run_frame(
        self, run: Run, going: live.LiveRun | None = None, sources: Sequence[Source] = (), notes: Sequence[NoteLine] = ()
    ) -> str:
        card = run_card(run, self.viewer.agent_name, going, sources, notes)
        if run.is_going:
            text = going.text if going is not None else run.output
            self._told[run.pk] = Told.of(text, card.closed, card.reasoning_offset)
        else:
            self._told.pop(run.pk, None)
        return frame("run", run=run.pk, html=run_html(card), to=card.offset)

    async def _use(self, event: ToolUsed) -> None:
        """Tells which tools were used, and what has come of it in the notes."""
        going = live.get(event.run_id)
        if going is None:
            return
        await self.send(frame("tool", run=event.run_id, html=tools_html(going.tool_calls)))
        if event.name in WRITERS:
            notes = await hop(notes_of_run, self.user, event.run_id)
            await self.send(frame("notes", run=event.run_id, html=notes_html(notes)))

    async def _end(self, event: RunEnded) -> str:
        self._told.pop(event.run_id, None)
        run: Run | None = event.run
        if not hasattr(run, "memory_tokens"):
            run = await hop(shown_runs(self.user, event.thread_id).filter(pk=event.run_id).first)
        if run is None:
            return ""
        sources = (await hop(sources_of, [run])).get(run.pk, []) if run.citations else ()
        notes = await self._notes(run) if getattr(run, "has_notes", False) else ()
        return event.formatted(f"frame:run:{self.viewer.language}", lambda _event: self._run_frame(run, None, sources, notes))

    async def _catch_up(self, action: Sync) -> None:
        """Tells what the page lacks: rounds first, then what stands around them."""
        runs = await hop(runs_behind, self.user, self.viewer.thread_id, action.seen)
        sources = await hop(sources_of, runs) if any(run.citations for run in runs) else {}
        notes = await hop(notes_of, self.user, runs) if any(getattr(run, "has_notes", False) for run in runs) else {}
        for run in runs:
            # No await between the look at the run that goes and the note of how far the page is told.
            going = live.get(run.pk) if run.is_going else None
            await self.send(self._run_frame(run, going, sources.get(run.pk, ()), notes.get(run.pk, ())))
        await self._tell(await hop(fragments, self.user, self.viewer, has_status=True))

    async def _tell_news(self, news: News) -> None:
        if news.thread_ids or news.has_more:
            await self._tell(await hop(fragments, self.user, self.viewer, has_status=False))
        elif news.has_memory:
            await self._tell([await hop(memory_badge, self.user, self.viewer)])
        if news.is_worker_away is not None:
            await self._tell([self.viewer.status(is_away=news.is_worker_away)])

    async def _tell(self, found: list[Fragment]) -> None:
        """Sends the fragments that differ from what this page was told last."""
        for one in found:
            if self._shown.get(one.target) != one.html:
                self._shown[one.target] = one.html
                await self.send(frame("fragment", target=one.target, html=one.html))


def _may_have_noted(going: live.LiveRun) -> bool:
    return any(call["name"] in WRITERS for call in going.tool_calls) or bool(content_of(going.run.input))
