"""How well the red lines do on a file of sentences; each line is {"text", "sensitive", "kind"} as JSON."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from chat.redline_check import BadLine, Count, Report, check


class Command(BaseCommand):
    help = "Checks the filter for sensitive text: `redlines check FILE [--json] [--misses]`."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        check = actions.add_parser("check", help="how much of a file is stopped, by kind and language")
        check.add_argument("file", type=Path, help="one JSON object a line: text, sensitive, kind")
        check.add_argument("--json", action="store_true", help="print the numbers as JSON")
        check.add_argument("--misses", action="store_true", help="print the sentences that were judged wrongly, too")

    def handle(self, *, file: Path, **options: bool) -> None:
        try:
            report = check(file.read_text(encoding="utf-8-sig").splitlines())
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"{file} cannot be read: {error}") from None
        except BadLine as error:
            raise CommandError(f"{file}, {error}") from None
        if options["json"]:
            self.stdout.write(json.dumps(report.as_json(with_misses=options["misses"]), ensure_ascii=False, indent=2))
            return
        self.stdout.write("\n".join(_table(report)))
        if options["misses"]:
            self.stdout.write(
                "\n".join(f"{'missed' if miss.is_sensitive else 'wrongly stopped'}  {miss.kind}  {miss.text}" for miss in report.misses)
            )


def _table(report: Report) -> Iterator[str]:
    yield f"{'kind':<12} {'language':<9} {'sensitive stopped':>22} {'harmless stopped':>22}"
    for (kind, language), (sensitive, harmless) in sorted(report.by_kind.items()):
        yield f"{kind:<12} {language:<9} {_share(sensitive):>22} {_share(harmless):>22}"
    yield f"{'all':<12} {'':<9} {_share(report.sensitive):>22} {_share(report.harmless):>22}"


def _share(count: Count) -> str:
    return f"{count.stopped}/{count.total} ({count.stopped / count.total:.1%})" if count.total else "–"
