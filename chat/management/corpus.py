"""What the commands that measure a filter on a file of sentences share: their arguments, and the report as JSON or as a table."""

import json
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import ClassVar

from django.core.management.base import BaseCommand, CommandError

from chat.corpus_check import BadLine, Count, Pair, Report


class CorpusCommand(BaseCommand):
    requires_system_checks: list[str] = []
    line_fields: ClassVar[str]
    """The fields of a line, in words."""

    def judge(self, lines: Iterable[str]) -> Report:
        """Judges the lines of a file. Raises BadLine."""
        raise NotImplementedError

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        check = actions.add_parser("check", help="how much of a file is stopped, by kind and language")
        check.add_argument("file", type=Path, help=f"one JSON object a line: {self.line_fields}")
        check.add_argument("--json", action="store_true", help="print the numbers as JSON")
        check.add_argument("--misses", action="store_true", help="print the sentences that were judged wrongly, too")

    def handle(self, *, file: Path, **options: bool) -> None:
        try:
            report = self.judge(file.read_text(encoding="utf-8-sig").splitlines())
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
                "\n".join(f"{'missed' if miss.is_bad else 'wrongly stopped'}  {miss.kind}  {miss.text}" for miss in report.misses)
            )


def _table(report: Report) -> Iterator[str]:
    corpus = report.corpus
    yield f"{corpus.kind:<21} {'language':<9} {f'{corpus.bad} stopped':>22} {f'{corpus.good} stopped':>22}"
    for (kind, language), pair in sorted(report.by_kind.items()):
        yield _row(kind, language, pair)
    for language, pair in sorted(report.by_language.items()):
        yield _row("all", language, pair)
    yield _row("all", "", report.all)


def _row(kind: str, language: str, pair: Pair) -> str:
    return f"{kind:<21} {language:<9} {_share(pair.bad):>22} {_share(pair.good):>22}"


def _share(count: Count) -> str:
    return f"{count.stopped}/{count.total} ({count.stopped / count.total:.1%})" if count.total else "–"
