"""Forms of the frame: log-in and settings."""

from functools import cache
from zoneinfo import available_timezones

from django import forms
from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from chat.models import ApiToken, Preference

TOPICS_MAX, TOPIC_CHARS = 50, 60  # as many as a review is told (chat.memory.notes.review_gate)
TOKENS_MAX = 20  # usable ones a person; enough for a token per script, few enough to read


class LoginForm(AuthenticationForm):
    error_messages = {
        "invalid_login": _(
            "User name and password do not belong together. Check both: capital letters count. "
            "If you do not know the password any more, the administrator of your school can set a new one."
        ),
        "inactive": _("This account is switched off. The administrator of your school can switch it on."),
    }


class PasswordForm(PasswordChangeForm):
    """A form among others on its page, so it does not take the focus."""

    def __init__(self, user: User, data: QueryDict | None = None) -> None:
        super().__init__(user, data)
        del self.fields["old_password"].widget.attrs["autofocus"]


@cache
def time_zone_names() -> tuple[str, ...]:
    """Places such as Asia/Shanghai, and UTC; without the database's aliases for offsets and old names."""
    return tuple(sorted(name for name in available_timezones() if name == "UTC" or _is_place(name)))


def _is_place(name: str) -> bool:
    area, slash, _place = name.partition("/")
    return bool(slash) and area not in {"Etc", "SystemV", "posix", "right"}


class PreferenceForm(forms.ModelForm):
    language = forms.ChoiceField(label=_("Language"), required=False, choices=[("", _("As the browser asks")), *settings.LANGUAGES])
    theme = forms.ChoiceField(
        label=_("Colours"),
        widget=forms.RadioSelect,
        choices=[(value, capfirst(label)) for value, label in Preference.Theme.choices],
    )

    class Meta:
        model = Preference
        fields = ("language", "theme", "time_zone")
        labels = {"time_zone": _("Time zone")}
        widgets = {
            "time_zone": forms.TextInput(attrs={"list": "time-zones", "autocomplete": "off", "spellcheck": "false"}),
        }

    def __init__(self, data: QueryDict | None = None, *, instance: Preference) -> None:
        super().__init__(data, instance=instance)
        self.fields["time_zone"].help_text = _("Type a city's name in English. Empty: the time of the server (%(zone)s).") % {
            "zone": settings.TIME_ZONE
        }

    def clean_time_zone(self) -> str:
        name: str = self.cleaned_data["time_zone"].strip()
        if name and name not in available_timezones():
            raise ValidationError(
                _("There is no time zone “%(name)s”. Choose one from the list, for example Asia/Shanghai."), params={"name": name}
            )
        return name

    def save(self, commit: bool = True) -> Preference:
        """Writes these three values and nothing else: school and assistant may have changed meanwhile."""
        preference, _created = Preference.objects.update_or_create(user_id=self.instance.user_id, defaults=self.cleaned_data)
        return preference


class TopicsForm(forms.ModelForm):
    """What a review of notes is to leave alone, a topic a line."""

    class Meta:
        model = Preference
        fields = ("unwanted_topics",)
        labels = {"unwanted_topics": _("Topics that are not to be remembered")}
        help_texts = {
            "unwanted_topics": _(
                "One a line, a word or two each. When the assistant looks back in the background it proposes nothing about them."
            )
        }
        widgets = {"unwanted_topics": forms.Textarea(attrs={"rows": 4, "autocomplete": "off"})}

    def clean_unwanted_topics(self) -> str:
        """The lines without what surrounds them, each once."""
        text: str = self.cleaned_data["unwanted_topics"]
        topics = list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))
        if len(topics) > TOPICS_MAX or any(len(topic) > TOPIC_CHARS for topic in topics):
            raise ValidationError(
                _("At most %(lines)d lines of %(chars)d characters each."), params={"lines": TOPICS_MAX, "chars": TOPIC_CHARS}
            )
        return "\n".join(topics)

    def save(self, commit: bool = True) -> Preference:
        preference, _created = Preference.objects.update_or_create(user_id=self.instance.user_id, defaults=self.cleaned_data)
        return preference


class TokenForm(forms.ModelForm):
    """Names a new API token."""

    class Meta:
        model = ApiToken
        fields = ("name",)
        labels = {"name": _("Name of the new token")}
        help_texts = {"name": _("What it is for, for example “mark export”.")}
        widgets = {"name": forms.TextInput(attrs={"autocomplete": "off"})}

    def __init__(self, data: QueryDict | None = None, *, user: User) -> None:
        super().__init__(data)
        self.user = user
        self.fields["name"].required = True

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"].strip()
        if ApiToken.objects.for_user(self.user).usable().count() >= TOKENS_MAX:
            raise ValidationError(_("You have %(limit)d tokens already. Revoke one of them first."), params={"limit": TOKENS_MAX})
        return name
