"""A background review: the model looks at the last messages once more, and proposes what is worth noting (§3.2 of the spec).

It is work of its own with rows of its own. It shares no run, lock, counter or prompt with the chat, which never waits for
it; however it ends, that is a state with a code and one line in the log.
"""

import logging
from dataclasses import dataclass
from datetime import timedelta

from django.db import IntegrityError, InterfaceError, OperationalError, transaction
from django.db.models import F
from django.db.models.functions import Coalesce
from django.utils import timezone

from chat.memory.base import Lease, LeaseLost
from chat.memory.calls import Interrupted
from chat.memory.catch_up import INTERNAL_ERROR, Later
from chat.memory.model import Unusable
from chat.memory.notes.review_calls import Calls
from chat.memory.notes.review_due import IN_FLIGHT, readable
from chat.memory.notes.review_gate import topics_of
from chat.memory.notes.review_prompt import messages
from chat.memory.notes.review_report import Report, report
from chat.memory.notes.review_talk import STEPS_MOST, Talk, TimeIsUp
from chat.memory.notes.review_transcript import Transcript, transcript
from chat.memory.notes.review_vendor import NotAllowed, destination
from chat.memory.notes.tools import FAILED
from chat.memory.switches import is_memory_on
from chat.models import NoteGuard, NoteOp, NoteReview, Notice, Owner, Run, Thread
from chat.models.agent import ReviewNotify
from chat.models.tenancy import ping
from chat.providers.base import ProviderError
from chat.text.tokens import count_tokens

log = logging.getLogger(__name__)
TEACHER_BUSY, TEACHER_BUSY_SECONDS = "teacher_busy", 3.0
STEP_LIMIT = "step_limit"  # it ended in good order, but the model would have gone on
NOTICE = "review"
UNWRITABLE = ("unreadable", "unwritable", "drift")


@dataclass(frozen=True, slots=True)
class End:
    """How a review ended."""

    state: NoteReview.State
    code: str = ""


class Skip(Exception):
    """The review is not to be made, or not any further. `code` says why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Gone(Exception):
    """The review was deleted with its conversation."""


def run_review(review_id: str, lease: Lease) -> Later | None:
    """Makes the review that is due, or takes up one whose worker was killed. Later when the teacher has another one going.

    Nothing that fails is tried again before the next trigger. Raises LeaseLost and Interrupted, and lets a database that
    cannot be reached pass to the worker's loop.
    """
    rows = NoteReview.objects.select_related("thread__agent__provider", "thread__agent__review_provider")
    review = rows.filter(pk=review_id, state__in=IN_FLIGHT).first()
    if review is None:
        return None
    if not _begin(review, lease):
        return Later(timezone.now() + timedelta(seconds=TEACHER_BUSY_SECONDS), TEACHER_BUSY)
    try:
        end = _review(review, lease)
    except (LeaseLost, OperationalError, InterfaceError):
        raise
    except Interrupted:
        _give_back(review, lease)
        raise
    except Gone:
        log.info("Review %s was deleted with its conversation", review.pk)
        return None
    except Exception:
        log.exception("Review %s failed", review.pk)
        end = End(NoteReview.State.FAILED, INTERNAL_ERROR)
    _finish(review, end, lease)
    return None


def _begin(review: NoteReview, lease: Lease) -> bool:
    """Takes the teacher's one place; false when another review has it."""
    try:
        with transaction.atomic():
            rows = NoteReview.objects.filter(pk=review.pk, state__in=IN_FLIGHT)
            rows.update(state=NoteReview.State.RUNNING, started_at=Coalesce(F("started_at"), timezone.now()))
            lease.renew()
    except IntegrityError:
        return False
    return True


def _give_back(review: NoteReview, lease: Lease) -> None:
    """The worker ends: the teacher's place is free for whoever comes next, this review among them."""
    with transaction.atomic():
        NoteReview.objects.filter(pk=review.pk, state=NoteReview.State.RUNNING).update(state=NoteReview.State.QUEUED)
        lease.renew()


