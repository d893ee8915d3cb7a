"""What a teacher said before their text goes to another vendor (DESIGN §8)."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.models.agent import Provider
from chat.models.ids import id_field
from chat.models.tenancy import Tenant


class Consent(models.Model):
    """One answer of a teacher for one model service and one purpose; without a `provider` it is about the memory backend.

    Without a row they were not asked yet, and nothing goes there. An answer can be changed at any time; the row keeps when
    each was given last. It holds for the `host` that the teacher was told of: when the service moves to another one they are
    asked again.
    """

    class Purpose(models.TextChoices):
        EMBED = "embed", _("search by meaning: texts of conversations and documents are turned into numbers there")
        RECALL = "recall", _("recall: what was said with assistants of other services is sent there")
        REVIEW = "review", _("review of notes: the last messages of conversations and the notes are sent there")
        MEMORY = "memory", _("memory backend: what is said is kept there, and comes back without being confirmed")

    id = id_field("con")
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="+", verbose_name=_("school"))
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="consents", verbose_name=_("teacher"))
    provider = models.ForeignKey(
        Provider, on_delete=models.CASCADE, null=True, blank=True, related_name="consents", verbose_name=_("model service")
    )
    purpose = models.CharField(_("purpose"), max_length=10, choices=Purpose.choices)
    host = models.CharField(_("host"), max_length=300, blank=True, default="")
    is_agreed = models.BooleanField(_("agreed"))
    agreed_at = models.DateTimeField(_("agreed at"), null=True, blank=True)
    declined_at = models.DateTimeField(_("declined or withdrawn at"), null=True, blank=True)
    created_at = models.DateTimeField(_("asked at"), default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("consent")
        verbose_name_plural = _("consents")
        constraints = [
            models.UniqueConstraint(fields=["tenant", "user", "provider", "purpose"], name="consent_once"),
            models.UniqueConstraint(fields=["tenant", "user"], condition=Q(provider=None), name="consent_backend_once"),
            models.CheckConstraint(condition=Q(purpose__in=["embed", "recall", "review", "memory"]), name="consent_purpose"),
            models.CheckConstraint(
                condition=Q(purpose="memory", provider=None) | (~Q(purpose="memory") & Q(provider__isnull=False)),
                name="consent_of_whom",
            ),
        ]

    def __str__(self) -> str:
        return self.pk
