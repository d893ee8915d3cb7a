"""Assistants and the model services behind them."""

import re
from decimal import Decimal
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, URLValidator
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.models.ids import id_field
from chat.models.tenancy import Tenant
from chat.text.tokens import count_tokens

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

PROMPT_MAX_TOKENS = 2_000  # agent and mode prompt together, DESIGN §4
_ENVIRONMENT_NAME = re.compile(r"[A-Z][A-Z0-9_]*")


class Provider(models.Model):
    """A model service: where text goes."""

    class Kind(models.TextChoices):
        OPENAI = "openai", _("OpenAI compatible")
        OLLAMA = "ollama", _("Ollama")
        DEMO = "demo", _("Demo (offline stand-in)")

    id = id_field("pv")
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="providers", verbose_name=_("school"))
    name = models.CharField(_("name"), max_length=100)
    kind = models.CharField(_("kind"), max_length=10, choices=Kind.choices)
    base_url = models.CharField(_("base URL"), max_length=300, blank=True, default="", validators=[URLValidator(schemes=["http", "https"])])
    key_env = models.CharField(
        _("environment variable of the key"),
        max_length=100,
        blank=True,
        default="",
        help_text=_("The name of the variable, never the key itself. Empty: no key is sent."),
    )
    is_local = models.BooleanField(_("local"), default=False, help_text=_("The text stays in the school's own network."))
    supports_usage = models.BooleanField(
        _("reports usage in streams"), default=True, help_text=_("Asks for token counts with stream_options.")
    )
    input_price = models.DecimalField(
        _("price per million input tokens"), max_digits=12, decimal_places=4, default=0, validators=[MinValueValidator(0)]
    )
    output_price = models.DecimalField(
        _("price per million output tokens"), max_digits=12, decimal_places=4, default=0, validators=[MinValueValidator(0)]
    )
    connect_timeout_seconds = models.FloatField(_("connect timeout (seconds)"), default=5, validators=[MinValueValidator(0.1)])
    read_timeout_seconds = models.FloatField(
        _("read timeout (seconds)"),
        default=60,
        validators=[MinValueValidator(0.1)],
        help_text=_("The longest silence between two pieces of an answer."),
    )
    created_at = models.DateTimeField(_("created at"), default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("model service")
        verbose_name_plural = _("model services")
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=["openai", "ollama", "demo"]), name="provider_kind"),
            models.CheckConstraint(condition=Q(kind="demo") | ~Q(base_url=""), name="provider_has_base_url"),
            models.CheckConstraint(condition=Q(input_price__gte=0) & Q(output_price__gte=0), name="provider_prices"),
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        if self.kind != self.Kind.DEMO and not self.base_url:
            raise ValidationError({"base_url": _("A service of this kind needs its address, for example http://127.0.0.1:11434.")})
        if self.key_env and not _ENVIRONMENT_NAME.fullmatch(self.key_env):
            raise ValidationError(
                {"key_env": _("This is the name of an environment variable, such as OPENAI_API_KEY; never put the key here.")}
            )

    @property
    def host(self) -> str:
        """Where text goes, in people's words: the name of the machine, with its port when that is given."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2].lower()

    def cost(self, input_tokens: int, output_tokens: int) -> Decimal:
        """What a call costs, in the currency of the prices, as far as it is stored."""
        return (Decimal(self.input_price * input_tokens + self.output_price * output_tokens) / 1_000_000).quantize(Decimal("0.000001"))


class AgentQuerySet(models.QuerySet["Agent"]):
    def for_user(self, user: AbstractBaseUser) -> "AgentQuerySet":
        """The assistants that the user may talk to, in any of their schools."""
        return self.filter(is_active=True, tenant__memberships__user_id=user.pk).order_by("order", "name", "id")


def _bounded(label: "StrOrPromise", default: int, low: int, high: int, help_text: "StrOrPromise" = "") -> models.PositiveIntegerField:
    return models.PositiveIntegerField(
        label, default=default, validators=[MinValueValidator(low), MaxValueValidator(high)], help_text=help_text
    )


class ReviewWrite(models.TextChoices):
    """How far a background review may write without the teacher (specs/notes_memory.md §3.2)."""

    STAGE = "stage", _("nothing: all waits for the teacher")
    ADD = "add", _("additions; changes and removals wait")
    ALL = "all", _("everything, with undo")


class ReviewNotify(models.TextChoices):
    """What a background review tells in the conversation."""

    OFF = "off", _("nothing")
    ON = "on", _("one line when there is something")
    VERBOSE = "verbose", _("a line for each change")


class MemoryManagerChoice(models.TextChoices):
    """What an administrator may choose for one assistant instead of the installation's memory backend: what sends nothing elsewhere."""

    BUILTIN = "builtin", _("built in: core memory and recall")
    NOOP = "noop", _("none: nothing is remembered across conversations")


