"""Start: one hop that checks an order, stores thread and run, and prepares what the model is told."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from chat.memory.base import Remembered, Turn
from chat.memory.endpoints import endpoint_of
from chat.memory.external import ask
from chat.memory.external.chosen import external_of
from chat.memory.knowledge.telling import are_there
from chat.memory.ledger import Ledger, to_row
from chat.memory.meaning.account import note_question
from chat.memory.meaning.ask import Meaning
from chat.memory.meaning.ask import Plan as MeaningPlan
from chat.memory.meaning.ask import plan as plan_meaning
from chat.memory.notes import shortcut, snapshot
from chat.memory.read import QuestionTooLong, assemble
from chat.memory.recall.entries import are_kept
from chat.memory.switches import off_by
from chat.memory.tools import tools_named
from chat.models import Agent, AgentMode, NoteSnapshot, Owner, Run, SearchText, Thread
from chat.models.ids import new_id
from chat.models.opened import opened_thread
from chat.models.run import MOST_SLOTS, finished_rounds
from chat.models.thread import TITLE_CHARS, rewind, step_before
from chat.models.work import rewind_layers
from chat.models.writing import insert
from chat.providers.base import Endpoint, Request
from chat.runs.errors import (
    AgentNotFound,
    IncognitoMismatch,
    InputEmpty,
    InputInvalid,
    InputTooLong,
    KeyConflict,
    ModeNotFound,
    ReplacesMismatch,
    RunRefused,
    ThreadMismatch,
    TooManyRuns,
)
from chat.runs.title import title_of

ROUNDS_READ = 24  # at least; what lies before those that are read is counted
# As plain SQL: asked at each message, and building one by the ORM takes ten times as long as the query.
IS_USED: Final = "SELECT EXISTS (SELECT 1 FROM chat_run WHERE user_id = %s AND key = %s)"
SENT_SINCE: Final = "SELECT COUNT(*) FROM chat_run WHERE user_id = %s AND created_at > %s"
NEXT_POSITION: Final = """
UPDATE chat_thread SET last_position = last_position + 1, updated_at = %s, status = %s WHERE id = %s RETURNING last_position"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a caller asks for. Empty `thread_id` makes a new thread; `key` makes a repeated order the same run.

    `is_incognito` makes the new thread an incognito one. With a `thread_id` it must agree with the thread; None, which
    says nothing, always does. `skips_guide`: the teacher has answered the first-use guide of a new thread with "skip".
    """

    user_id: int
    agent_id: str
    input: str
    thread_id: str = ""
    mode: str = ""
    key: str = ""
    replaces: str = ""
    is_incognito: bool | None = None
    skips_guide: bool = False


@dataclass(frozen=True, slots=True)
class Prepared:
    """What the run's task needs; it touches the database again only to call tools and to finish."""

    run: Run
    agent: Agent
    endpoint: Endpoint
    request: Request
    ledger: Ledger
    owner: Owner


@dataclass(frozen=True, slots=True)
class Started:
    """The run that answers an order. `is_new` is false when its key had been used before by the same order."""

    run_id: str
    thread_id: str
    is_new: bool
    prepared: Prepared | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be asked on the loop before the run can be started; of the memory `backend`, also what is known without asking."""

    meaning: MeaningPlan | None
    memory: ask.Plan | Remembered | None
    backend: str

    @property
    def is_empty(self) -> bool:
        return self.meaning is None and not isinstance(self.memory, ask.Plan)


@dataclass(frozen=True, slots=True)
class Fetched:
    """What came of a plan. `backend` is the memory backend that was planned for."""

    meaning: Meaning | None = None
    remembered: Remembered | None = None
    backend: str = ""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the run goes: its thread (None: a new one) and the run it replaces."""

    thread: Thread | None
    replaced: Run | None


class Erased(Exception):
    """A conversation or a document of which the model should be told was deleted while the run started."""


class Refrozen(Exception):
    """Another run of the thread has frozen its notes while this one started."""


def start_run(order: Order, fetched: Fetched | None = None) -> Started:
    """Checks and stores an order; `fetched` is what came of its plan. Raises RunRefused; then nothing is stored."""
    started = _begin(order, fetched or Fetched(), can_ask=False)
    assert isinstance(started, Started)
    return started


def start_or_plan(order: Order) -> Started | Plan:
    """As `start_run`; but where the question's meaning or a memory backend can be asked first, only says so and stores nothing."""
    return _begin(order, Fetched(), can_ask=True)


def _begin(order: Order, fetched: Fetched, *, can_ask: bool) -> Started | Plan:
    _check_input(order.input)
    thread = _thread(order) if order.thread_id else None
    agent = thread.agent if thread is not None else _agent(order)
    mode = agent.modes.filter(slug=order.mode).first() if order.mode else None
    if order.mode and mode is None:
        raise ModeNotFound("mode")
    known = _known(order)
    if known is not None:
        return known
    try:
        return _start(order, agent, mode, thread, fetched=fetched, can_ask=can_ask)
    except (IntegrityError, RunRefused):
        known = _known(order)  # the same form was sent twice at the same moment
        if known is None:
            raise
        return known


