"""Recall (L3): one entry for each completed run, which is found again when it matters (seed 000 §3, DESIGN §5)."""

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.models.agent import Agent, Provider
from chat.models.core import OwnedQuerySet
from chat.models.ids import id_field
from chat.models.run import Run
from chat.models.tenancy import Tenant
from chat.models.thread import Thread


class RecallEntry(models.Model):
    """What is kept of a run for recall, without what the red lines forbid.

    `source` is the id of the run where it was made; an imported entry has it without a `run` and a `thread` of this
    database. `number` is that of the owner's search index.
    """

    id = id_field("rec")
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="recall_entries", verbose_name=_("school"))
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="recall_entries", verbose_name=_("teacher"))
    agent = models.ForeignKey(
        Agent, on_delete=models.SET_NULL, null=True, blank=True, related_name="recall_entries", verbose_name=_("assistant")
    )
    thread = models.ForeignKey(Thread, on_delete=models.CASCADE, null=True, blank=True, related_name="recall_entries")
    # The model service that the round went to, and where that was: text goes to no other vendor without the teacher's consent.
    # None for an imported one, or when the service is gone.
    provider = models.ForeignKey(
        Provider, on_delete=models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("model service")
    )
    host = models.CharField(_("host"), max_length=300, blank=True, default="")
    run = models.OneToOneField(Run, on_delete=models.CASCADE, null=True, blank=True, related_name="recall_entry")
    source = models.CharField(_("source"), max_length=40)
    number = models.PositiveIntegerField(editable=False)
    title = models.CharField(_("title"), max_length=200, blank=True, default="")
    input = models.TextField(_("input"))
    head = models.TextField(_("head of the answer"), blank=True, default="")
    keywords = models.TextField(_("key lines"), blank=True, default="")
    at = models.DateTimeField(_("at"), default=timezone.now)
    created_at = models.DateTimeField(_("created at"), default=timezone.now, editable=False)

    objects = OwnedQuerySet.as_manager()

    class Meta:
        verbose_name = _("recall entry")
        verbose_name_plural = _("recall entries")
        indexes = [
            models.Index(fields=["thread"], name="recall_by_thread"),
            models.Index(fields=["tenant", "user", "provider", "host"], name="recall_by_service"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["tenant", "user", "source"], name="recall_source_once"),
            models.UniqueConstraint(fields=["tenant", "user", "number"], name="recall_number_once"),
        ]

    def __str__(self) -> str:
        return self.pk
