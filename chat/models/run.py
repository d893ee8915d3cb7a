"""Rounds of a conversation, and what the model was told in each."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db import models
from django.db.models import Case, Exists, F, JSONField, Min, OuterRef, Q, When
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.models.agent import Agent, Provider
from chat.models.ids import id_field
from chat.models.tenancy import Tenant
from chat.models.thread import Thread

MOST_SLOTS: Final = 2**31 - 1  # as the column holds
# As plain SQL: asked at each message, and building it by the ORM takes three times as long as the rest of it.
ROUNDS: Final = """
SELECT id, slot, status, input, output, citations FROM chat_run
WHERE thread_id = %s AND is_latest AND status IN (%s, %s, %s) AND slot > %s AND slot < %s ORDER BY slot DESC LIMIT %s"""


class RunQuerySet(models.QuerySet["Run"]):
    def for_user(self, user: AbstractBaseUser) -> "RunQuerySet":
        """The user's own runs, in the schools they are a member of."""
        return self.filter(user_id=user.pk, tenant__memberships__user_id=user.pk)

    def going(self) -> "RunQuerySet":
        return self.filter(status__in=Run.GOING)

    def active_path(self) -> "RunQuerySet":
        """Of the runs that replace each other only the latest, in the order of the conversation (DESIGN §2)."""
        return self.filter(is_latest=True).order_by("slot")

    def with_memory(self) -> "RunQuerySet":
        """Annotates what memory stood in the prompt: its `memory_tokens`, and of core memory, which comes first in the
        ledger behind the system text, the `core_ids` of its facts. `core_name` says whether that segment is it. `has_notes`
        says whether it has written or put forward a note; `backend_ids` names what a memory backend outside gave to it."""
        note_ops = apps.get_model("chat", "NoteOp")._default_manager
        return self.annotate(
            has_notes=Exists(note_ops.filter(run=OuterRef("pk"))),
            memory_tokens=F("ledger__shared_tokens"),
            core_name=F("ledger__segments__1__name"),
            core_ids=F("ledger__segments__1__source_ids"),
            backend_ids=Case(*_of_backend(), default=None, output_field=JSONField()),
        )


def _of_backend() -> list[When]:
    """The ids of the segment of a memory backend, which stands behind core and thread memory as far as there are any. Without a
    backend no ledger is looked into."""
    places = [f"ledger__segments__{place}" for place in (1, 2, 3)]
    return [When(~Q(backend="") & Q(**{f"{place}__name": "external"}), then=F(f"{place}__source_ids")) for place in places]