def _start(order: Order, agent: Agent, mode: AgentMode | None, thread: Thread | None, *, fetched: Fetched, can_ask: bool) -> Started | Plan:
    _check_rate(order.user_id)
    place = _place(order, thread)
    turn = _turn(order, agent, mode, place)
    if can_ask:
        waits = Plan(plan_meaning(turn), ask.plan(turn), turn.backend)
        if not waits.is_empty:
            return waits
        turn = replace(turn, remembered=waits.memory) if isinstance(waits.memory, Remembered) else turn
    else:
        turn = _with_fetched(turn, fetched)
    while True:
        try:
            ledger = assemble(turn)
            run = _store(order, turn, place, ledger, fetched.meaning)
            shortcut.remember(run, agent)
            return Started(run.pk, run.thread_id, True, _prepare(run, agent, turn.owner, ledger))
        except QuestionTooLong as error:
            raise InputTooLong("input", tokens=error.tokens, limit=error.limit_tokens) from None
        except Erased:  # nothing was stored, and now it is not found any more
            turn = replace(turn, remembered=ask.still(turn, turn.remembered))
        except Refrozen:
            turn = replace(turn, notes=NoteSnapshot.objects.filter(thread=place.thread).first())


def _with_fetched(turn: Turn, fetched: Fetched) -> Turn:
    """The turn with what was fetched for it, as far as that may still be told: everything is asked anew."""
    remembered = ask.still(turn, fetched.remembered) if fetched.backend == turn.backend else None
    vector = fetched.meaning.vector if fetched.meaning is not None else None
    return replace(turn, vector=vector, remembered=remembered)


def _check_input(text: str) -> None:
    if not text.strip():
        raise InputEmpty("input")
    if "\x00" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise InputInvalid("input")
    if len(text) > settings.INPUT_MAX_CHARS:
        raise InputTooLong("input", chars=len(text), limit=settings.INPUT_MAX_CHARS)


def _known(order: Order) -> Started | None:
    """The run of an earlier order with the same key; KeyConflict when that was another message."""
    if not order.key or not _is_used(order):
        return None
    run = Run.objects.select_related("thread").get(user_id=order.user_id, key=order.key)
    is_same_place = order.thread_id == run.thread_id or (not order.thread_id and run.position == 1)
    wanted = order.is_incognito if order.thread_id else bool(order.is_incognito)
    is_same_kind = run.position > 1 or wanted in (None, run.thread.is_incognito)
    if (
        not is_same_place
        or not is_same_kind
        or order.replaces != (run.replaces_id or "")
        or (run.agent_id, run.input, run.mode) != (order.agent_id, order.input, order.mode)
    ):
        raise KeyConflict("key")
    return Started(run.pk, run.thread_id, False)


def _is_used(order: Order) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(IS_USED, [order.user_id, order.key])
        return bool(cursor.fetchone()[0])


def _check_rate(user_id: int) -> None:
    since = connection.ops.adapt_datetimefield_value(timezone.now() - timedelta(minutes=1))
    with connection.cursor() as cursor:
        cursor.execute(SENT_SINCE, [user_id, since])
        sent: int = cursor.fetchone()[0]
    if sent >= settings.RUNS_PER_MINUTE:
        raise TooManyRuns(limit=settings.RUNS_PER_MINUTE)


def _thread(order: Order) -> Thread | None:
    """The user's thread with the assistant of the order, which comes with it; None when it has another one, or is not theirs."""
    thread = opened_thread(order.user_id, order.thread_id)
    if thread is None or thread.agent_id != order.agent_id:
        return None
    return thread if thread.agent.is_active and thread.agent.tenant_id == thread.tenant_id else None


def _agent(order: Order) -> Agent:
    user = get_user_model()(pk=order.user_id)
    try:
        return Agent.objects.for_user(user).select_related("provider", "tenant").get(pk=order.agent_id)
    except Agent.DoesNotExist:
        raise AgentNotFound("agent_id") from None


def _place(order: Order, thread: Thread | None) -> _Place:
    if order.thread_id:
        if thread is None:
            raise ThreadMismatch("thread_id")
        if order.is_incognito not in (None, thread.is_incognito):
            raise IncognitoMismatch("incognito")
    if not order.replaces:
        return _Place(thread, None)
    replaced = Run.objects.filter(pk=order.replaces, thread=thread, is_latest=True).first() if thread else None
    if replaced is None or replaced.is_going:
        raise ReplacesMismatch("replaces")
    return _Place(thread, replaced)


