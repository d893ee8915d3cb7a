"""Conversations."""

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.models.agent import Agent
from chat.models.ids import id_field
from chat.models.tenancy import Tenant

TITLE_CHARS = 40  # seed 000 §2.2


class ThreadQuerySet(models.QuerySet["Thread"]):
    def for_user(self, user: AbstractBaseUser) -> "ThreadQuerySet":
        """The user's own threads, in the schools they are a member of."""
        return self.filter(user_id=user.pk, tenant__memberships__user_id=user.pk)


class Thread(models.Model):
    """One conversation of one teacher with one assistant (seed 000 §2.1).

    `summary_upto_slot` is the cursor of thread memory: active runs of slots up to it are represented by
    `rolling_summary` only. `summary_upto_at` is the `created_at` of the last run covered, for people to read.
    `last_position` is the position given to the newest run.
    """

    class Status(models.TextChoices):
        ACTIVE = "active", _("active")
        ARCHIVED = "archived", _("archived")

    id = id_field("th")
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="threads", verbose_name=_("school"))
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="threads", verbose_name=_("assistant"))
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="threads", verbose_name=_("teacher"))
    title = models.CharField(_("title"), max_length=200, blank=True, default="")
    rolling_summary = models.TextField(_("rolling summary"), blank=True, default="")
    summary_upto_at = models.DateTimeField(_("summary covers until"), null=True, blank=True)
    summary_upto_slot = models.PositiveIntegerField(_("summary covers rounds up to"), default=0)
    status = models.CharField(_("status"), max_length=10, choices=Status.choices, default=Status.ACTIVE)
    is_incognito = models.BooleanField(_("incognito"), default=False)
    last_position = models.PositiveIntegerField(_("number of the newest run"), default=0)
    # The number of counted messages at which the last review of notes was due (chat.models.notes.NoteReview).
    review_total = models.PositiveIntegerField(default=0, editable=False)
    created_at = models.DateTimeField(_("created at"), default=timezone.now, editable=False)
    updated_at = models.DateTimeField(_("updated at"), default=timezone.now)

    objects = ThreadQuerySet.as_manager()

    class Meta:
        verbose_name = _("thread")
        verbose_name_plural = _("threads")
        permissions = [("view_content", _("Can read the texts of messages"))]
        indexes = [
            models.Index(fields=["tenant", "agent", "-updated_at"], name="thread_by_agent"),
            models.Index(fields=["user", "status", "-updated_at"], name="thread_by_user"),
            models.Index(fields=["user", "tenant", "-updated_at", "-id"], name="thread_newest_first"),  # a search stops at a full page
            models.Index(fields=["created_at"], name="thread_incognito", condition=Q(is_incognito=True)),
        ]
        constraints = [models.CheckConstraint(condition=Q(status__in=["active", "archived"]), name="thread_status")]

    def __str__(self) -> str:
        return self.id


class Summary(models.Model):
    """One step of a thread's rolling summary: its text after the slots up to `upto_slot` were folded in.

    Kept so that a change of the active path can go back to the last step that is still true (DESIGN §3.6).
    """

    class Origin(models.TextChoices):
        MODEL = "model", _("written by the model")
        EXTRACT = "extract", _("first sentences")

    thread = models.ForeignKey(Thread, on_delete=models.CASCADE, related_name="summaries", verbose_name=_("thread"))
    upto_slot = models.PositiveIntegerField(_("covers rounds up to"))
    upto_at = models.DateTimeField(_("covers until"))
    text = models.TextField(_("text"))
    origin = models.CharField(_("origin"), max_length=10, choices=Origin.choices, default=Origin.MODEL)
    created_at = models.DateTimeField(_("created at"), default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("summary")
        verbose_name_plural = _("summaries")
        constraints = [
            models.UniqueConstraint(fields=["thread", "upto_slot"], name="summary_step_once"),
            models.CheckConstraint(condition=Q(origin__in=["model", "extract"]), name="summary_origin"),
        ]

    def __str__(self) -> str:
        return f"{self.thread_id} ≤ {self.upto_slot}"


def step_before(thread_id: str, slot: int) -> Summary | None:
    """The newest step of the rolling summary that knows nothing of `slot` and what follows it."""
    return Summary.objects.filter(thread_id=thread_id, upto_slot__lt=slot).order_by("-upto_slot").first()


def rewind(thread_id: str, slot: int) -> None:
    """Takes the rolling summary back to its newest step before `slot`; nothing happens when it has not come that far.

    To be called inside the transaction that changes the active path at `slot`, before or after the change. The first
    statement takes the thread's row, whose holder alone moves the cursor (chat.memory.summary): a step that is just
    being stored is either seen here and dropped, or sees the changed path and is not stored.
    """
    Thread.objects.filter(pk=thread_id).update(summary_upto_slot=F("summary_upto_slot"))
    if not Summary.objects.filter(thread_id=thread_id, upto_slot__gte=slot).delete()[0]:
        return
    step = step_before(thread_id, slot)
    Thread.objects.filter(pk=thread_id).update(
        rolling_summary=step.text if step else "",
        summary_upto_at=step.upto_at if step else None,
        summary_upto_slot=step.upto_slot if step else 0,
    )
