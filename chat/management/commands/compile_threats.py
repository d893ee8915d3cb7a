"""Compiles the index of the threat rules; `make setup` runs it."""

from django.core.management.base import BaseCommand

from chat.made_files import replace_file
from chat.text.threat_anchors import INDEX_FILE
from chat.text.threat_index import sealed, unsealed
from chat.text.threats import patterns


class Command(BaseCommand):
    help = "Compile the index by which the threat rules for a text are found quickly, if the rules have changed."
    requires_system_checks: list[str] = []

    def handle(self, *_args: object, **options: object) -> None:
        rules = patterns()
        is_fresh = INDEX_FILE.exists() and unsealed(INDEX_FILE.read_bytes(), rules) is not None
        if not is_fresh:
            replace_file(INDEX_FILE, sealed(rules))
        if options["verbosity"]:
            self.stdout.write(f"The index of {len(rules)} threat rules {'is as it should be' if is_fresh else 'compiled'}.")
