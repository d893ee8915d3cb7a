"""What a memory backend remembers to a question: planned in the hop that starts a run, fetched on the loop beside the
question's vector, used in a second hop (RUNTIME 11).

It costs the backend's own time limit at most, and after some failures nothing: whatever goes wrong, the answer comes
without it, and the run keeps the code (seed 002 §8, §10.4).
"""

import asyncio
import logging
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from django.utils import timezone

from chat.memory.backends.base import BackendError, ContextBudget, MemoryContext, MemoryItem, MemoryScope
from chat.memory.base import Remembered, Turn
from chat.memory.external import chosen
from chat.memory.external.figures import METER
from chat.memory.external.forgetting import forgotten_at, is_forgetting, scope_of
from chat.memory.external.permission import NOT_AGREED, may_send
from chat.memory.external.tell import ITEMS_LOOKED_AT, ROOM_CHARS
from chat.memory.meaning.breaker import Breaker, breaker_of
from chat.text.redlines import head_of, redact

log = logging.getLogger(__name__)

FORGETTING: Final = "memory_forgetting"  # the teacher has asked to forget everything, and it is not all gone yet
PAUSED: Final = "memory_paused"  # it has failed several times, and is left alone for a while
TIMEOUT: Final = "memory_timeout"
FAILED: Final = "memory_error"
# Nothing is wrong when memory was not asked for these reasons.
AS_WANTED: Final = frozenset({"", NOT_AGREED, FORGETTING})
ASKED_CHARS: Final = 2_000
_late: set[asyncio.Task[MemoryContext]] = set()  # calls that were given up and have not ended yet


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be asked of which backend, before a run can be started."""

    backend: str
    scope: MemoryScope
    query: str
    seconds: float
    at: datetime

    @property
    def breaker(self) -> Breaker:
        return breaker_of("memory", self.backend)


def plan(turn: Turn) -> Plan | Remembered | None:
    """What to ask for this turn, or what is known without asking; None without a backend that could be asked, which costs no query."""
    if not turn.backend:
        return None
    manager = chosen.manager(turn.backend)
    if not manager.capabilities.can_search:
        return None
    if code := withheld(turn):
        return Remembered(code=code)
    query = redact(head_of(turn.question, ASKED_CHARS))
    found = Plan(turn.backend, scope_of(turn.owner), query, manager.read_seconds, timezone.now())
    if found.breaker.is_open:
        _degraded(turn.backend, PAUSED)
        return Remembered(code=PAUSED)
    return found


def withheld(turn: Turn) -> str:
    """Why nothing may be asked of the turn's backend; "" when it may. At most two queries, none without a backend."""
    if not turn.backend:
        return ""
    if not may_send(turn.owner, turn.backend):
        return NOT_AGREED
    return FORGETTING if is_forgetting(scope_of(turn.owner), turn.backend) else ""


def still(turn: Turn, remembered: Remembered | None) -> Remembered | None:
    """What of it may be told now: the teacher may have withdrawn, or had everything forgotten, since it was asked for."""
    if not turn.backend or remembered is None:
        return None
    code = withheld(turn)
    if not code and remembered.asked_at is not None:
        forgotten = forgotten_at(scope_of(turn.owner), turn.backend)
        code = FORGETTING if forgotten is not None and forgotten >= remembered.asked_at else ""
    return Remembered(code=code) if code else remembered


async def fetch(what: Plan) -> Remembered:
    """Asks once, within the limit; fails open."""
    breaker, is_ill, is_counted = what.breaker, True, False
    breaker.note_trial()
    try:
        items = _checked(await _within(what))
    except TimeoutError:
        code = TIMEOUT
    except BackendError as error:
        # What it would refuse again is about this question alone; it says nothing of how the backend is.
        code, is_ill, is_counted = error.code[:40] or FAILED, error.is_retryable, True
    except Exception as error:  # noqa: BLE001  whatever a backend does, the chat goes on
        # The name of the class alone: its text may hold what the backend said.
        log.warning("%s failed in a way that was not foreseen: %s", what.backend, type(error).__name__)
        code = FAILED
    else:
        breaker.note_success()
        return Remembered(items, asked_at=what.at)
    if is_ill:
        breaker.note_failure()
    _degraded(what.backend, code, is_counted=is_counted)
    return Remembered(code=code)


async def _within(what: Plan) -> MemoryContext:
    """The limit is hard: a call that does not end when it is cancelled is left behind."""
    budget = ContextBudget(ROOM_CHARS, what.seconds)
    call = asyncio.ensure_future(chosen.manager(what.backend).get_context(what.scope, what.query, budget))
    try:
        async with asyncio.timeout(what.seconds):
            await asyncio.wait({call})
    finally:
        if not call.done():
            call.cancel()
            _late.add(call)
            call.add_done_callback(_ended_late)
    if call.cancelled():
        raise BackendError("the call was cancelled")
    return call.result()


def _ended_late(call: "asyncio.Task[MemoryContext]") -> None:
    _late.discard(call)
    if not call.cancelled():
        call.exception()  # asked for, so that asyncio does not log it with its text


def _checked(context: MemoryContext) -> tuple[MemoryItem, ...]:
    """The items, as the database can keep them: text of a foreign server can hold what no row takes."""
    return tuple(
        replace(
            item, id=_storable(item.id), content=_storable(item.content), category=_storable(item.category), source=_storable(item.source)
        )
        for item in context.items[:ITEMS_LOOKED_AT]
    )


def _storable(text: str) -> str:
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def _degraded(backend: str, code: str, *, is_counted: bool = False) -> None:
    """Says that an answer goes without. `is_counted`: the backend has raised it, and so has counted it itself."""
    log.warning("%s.degraded reason=%s operation=get_context", backend, code)
    if not is_counted:
        METER.count(f"{backend}_degraded_total", reason=code)
