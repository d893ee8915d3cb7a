from django.apps import AppConfig
from django.core import checks
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _

from chat.checks import check_memory_backend, check_settings
from chat.roles import keep_school_administrators


class ChatConfig(AppConfig):
    name = "chat"
    verbose_name = _("School, assistants and conversations")

    def ready(self) -> None:
        checks.register(check_settings)
        checks.register(check_memory_backend)
        # After auth's own handler, which makes the permissions: its app stands before this one in INSTALLED_APPS.
        post_migrate.connect(keep_school_administrators, sender=self)
