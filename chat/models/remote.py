"""What is kept of a memory backend outside this program: how far each conversation is there, and what is to be forgotten.

Ids only, never text. The keys of school, teacher and assistant are plain values: what was sent must be found and deleted
there also after they are gone here.
"""

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.models.ids import id_field


class RemoteScope(models.Model):
    """One teacher with one assistant at a backend. While `forget_asked_at` is set nothing goes there or comes from there."""

    id = id_field("rs")
    backend = models.CharField(_("memory backend"), max_length=20)
    tenant_key = models.CharField(_("school"), max_length=40)
    user_key = models.CharField(_("teacher"), max_length=40)
    agent_key = models.CharField(_("assistant"), max_length=40, blank=True, default="")
    forget_asked_at = models.DateTimeField(_("asked to forget at"), null=True, blank=True)
    forgotten_at = models.DateTimeField(_("last forgotten at"), null=True, blank=True)
    created_at = models.DateTimeField(_("first used at"), default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("memory at a backend")
        verbose_name_plural = _("memories at backends")
        constraints = [
            models.UniqueConstraint(fields=["backend", "tenant_key", "user_key", "agent_key"], name="remote_scope_once"),
        ]

    def __str__(self) -> str:
        return self.pk


class RemoteSession(models.Model):
    """How far one conversation is at the backend (`chat.memory.backends.base.Watermark`).

    `mark` is the watermark as JSON, written over `version` only. `thread_key` is the thread's id, which may be gone:
    then the session is forgotten there and the row goes.
    """

    id = id_field("rse")
    scope = models.ForeignKey(RemoteScope, on_delete=models.CASCADE, related_name="sessions", verbose_name=_("memory"))
    thread_key = models.CharField(_("thread"), max_length=40)
    version = models.PositiveIntegerField(default=0)
    mark = models.JSONField(default=dict)
    pending_tasks = models.PositiveIntegerField(_("tasks under way"), default=0)
    last_task = models.CharField(_("last task"), max_length=80, blank=True, default="")
    forget_asked_at = models.DateTimeField(_("asked to forget at"), null=True, blank=True)
    updated_at = models.DateTimeField(_("updated at"), default=timezone.now)

    class Meta:
        verbose_name = _("session at a backend")
        verbose_name_plural = _("sessions at backends")
        indexes = [models.Index(fields=["thread_key"], name="remote_session_thread")]
        constraints = [models.UniqueConstraint(fields=["scope", "thread_key"], name="remote_session_once")]

    def __str__(self) -> str:
        return self.pk


class RemoteGap(models.Model):
    """A round that a backend took, but made no memory of: its task failed. The panel says so."""

    id = id_field("rg")
    session = models.ForeignKey(RemoteSession, on_delete=models.CASCADE, related_name="gaps", verbose_name=_("session"))
    run_key = models.CharField(_("run"), max_length=40)
    outcome = models.CharField(_("outcome"), max_length=10)
    is_seen = models.BooleanField(_("seen"), default=False)
    created_at = models.DateTimeField(_("found at"), default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("round that was not captured")
        verbose_name_plural = _("rounds that were not captured")
        constraints = [
            models.UniqueConstraint(fields=["session", "run_key"], name="remote_gap_once"),
            models.CheckConstraint(condition=Q(outcome__in=["failed", "lost", "dropped"]), name="remote_gap_outcome"),
        ]

    def __str__(self) -> str:
        return self.pk


class RemoteFigure(models.Model):
    """A figure about a backend for /metrics, added up over all processes. `labels` is a sorted "name=value" list, joined by commas."""

    name = models.CharField(max_length=60)
    labels = models.CharField(max_length=120, blank=True, default="")
    value = models.FloatField(default=0)

    class Meta:
        verbose_name = _("figure of a backend")
        verbose_name_plural = _("figures of backends")
        constraints = [models.UniqueConstraint(fields=["name", "labels"], name="remote_figure_once")]

    def __str__(self) -> str:
        return f"{self.name} {self.labels}"
