"""The part of a school's page about search by meaning: chosen, tried with one call, made anew."""

from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chat.memory.meaning.trial import Trial, try_embedder
from chat.models import Provider, Tenant
from chat.presentation import TROUBLES
from chat.providers.base import ProviderError

FIELDS = ("embedder", "embedding_model", "embedding_roles")


def words_for(error: ProviderError) -> str:
    """What happened, for an administrator."""
    return f"{TROUBLES[error.code].what} ({error})"


def words_of(trial: Trial) -> str:
    return gettext("The service answers: vectors of %(dimension)d numbers, in %(ms)d ms.") % {
        "dimension": trial.dimension,
        "ms": trial.duration_ms,
    }


class SchoolForm(forms.ModelForm):
    """A school. An embedder that was chosen or changed is asked once before it is saved."""

    is_untried = forms.BooleanField(
        label=_("Save without trying"), required=False, help_text=_("For a service that does not run at the moment.")
    )

    class Meta:
        model = Tenant
        fields = "__all__"

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401  as ModelForm
        super().__init__(*args, **kwargs)
        self.trial: Trial | None = None
        if "embedder" in self.fields:
            services = Provider.objects.filter(tenant_id=self.instance.pk).exclude(kind=Provider.Kind.DEMO)
            self.fields["embedder"].queryset = services.order_by("-is_local", "name")  # type: ignore[attr-defined]
            self.fields["embedding_roles"].required = False

    def clean_embedding_roles(self) -> str:
        return self.cleaned_data["embedding_roles"] or self.instance.embedding_roles

    def _post_clean(self) -> None:
        """Tries last, when all else is as it should be; nothing of anybody's text is sent."""
        super()._post_clean()  # type: ignore[misc]
        service = self.cleaned_data.get("embedder")
        if self.errors or service is None or self.cleaned_data.get("is_untried") or not set(FIELDS) & set(self.changed_data):
            return
        try:
            self.trial = try_embedder(self.instance, service)
        except ProviderError as error:
            self.add_error("embedder", words_for(error))


# What an administrator reads before choosing.
DESCRIPTION = _(
    "Optional. With an embedding model, conversations and documents are also found by their meaning. "
    "Prefer a service in your own network, such as Ollama with bge-m3: then no text leaves it. "
    "With any other, teachers are asked once each, and nothing of theirs is sent before they agree; "
    "the school's documents are sent as soon as you save."
)
