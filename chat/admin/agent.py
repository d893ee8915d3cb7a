import os
from collections import Counter
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import Model
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chat.admin.base import SchoolAdmin, administrated_schools
from chat.memory.consent import answers_for
from chat.models import Agent, AgentMode, Consent, Provider, Tenant

KEY_SUFFIX = "_API_KEY"
MEMORY = _("Memory")


class LinesField(forms.CharField):
    """A list of sentences, one a line."""

    widget = forms.Textarea(attrs={"rows": 4, "class": "vLargeTextField"})

    def prepare_value(self, value: Any) -> Any:  # noqa: ANN401
        return "\n".join(map(str, value)) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:  # noqa: ANN401
        return [line.strip() for line in (super().to_python(value) or "").splitlines() if line.strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:  # noqa: ANN401
        return (initial or []) != self.to_python(data)


class ProviderForm(forms.ModelForm):
    class Meta:
        model = Provider
        fields = "__all__"

    def clean_key_env(self) -> str:
        """Other variables hold other secrets, which would be sent to whatever address stands in this form."""
        name: str = self.cleaned_data["key_env"]
        if name and not name.endswith(KEY_SUFFIX):
            raise ValidationError(_("The name must end in %(suffix)s, such as OPENAI_API_KEY.") % {"suffix": KEY_SUFFIX})
        return name


class AgentForm(forms.ModelForm):
    examples = LinesField(label=_("Example questions"), required=False, help_text=_("One a line; shown in an empty conversation."))

    class Meta:
        model = Agent
        fields = "__all__"

    def clean_review_provider(self) -> Provider | None:
        """Reviews read conversations: from a local service these may not leave for a cloud (DESIGN §8)."""
        chosen: Provider | None = self.cleaned_data["review_provider"]
        own: Provider | None = self.cleaned_data.get("provider")
        if chosen is None or own is None:
            return chosen
        if chosen.tenant_id != own.tenant_id:
            raise ValidationError(_("The model service belongs to another school."))
        if own.is_local and not chosen.is_local:
            raise ValidationError(
                _("%(own)s is a local service, and %(chosen)s is not: reviews would send the conversations out of the school's network.")
                % {"own": own, "chosen": chosen}
            )
        return chosen

    def clean_review_model(self) -> str:
        name: str = self.cleaned_data["review_model"]
        if self.cleaned_data.get("review_provider") not in (None, self.cleaned_data.get("provider")) and not name:
            raise ValidationError(_("Name the model that is to be used there."))
        return name

    def _post_clean(self) -> None:
        """Leaves the stored modes out: those in the page's own forms are judged with the new prompt, and may replace them."""
        self.instance._prefetched_objects_cache = {"modes": self.instance.modes.none()}
        super()._post_clean()  # type: ignore[misc]
        del self.instance._prefetched_objects_cache


class SchoolsOwn(SchoolAdmin):
    """Rows that a school makes for itself: the school is chosen once, and is already there for whoever has only one."""

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        schools = Tenant.objects.all() if request.user.is_superuser else Tenant.objects.filter(pk__in=administrated_schools(request.user))
        known = list(schools.values_list("pk", flat=True)[:2])
        return ({"tenant": known[0]} if len(known) == 1 else {}) | super().get_changeform_initial_data(request)

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[Any]:
        fields = list(super().get_readonly_fields(request, obj))
        return [*fields, "tenant"] if obj else fields


@admin.register(Provider)
class ProviderAdmin(SchoolsOwn):
    form = ProviderForm
    ordering = ["tenant", "name"]
    list_display = ["name", "tenant", "kind", "base_url", "is_local", "key_state", "input_price", "output_price"]
    list_filter = ["kind", "is_local", ("tenant", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["tenant"]
    search_fields = ["name", "base_url"]
    date_hierarchy = "created_at"
    readonly_fields = ["id", "key_state", "consents", "created_at"]
    fieldsets = [
        (
            None,
            {
                "fields": ["tenant", "name", "kind", "base_url", "is_local"],
                "description": _(
                    "The address, for example https://api.example.org/v1 (OpenAI compatible) or http://127.0.0.1:11434 (Ollama)."
                ),
            },
        ),
        (
            _("Key"),
            {
                "fields": ["key_env", "key_state"],
                "description": _(
                    "The key stays in the server's environment: name its variable here, and never put the key itself into a form."
                ),
            },
        ),
        (
            _("Prices"),
            {
                "fields": ["input_price", "output_price"],
                "description": _("For the costs that this site shows. Zero for a model of your own."),
            },
        ),
        (_("Details"), {"fields": ["supports_usage", "connect_timeout_seconds", "read_timeout_seconds", "consents", "id", "created_at"]}),
    ]

    @admin.display(description=_("what teachers said"))
    def consents(self, service: Provider) -> str:
        """In numbers only: who said what is the teachers' own."""
        if service.is_local:
            return gettext("Not asked: the service is in the school's own network.")
        counts = Counter(answers_for(service, Consent.Purpose.EMBED).values_list("is_agreed", flat=True))
        others = Counter(answers_for(service, Consent.Purpose.RECALL).values_list("is_agreed", flat=True))
        reviews = Counter(answers_for(service, Consent.Purpose.REVIEW).values_list("is_agreed", flat=True))
        return gettext(
            "Search by meaning: %(agreed)d agreed, %(declined)d did not. Recall from other assistants: %(others)d agreed, %(not)d did not. "
            "Reviews of notes: %(reviews)d agreed, %(refused)d did not."
        ) % {
            "agreed": counts[True],
            "declined": counts[False],
            "others": others[True],
            "not": others[False],
            "reviews": reviews[True],
            "refused": reviews[False],
        }

    @admin.display(description=_("key"))
    def key_state(self, service: Provider) -> str:
        """Whether the variable is set on the server; never what it holds."""
        if not service.key_env:
            return gettext("none is sent")
        is_set = service.key_env.endswith(KEY_SUFFIX) and bool(os.environ.get(service.key_env))
        return (
            gettext("%(name)s is set") % {"name": service.key_env} if is_set else gettext("%(name)s is not set") % {"name": service.key_env}
        )


class AgentModeInline(admin.StackedInline):
    model = AgentMode
    extra = 0
    fields = [("name", "slug", "order"), "prompt"]


@admin.register(Agent)
class AgentAdmin(SchoolsOwn):
    form = AgentForm
    inlines = [AgentModeInline]
    ordering = ["tenant", "order", "name"]
    list_display = ["name", "tenant", "provider", "model", "context_tokens", "is_active", "order"]
    list_filter = ["is_active", ("tenant", admin.RelatedOnlyFieldListFilter), ("provider", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["tenant", "provider"]
    search_fields = ["name", "description", "model"]
    date_hierarchy = "created_at"
    readonly_fields = ["id", "created_at"]
    fieldsets = [
        (None, {"fields": ["tenant", "name", "description", "is_active", "order"]}),
        (
            _("Prompt"),
            {
                "fields": ["system_prompt", "examples"],
                "description": _("Says who the assistant is and how it answers. Together with the longest mode it may take 2,000 tokens."),
            },
        ),
        (
            _("Model"),
            {
                "fields": ["provider", "model", "has_tools", "temperature", "context_tokens", "reply_tokens"],
                "description": _("The model's name as its service knows it, and the size of its context window."),
            },
        ),
        (
            MEMORY,
            {
                "classes": ["collapse"],
                "fields": [
                    "shared_tokens",
                    "thread_tokens",
                    "summary_tokens",
                    "rounds_tokens",
                    "keep_rounds",
                    "compress_over_tokens",
                    "compress_over_rounds",
                ],
                "description": _("How much of the context window memory may fill. The defaults suit most models."),
            },
        ),
        (
            _("Review of notes"),
            {
                "classes": ["collapse"],
                "fields": ["review_every", "review_write", "review_notify", "review_provider", "review_model"],
                "description": _("In the background the assistant looks at the last messages for what is worth noting."),
            },
        ),
        (_("Details"), {"classes": ["collapse"], "fields": ["id", "created_at"]}),
    ]

    def get_fieldsets(self, request: HttpRequest, obj: Model | None = None) -> Any:  # noqa: ANN401  as Django's own
        """An assistant may have another memory backend only where the installation allows it."""
        return [
            (name, options | {"fields": ["memory_manager", *options["fields"]]})
            if settings.MEMORY_MANAGER_PER_AGENT and name == MEMORY
            else (name, options)
            for name, options in super().get_fieldsets(request, obj)
        ]


@admin.register(AgentMode)
class AgentModeAdmin(SchoolAdmin):
    school_path = "agent__tenant"
    ordering = ["agent", "order", "pk"]
    list_display = ["name", "slug", "agent", "order"]
    list_filter = [("agent", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["agent"]
    search_fields = ["name", "slug", "agent__name"]
    fields = ["agent", "name", "slug", "order", "prompt"]

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[Any]:
        return ["agent"] if obj else []