def _review(review: NoteReview, lease: Lease) -> End:
    thread = review.thread
    try:
        _check(thread)
        service, model = destination(Owner(thread.tenant_id, thread.user_id, thread.agent_id), thread.agent)
        said = _window(review)
        topics = topics_of(review.user_id)
        first = messages(said.text, timezone.localdate().isoformat(), topics)
        made = NoteOp.objects.filter(review=review).count()
        calls = Calls(review, thread.agent.review_write, topics, made=made, is_elsewhere=service is not None)
        talk = Talk(thread, first, calls, service=service, model=model)
        is_over = talk.run(max(0, STEPS_MOST - review.steps), _Watch(review, lease))
    except (Skip, NotAllowed) as reason:
        return End(NoteReview.State.SKIPPED, reason.code)
    except TimeIsUp:
        return End(NoteReview.State.FAILED, "timeout")
    except (ProviderError, Unusable) as error:
        return End(NoteReview.State.FAILED, error.code)
    if code := _failing(review):
        return End(NoteReview.State.FAILED, code)
    return End(NoteReview.State.DONE, "" if is_over else STEP_LIMIT)


def _check(thread: Thread) -> None:
    """Raises Skip when the review is not to be made as things stand now."""
    agent = thread.agent
    if not is_memory_on(Owner(thread.tenant_id, thread.user_id, thread.agent_id), thread):
        raise Skip("memory_off")
    if not agent.review_every:
        raise Skip("review_off")
    if not agent.has_tools and not agent.review_model:
        raise Skip("no_tools")


def _window(review: NoteReview) -> Transcript:
    """The messages to look at, the oldest of them left out where the model's window is small."""
    thread = review.thread
    whole = readable(thread).filter(slot__lte=review.upto_slot)
    rounds: list[Run] = list(whole.filter(slot__gt=review.since_slot).defer("reasoning"))
    if not rounds:
        raise Skip("nothing_to_read")
    total = whole.count()
    said = transcript(rounds, total)
    while len(rounds) > 1 and count_tokens(said.text) > thread.agent.context_tokens // 3:
        rounds = rounds[1:]
        said = transcript(rounds, total)
    return said


class _Watch:
    """Lets the review go on as long as it is there, its lease is held, and memory is on."""

    def __init__(self, review: NoteReview, lease: Lease) -> None:
        self.review = review
        self.lease = lease

    def before_step(self) -> None:
        thread = self.review.thread
        if not is_memory_on(Owner(thread.tenant_id, thread.user_id, thread.agent_id), thread):
            raise Skip("memory_off")
        with transaction.atomic():
            if not NoteReview.objects.filter(pk=self.review.pk, state=NoteReview.State.RUNNING).update(steps=F("steps") + 1):
                raise Gone
            self.lease.renew()

    def before_call(self) -> None:
        if not NoteReview.objects.filter(pk=self.review.pk, state=NoteReview.State.RUNNING).exists():
            raise Gone
        self.lease.renew()


def _finish(review: NoteReview, end: End, lease: Lease) -> None:
    """Stores the end and what is told of it, all or nothing."""
    with transaction.atomic():
        rows = NoteReview.objects.filter(pk=review.pk, state=NoteReview.State.RUNNING)
        if not rows.update(state=end.state, error_code=end.code, finished_at=timezone.now()):
            return
        done = report(review)
        _tell(review, done)
        lease.renew()
    level = logging.INFO if end.state == NoteReview.State.DONE else logging.WARNING
    how = f"{end.state} {end.code}".strip()
    log.log(level, "Review %s of thread %s is %s: %d written, %d wait", review.pk, review.thread_id, how, done.applied, done.staged)


def _tell(review: NoteReview, done: Report) -> None:
    """Lines in the conversation, after which the teacher's open pages look again.

    Of what was done as the assistant's setting says; that the notes cannot be written, in every case: it is the teacher
    who can put that right.
    """
    notify = review.thread.agent.review_notify
    if not done.is_empty and notify != ReviewNotify.OFF:
        _notice(review, NOTICE, is_verbose=notify == ReviewNotify.VERBOSE)
    if is_failing := bool(_failing(review)):
        _notice(review, FAILED)
    if is_failing or not done.is_empty:
        ping(review.user_id)


def _failing(review: NoteReview) -> str:
    """The code of a state of the notes in which nothing can be written; "" for none."""
    reason = NoteGuard.objects.filter(pk=review.pk, is_terminal=True).values_list("last_reason", flat=True).first() or ""
    code = reason.partition("\n")[0]
    return code if code in UNWRITABLE else ""


def _notice(review: NoteReview, code: str, *, is_verbose: bool = False) -> None:
    newest = Run.objects.filter(thread_id=review.thread_id, is_latest=True).order_by("-slot").values_list("slot", flat=True).first()
    Notice.objects.create(
        tenant_id=review.tenant_id,
        user_id=review.user_id,
        thread_id=review.thread_id,
        after_slot=newest or review.upto_slot,
        code=code,
        review=review,
        is_verbose=is_verbose,
    )