class Agent(models.Model):
    """An assistant: prompt, modes, model, and how much of it memory may fill (defaults of DESIGN §4 and §5)."""

    id = id_field("ag")
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="agents", verbose_name=_("school"))
    name = models.CharField(_("name"), max_length=60)
    description = models.CharField(_("description"), max_length=200, blank=True, default="")
    system_prompt = models.TextField(_("system prompt"))
    examples = models.JSONField(_("example questions"), default=list, blank=True, help_text=_("Shown as cards in an empty conversation."))
    provider = models.ForeignKey(Provider, on_delete=models.PROTECT, related_name="agents", verbose_name=_("model service"))
    model = models.CharField(_("model"), max_length=200)
    has_tools = models.BooleanField(_("model can call tools"), default=True)
    temperature = models.FloatField(_("temperature"), null=True, blank=True, validators=[MinValueValidator(0), MaxValueValidator(2)])
    context_tokens = _bounded(_("context window (tokens)"), 32_000, 4_096, 2_000_000)
    reply_tokens = _bounded(_("room kept for the reply (tokens)"), 4_000, 256, 200_000)
    shared_tokens = _bounded(_("shared memory budget (tokens)"), 6_000, 500, 200_000, _("Never more than a quarter of the context window."))
    thread_tokens = _bounded(_("thread memory, summary and rounds together (tokens)"), 2_000, 300, 200_000)
    summary_tokens = _bounded(_("rolling summary (tokens)"), 600, 100, 20_000)
    rounds_tokens = _bounded(_("last rounds (tokens)"), 1_200, 100, 200_000)
    keep_rounds = _bounded(_("rounds always shown (K)"), 2, 1, 20)
    compress_over_tokens = _bounded(_("summarise when rounds exceed (tokens)"), 1_200, 100, 200_000)
    compress_over_rounds = _bounded(_("summarise when rounds exceed (count)"), 6, 1, 100)
    review_every = models.PositiveIntegerField(
        _("review of notes after each (messages)"), default=10, validators=[MaxValueValidator(1_000)], help_text=_("0: no review.")
    )
    review_write = models.CharField(
        _("what a review may write by itself"), max_length=5, choices=ReviewWrite.choices, default=ReviewWrite.STAGE
    )
    review_notify = models.CharField(_("what a review tells"), max_length=7, choices=ReviewNotify.choices, default=ReviewNotify.ON)
    review_provider = models.ForeignKey(
        Provider,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("model service for reviews"),
        help_text=_("Empty: the assistant's own. From a local service it may only lead to a local one."),
    )
    review_model = models.CharField(_("model for reviews"), max_length=200, blank=True, default="")
    memory_manager = models.CharField(
        _("memory backend"),
        max_length=20,
        choices=MemoryManagerChoice.choices,
        blank=True,
        default="",
        help_text=_("Empty: the one of this installation."),
    )
    is_active = models.BooleanField(_("active"), default=True)
    order = models.PositiveSmallIntegerField(_("order"), default=0)
    created_at = models.DateTimeField(_("created at"), default=timezone.now, editable=False)

    objects = AgentQuerySet.as_manager()

    class Meta:
        verbose_name = _("assistant")
        verbose_name_plural = _("assistants")
        constraints = [
            models.UniqueConstraint(fields=["tenant", "name"], name="agent_name_once"),
            models.CheckConstraint(condition=Q(context_tokens__gt=F("reply_tokens")), name="agent_reply_fits"),
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        if self.provider_id and self.tenant_id and self.provider.tenant_id != self.tenant_id:
            raise ValidationError({"provider": _("The model service belongs to another school.")})
        if self.reply_tokens and self.context_tokens and self.reply_tokens * 2 > self.context_tokens:
            raise ValidationError({"reply_tokens": _("The reply may take at most half of the context window.")})
        longest_mode = max((count_tokens(mode.prompt) for mode in self.modes.all()), default=0) if self.pk else 0
        _check_prompt("system_prompt", count_tokens(self.system_prompt) + longest_mode)
        if not isinstance(self.examples, list) or any(not isinstance(one, str) for one in self.examples):
            raise ValidationError({"examples": _("A JSON list of sentences.")})


class AgentMode(models.Model):
    """A named extra prompt of an assistant."""

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="modes", verbose_name=_("assistant"))
    slug = models.SlugField(_("key"), max_length=40, allow_unicode=False)
    name = models.CharField(_("name"), max_length=40)
    prompt = models.TextField(_("prompt"))
    order = models.PositiveSmallIntegerField(_("order"), default=0)

    class Meta:
        verbose_name = _("mode")
        verbose_name_plural = _("modes")
        ordering = ["order", "id"]
        constraints = [models.UniqueConstraint(fields=["agent", "slug"], name="mode_slug_once")]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        if hasattr(self, "agent"):  # in the form of a new assistant the row is there before its key
            _check_prompt("prompt", count_tokens(self.agent.system_prompt) + count_tokens(self.prompt))


def _check_prompt(field: str, tokens: int) -> None:
    if tokens > PROMPT_MAX_TOKENS:
        raise ValidationError(
            {
                field: _("The prompts of assistant and mode come to %(tokens)d tokens; at most %(limit)d fit. Shorten one of them.")
                % {"tokens": tokens, "limit": PROMPT_MAX_TOKENS}
            }
        )
