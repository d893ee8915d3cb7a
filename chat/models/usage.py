"""What memory's own model calls cost."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.models.agent import Agent, Provider
from chat.models.ids import id_field
from chat.models.tenancy import Tenant
from chat.models.thread import Thread


class MemoryOp(models.Model):
    """One background model call (seed 000 §5); never mixed into the costs of a run.

    The row is written before the call, so that a killed worker leaves a trace: the sweep ends it as `interrupted`.
    """

    class Kind(models.TextChoices):
        SUMMARY = "summary", _("summary")
        TITLE = "title", _("title")
        EXTRACTION = "extraction", _("extraction")
        REVIEW = "review", _("review")
        EMBEDDING = "embedding", _("embedding")

    class Outcome(models.TextChoices):
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        UNUSABLE = "unusable", _("answer not usable")
        FAILED = "failed", _("failed")

    id = id_field("mop")
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="memory_ops", verbose_name=_("school"))
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="memory_ops",
        verbose_name=_("teacher"),
        help_text=_("Empty: for documents of the school."),
    )
    agent = models.ForeignKey(Agent, on_delete=models.SET_NULL, null=True, related_name="memory_ops", verbose_name=_("assistant"))
    thread = models.ForeignKey(Thread, on_delete=models.SET_NULL, null=True, related_name="memory_ops", verbose_name=_("thread"))
    kind = models.CharField(_("kind"), max_length=20, choices=Kind.choices)
    provider = models.ForeignKey(Provider, on_delete=models.SET_NULL, null=True, related_name="memory_ops", verbose_name=_("model service"))
    model = models.CharField(_("model"), max_length=200, blank=True, default="")
    outcome = models.CharField(_("outcome"), max_length=10, choices=Outcome.choices, default=Outcome.RUNNING)
    error_code = models.CharField(_("error code"), max_length=40, blank=True, default="")
    input_tokens = models.PositiveIntegerField(_("input tokens"), default=0)
    output_tokens = models.PositiveIntegerField(_("output tokens"), default=0)
    is_estimate = models.BooleanField(_("tokens are an estimate"), default=False)
    cost = models.DecimalField(_("cost"), max_digits=14, decimal_places=6, default=0)
    created_at = models.DateTimeField(_("at"), default=timezone.now, editable=False)
    duration_ms = models.PositiveIntegerField(_("duration (ms)"), default=0)

    class Meta:
        verbose_name = _("memory operation")
        verbose_name_plural = _("memory operations")
        indexes = [
            models.Index(fields=["tenant", "-created_at"], name="memory_op_by_tenant"),
            models.Index(fields=["thread", "-created_at"], name="memory_op_by_thread"),
            models.Index(fields=["created_at"], name="memory_op_running", condition=Q(outcome="running")),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(outcome__in=["running", "done", "unusable", "failed"]), name="memory_op_outcome"),
        ]

    def __str__(self) -> str:
        return self.id