class Run(models.Model):
    """One user input and everything until its answer (seed 000 §2.1, DESIGN §2).

    `position` orders the runs of a thread as they were started and is allocated by updating the thread's row
    (RUNTIME 5). `slot` is the position of the first run of its chain of replacements, so a retry keeps its place in the
    conversation. `is_latest` marks the run of each slot that counts. `output` grows while the run is going.
    """

    class Status(models.TextChoices):
        QUEUED = "queued", _("queued")
        RUNNING = "running", _("running")
        COMPLETED = "completed", _("completed")
        FAILED = "failed", _("failed")
        CANCELLED = "cancelled", _("cancelled")

    GOING = (Status.QUEUED, Status.RUNNING)
    FINISHED = (Status.COMPLETED, Status.FAILED, Status.CANCELLED)

    id = id_field("run")
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="runs", verbose_name=_("school"))
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="runs", verbose_name=_("assistant"))
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="runs", verbose_name=_("teacher"))
    thread = models.ForeignKey(Thread, on_delete=models.CASCADE, related_name="runs", verbose_name=_("thread"))
    position = models.PositiveIntegerField(_("number in the thread"))
    slot = models.PositiveIntegerField(_("place in the conversation"))
    is_latest = models.BooleanField(_("on the active path"), default=True)
    replaces = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="replaced_by", verbose_name=_("replaces")
    )
    key = models.CharField(_("idempotency key"), max_length=100, null=True, blank=True)
    mode = models.CharField(_("mode"), max_length=40, blank=True, default="")
    status = models.CharField(_("status"), max_length=10, choices=Status.choices, default=Status.QUEUED)
    error_code = models.CharField(_("error code"), max_length=40, blank=True, default="")
    # False when memory was off as it was sent: nothing is learnt from it, also when it is on again later.
    has_memory = models.BooleanField(_("memory on"), default=True, editable=False)
    # The memory backend outside this program that was in force as it was sent, "" for none; and why it gave nothing, "" for no trouble.
    backend = models.CharField(_("memory backend"), max_length=20, blank=True, default="", editable=False)
    backend_code = models.CharField(_("trouble with the memory backend"), max_length=40, blank=True, default="", editable=False)
    input = models.TextField(_("input"))
    output = models.TextField(_("output"), blank=True, default="")
    reasoning = models.TextField(_("reasoning"), blank=True, default="")
    citations = models.JSONField(default=list, blank=True)  # ids of passages; [n] in the output is the n-th of them
    tool_calls = models.JSONField(
        _("tool calls"), default=list, blank=True
    )  # [{"name", "arguments", "is_ok"}] as made; "is_erased": see memory.notes.told
    provider = models.ForeignKey(Provider, on_delete=models.SET_NULL, null=True, related_name="runs", verbose_name=_("model service"))
    model = models.CharField(_("model"), max_length=200, blank=True, default="")
    # The service outside the school that was asked for the meaning of the input; None for none, and for one of the school's own.
    embedder = models.ForeignKey(Provider, on_delete=models.SET_NULL, null=True, blank=True, related_name="+", editable=False)
    input_tokens = models.PositiveIntegerField(_("input tokens"), default=0)
    output_tokens = models.PositiveIntegerField(_("output tokens"), default=0)
    is_estimate = models.BooleanField(_("tokens are an estimate"), default=False)
    cost = models.DecimalField(_("cost"), max_digits=14, decimal_places=6, default=0)
    stop_requested_at = models.DateTimeField(_("asked to stop at"), null=True, editable=False)
    heartbeat_at = models.DateTimeField(_("last sign of life"), default=timezone.now, editable=False)
    created_at = models.DateTimeField(_("created at"), default=timezone.now, editable=False)
    first_token_at = models.DateTimeField(_("first word at"), null=True, editable=False)
    finished_at = models.DateTimeField(_("finished at"), null=True, editable=False)

    objects = RunQuerySet.as_manager()

    class Meta:
        verbose_name = _("run")
        verbose_name_plural = _("runs")
        indexes = [
            models.Index(fields=["thread", "created_at"], name="run_by_thread"),
            models.Index(fields=["thread", "slot"], name="run_by_slot", condition=Q(is_latest=True)),
            models.Index(fields=["user", "-created_at"], name="run_by_user"),
            models.Index(fields=["status", "input_tokens", "output_tokens", "cost"], name="run_totals"),  # /metrics adds them up
            models.Index(fields=["heartbeat_at"], name="run_going", condition=Q(status__in=["queued", "running"])),
        ]
        constraints = [
            models.UniqueConstraint(fields=["thread", "position"], name="run_position_once"),
            models.UniqueConstraint(fields=["thread", "slot"], condition=Q(is_latest=True), name="run_latest_once"),
            models.UniqueConstraint(fields=["user", "key"], name="run_key_once"),
            models.CheckConstraint(condition=Q(slot__lte=F("position")), name="run_slot"),
            models.CheckConstraint(condition=Q(status__in=["queued", "running", "completed", "failed", "cancelled"]), name="run_status"),
            models.CheckConstraint(condition=Q(status="failed") | Q(error_code=""), name="run_error_only_when_failed"),
            models.CheckConstraint(
                condition=Q(status__in=["queued", "running"], finished_at=None)
                | Q(status__in=["completed", "failed", "cancelled"], finished_at__isnull=False),
                name="run_finished_at",
            ),
        ]

    def __str__(self) -> str:
        return self.id

    @property
    def is_going(self) -> bool:
        return self.status in self.GOING


class RunLedger(models.Model):
    """All segments of the first request of a run, byte for byte (DESIGN §4, RUNTIME 13).

    `segments` is a list of `chat.memory.base.Segment` as JSON; `chat.memory.ledger` reads and writes it.
    """

    run = models.OneToOneField(Run, on_delete=models.CASCADE, primary_key=True, related_name="ledger", verbose_name=_("run"))
    segments = models.JSONField(default=list)
    tools = models.JSONField(default=list)  # names of the tools that were offered
    total_tokens = models.PositiveIntegerField(_("tokens"), default=0)
    shared_tokens = models.PositiveIntegerField(_("tokens of memory"), default=0)
    shared_budget_tokens = models.PositiveIntegerField(_("budget of memory"), default=0)
    is_estimate = models.BooleanField(_("counts are an estimate"), default=False)
    created_at = models.DateTimeField(_("created at"), default=timezone.now, editable=False, db_index=True)

    class Meta:
        verbose_name = _("ledger")
        verbose_name_plural = _("ledgers")

    def __str__(self) -> str:
        return self.run_id


def finished_rounds(thread_id: str, *, after: int, before: int, most: int) -> tuple[list[Run], int]:
    """The newest `most` rounds of the active path between two slots that have ended, oldest first, and how many stand before them."""
    rounds = list(Run.objects.raw(ROUNDS, [thread_id, *Run.FINISHED, after, before, most]))[::-1]
    if len(rounds) < most:
        return rounds, 0
    older = Run.objects.filter(thread_id=thread_id, is_latest=True, status__in=Run.FINISHED, slot__gt=after, slot__lt=rounds[0].slot)
    return rounds, older.count()


def finished_prefix(runs: Iterable[Run]) -> list[Run]:
    """The runs before the first one that is still going (DESIGN §3.6: a slow run is never skipped)."""
    prefix: list[Run] = []
    for run in runs:
        if run.is_going:
            break
        prefix.append(run)
    return prefix


def said_at(run: Run) -> datetime:
    """When the words of a run were first said: one that only asks again for an answer repeats those of the run it replaces."""
    if run.replaces_id is None:
        return run.created_at
    said = Run.objects.filter(thread_id=run.thread_id, slot=run.slot, input=run.input, position__lt=run.position)
    return said.aggregate(first=Min("created_at"))["first"] or run.created_at
