"""Compiles the translations; `make setup` runs it."""

from pathlib import Path

from django.conf import settings
from django.core.management.base import BaseCommand

from chat.catalogues import compile_catalogues


class Command(BaseCommand):
    help = "Compile the translations of the interface (chat/locale) that have changed."
    requires_system_checks: list[str] = []

    def handle(self, *_args: object, **options: object) -> None:
        written = [path for folder in settings.LOCALE_PATHS for path in compile_catalogues(Path(folder))]
        if options["verbosity"]:
            self.stdout.write(f"{len(written)} of the translations compiled.")
