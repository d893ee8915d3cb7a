"""Schools and their people."""

import hashlib
import secrets
from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.models.ids import id_field


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose data: a hard wall, no query ever crosses tenant or user. `agent_id` None means shared by all agents."""

    tenant_id: str
    user_id: int
    agent_id: str | None = None


class EmbeddingRoles(models.TextChoices):
    """How an embedding model is told whether a text is a question or a record."""

    BY_NAME = "by_name", _("as the model's name asks for (“query: ” and “passage: ” for e5)")
    PREFIX = "prefix", _("“query: ” and “passage: ” before the text")
    INPUT_TYPE = "input_type", _("the field input_type of the request")
    NONE = "none", _("not at all")


class TenantQuerySet(models.QuerySet["Tenant"]):
    def for_user(self, user: AbstractBaseUser) -> "TenantQuerySet":
        """The schools that the user is a member of, in the order they were joined."""
        return self.filter(memberships__user_id=user.pk).order_by("memberships__created_at", "id")


class Tenant(models.Model):
    """A school: the outer wall."""

    id = id_field("tn")
    name = models.CharField(_("name"), max_length=100)
    has_memory = models.BooleanField(
        _("memory on"),
        default=True,
        help_text=_("Off: nothing is remembered or recalled for anybody; people can still look, export and delete."),
    )
    embedder = models.ForeignKey(
        "chat.Provider",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("model service for search by meaning"),
        help_text=_("OpenAI compatible, with /embeddings, or Ollama. Empty: search by words alone, which is complete."),
    )
    embedding_model = models.CharField(
        _("embedding model"), max_length=200, blank=True, default="", help_text=_("Its name as the service knows it, for example bge-m3.")
    )
    embedding_roles = models.CharField(
        _("how questions are told from texts"),
        max_length=10,
        choices=EmbeddingRoles.choices,
        default=EmbeddingRoles.BY_NAME,
        help_text=_("Some models want to know whether a text is looked for or looked through."),
    )
    created_at = models.DateTimeField(_("created at"), default=timezone.now, editable=False)

    objects = TenantQuerySet.as_manager()

    class Meta:
        verbose_name = _("school")
        verbose_name_plural = _("schools")

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        service = self.embedder
        if service is None:
            return
        if service.tenant_id != self.pk:
            raise ValidationError({"embedder": _("The model service belongs to another school.")})
        if service.kind == service.Kind.DEMO:
            raise ValidationError({"embedder": _("The offline stand-in cannot do this.")})
        if not self.embedding_model.strip():
            raise ValidationError({"embedding_model": _("Name the model that makes the vectors, for example bge-m3.")})


class Membership(models.Model):
    """A user's place in a school."""

    class Role(models.TextChoices):
        TEACHER = "teacher", _("teacher")
        ADMIN = "admin", _("administrator")

    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="memberships", verbose_name=_("school"))
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships", verbose_name=_("user"))
    role = models.CharField(_("role"), max_length=10, choices=Role.choices, default=Role.TEACHER)
    created_at = models.DateTimeField(_("created at"), default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("membership")
        verbose_name_plural = _("memberships")
        constraints = [
            models.UniqueConstraint(fields=["tenant", "user"], name="membership_once"),
            models.CheckConstraint(condition=Q(role__in=["teacher", "admin"]), name="membership_role"),
        ]

    def __str__(self) -> str:
        return f"{self.user} · {self.tenant}"


class Preference(models.Model):
    """How a user wants the pages: language, theme, time zone; and where they were last."""

    class Theme(models.TextChoices):
        SYSTEM = "system", _("like the system")
        LIGHT = "light", _("light")
        DARK = "dark", _("dark")

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="preference", verbose_name=_("user")
    )
    language = models.CharField(_("language"), max_length=10, blank=True, default="", help_text=_("Empty: as the browser asks."))
    theme = models.CharField(_("theme"), max_length=10, choices=Theme.choices, default=Theme.SYSTEM)
    time_zone = models.CharField(_("time zone"), max_length=64, blank=True, default="", help_text=_("Empty: the server's."))
    has_memory = models.BooleanField(_("memory on"), default=True)
    # A line each; a review of notes proposes nothing about them.
    unwanted_topics = models.TextField(_("topics that are not to be remembered"), blank=True, default="")
    # When something changed that stands on the user's open pages: a conversation deleted or summed up, memory switched.
    news_at = models.DateTimeField(null=True, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("school"))
    agent = models.ForeignKey(
        "chat.Agent", on_delete=models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("last used assistant")
    )

    class Meta:
        verbose_name = _("preference")
        verbose_name_plural = _("preferences")

    def __str__(self) -> str:
        return str(self.user)


def ping(*user_ids: int) -> None:
    """Lets the open pages of these users look again at what stands around the rounds, in every process."""
    now = timezone.now()
    for user_id in user_ids:
        Preference.objects.update_or_create(user_id=user_id, defaults={"news_at": now})


def token_digest(token: str) -> str:
    """The SHA-256 of a bearer token, in hex. The tokens are random, so no salt is needed."""
    return hashlib.sha256(token.encode()).hexdigest()


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    def for_user(self, user: AbstractBaseUser) -> "ApiTokenQuerySet":
        return self.filter(user_id=user.pk)

    def usable(self) -> "ApiTokenQuerySet":
        return self.filter(revoked_at=None, user__is_active=True)

    def issue(self, user: AbstractBaseUser, name: str) -> tuple["ApiToken", str]:
        """Makes a token and returns its row and its text; the text is stored nowhere."""
        text = f"mem_{secrets.token_urlsafe(32)}"
        return self.create(user_id=user.pk, name=name, digest=token_digest(text)), text


class ApiToken(models.Model):
    """A bearer token of the JSON API; only its hash is kept."""

    id = id_field("tok")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens", verbose_name=_("user"))
    name = models.CharField(_("name"), max_length=100, blank=True, default="")
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField(_("created at"), default=timezone.now, editable=False)
    last_used_at = models.DateTimeField(_("last used at"), null=True, editable=False)
    revoked_at = models.DateTimeField(_("revoked at"), null=True, blank=True, editable=False)

    objects = ApiTokenQuerySet.as_manager()

    class Meta:
        verbose_name = _("API token")
        verbose_name_plural = _("API tokens")

    def __str__(self) -> str:
        return self.name or self.id