def _turn(order: Order, agent: Agent, mode: AgentMode | None, place: _Place) -> Turn:
    """What the read path looks at: rounds before the place of the run, behind the summary that still holds there."""
    owner = Owner(agent.tenant_id, order.user_id, agent.pk)
    thread = place.thread
    is_incognito = thread.is_incognito if thread is not None else bool(order.is_incognito)
    has_memory = not off_by(owner, is_incognito=is_incognito)
    notes = snapshot.of_turn(owner, agent, thread, asks=not order.skips_guide) if has_memory else None
    backend = external_of(agent) if has_memory else ""
    if thread is None:
        return Turn(owner, agent, mode, None, [], 0, order.input, has_memory, notes=notes, backend=backend)
    if place.replaced is not None and place.replaced.slot <= thread.summary_upto_slot:
        step = step_before(thread.pk, place.replaced.slot)
        thread.rolling_summary = step.text if step else ""
        thread.summary_upto_slot = step.upto_slot if step else 0
    before = place.replaced.slot if place.replaced is not None else MOST_SLOTS
    most = max(ROUNDS_READ, agent.compress_over_rounds + agent.keep_rounds)  # as many as the assistant lets stand
    rounds, older = finished_rounds(thread.pk, after=thread.summary_upto_slot, before=before, most=most)
    return Turn(owner, agent, mode, thread, rounds, older, order.input, has_memory, notes=notes, backend=backend)


def _store(order: Order, turn: Turn, place: _Place, ledger: Ledger, meaning: Meaning | None) -> Run:
    """Writes thread, run and ledger together; the position comes from updating the thread's row (RUNTIME 5)."""
    now = timezone.now()
    agent, cited = turn.agent, ledger.sources_of("knowledge")
    with transaction.atomic():
        if place.thread is None:
            thread, position = _new_thread(order, turn.owner, now), 1
        else:
            thread = place.thread
            position = _next_position(thread.pk, now)
        if turn.notes is not None and not snapshot.keep(turn.notes, thread.pk, is_new=place.thread is None):
            raise Refrozen
        slot = position
        if place.replaced is not None:
            slot = _take_over(thread.pk, place.replaced)
        run = Run(
            tenant_id=agent.tenant_id,
            agent_id=agent.pk,
            user_id=order.user_id,
            thread=thread,
            position=position,
            slot=slot,
            replaces=place.replaced,
            key=order.key or None,
            mode=order.mode,
            has_memory=turn.has_memory,
            backend=turn.backend,
            backend_code=turn.remembered.code if turn.remembered is not None else "",
            citations=cited,
            input=order.input,
            provider=agent.provider,
            model=agent.model,
            embedder=meaning.told if meaning is not None else None,
            created_at=now,
            heartbeat_at=now,
        )
        insert(run)
        recalled = ledger.sources_of("recall")
        if recalled and not are_kept(turn.owner, recalled) or cited and not are_there(cited):
            raise Erased
        if ledger.sources_of("external") and ask.still(turn, turn.remembered) != turn.remembered:
            raise Erased
        insert(to_row(run.pk, ledger))
        SearchText.objects.keep_run(run)
        if meaning is not None:
            note_question(turn.owner, thread.pk, meaning.asked)
    return run


def _next_position(thread_id: str, now: datetime) -> int:
    with connection.cursor() as cursor:
        cursor.execute(NEXT_POSITION, [connection.ops.adapt_datetimefield_value(now), Thread.Status.ACTIVE, thread_id])
        found = cursor.fetchone()
    if found is None:
        raise ThreadMismatch("thread_id")  # deleted in this moment
    position: int = found[0]
    return position


def _take_over(thread_id: str, replaced: Run) -> int:
    """Puts the new run in the place of `replaced` on the active path, and drops the part of the summary that knew it."""
    if not Run.objects.filter(pk=replaced.pk, is_latest=True).update(is_latest=False):
        raise ReplacesMismatch("replaces")
    rewind(thread_id, replaced.slot)
    rewind_layers(thread_id, replaced.slot)
    return replaced.slot


def _new_thread(order: Order, owner: Owner, now: datetime) -> Thread:
    thread_id = new_id("th")
    is_incognito = bool(order.is_incognito)
    thread = Thread.objects.create(
        pk=thread_id,
        tenant_id=owner.tenant_id,
        agent_id=order.agent_id,
        user_id=owner.user_id,
        title=title_of(order.input, TITLE_CHARS, owner, "" if is_incognito else thread_id),
        is_incognito=is_incognito,
        last_position=1,
        created_at=now,
        updated_at=now,
    )
    SearchText.objects.keep_title(thread)
    return thread


def _prepare(run: Run, agent: Agent, owner: Owner, ledger: Ledger) -> Prepared:
    request = Request(
        messages=ledger.messages(),
        tools=tuple(tool.spec for tool in tools_named(ledger.tools)),
        temperature=agent.temperature,
        run_id=run.pk,
        thread_id=run.thread_id,
    )
    return Prepared(run, agent, endpoint_of(agent), request, ledger, owner)
