"""Recall of one teacher as lines of JSON, out and in."""

import sys
from argparse import ArgumentParser
from contextlib import ExitStack
from pathlib import Path

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError

from chat.memory.recall.log import export, load
from chat.models import Membership, Owner

REFUSALS_SHOWN = 100


class Command(BaseCommand):
    help = "Writes or reads what recall keeps of a teacher: `recall_log export|import USER [FILE] [--tenant ID]`."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", choices=["export", "import"])
        parser.add_argument("user", help="the log-in name")
        parser.add_argument("file", nargs="?", default="-", help="recall_log.jsonl; standard input or output without it")
        parser.add_argument("--tenant", default="", help="the id of the school, for a teacher of several")

    def handle(self, *, action: str, user: str, file: str, tenant: str, **options: object) -> None:
        owner = _owner(user, tenant)
        try:
            if action == "export":
                _export(owner, file)
            else:
                self._import(owner, file)
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"{file} cannot be used: {error}") from None

    def _import(self, owner: Owner, file: str) -> None:
        with ExitStack() as stack:
            lines = sys.stdin if file == "-" else stack.enter_context(Path(file).open(encoding="utf-8-sig"))
            done = load(owner, lines)
        self.stdout.write(f"{done.added} new, {done.known} known, {len(done.refused)} refused")
        for refusal in done.refused[:REFUSALS_SHOWN]:
            self.stderr.write(f"Line {refusal.line}: {refusal.reason}")
        if len(done.refused) > REFUSALS_SHOWN:
            self.stderr.write(f"and {len(done.refused) - REFUSALS_SHOWN} more")


def _export(owner: Owner, file: str) -> None:
    with ExitStack() as stack:
        out = sys.stdout if file == "-" else stack.enter_context(Path(file).open("w", encoding="utf-8"))
        for line in export(owner):
            out.write(line + "\n")


def _owner(name: str, tenant: str) -> Owner:
    user = get_user_model().objects.filter(username=name).first()
    if user is None:
        raise CommandError(f"There is no user {name}.")
    schools = list(Membership.objects.filter(user=user, **({"tenant_id": tenant} if tenant else {})).values_list("tenant_id", flat=True))
    if len(schools) != 1:
        raise CommandError(f"{name} belongs to {len(schools)} schools of that kind; say which with --tenant.")
    return Owner(schools[0], user.pk)
