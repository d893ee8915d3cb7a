"""How well the red lines do on a file of sentences; each line is {"text", "sensitive", "kind"} as JSON."""

from collections.abc import Iterable

from chat.corpus_check import Report
from chat.management.corpus import CorpusCommand
from chat.redline_check import check


class Command(CorpusCommand):
    help = "Checks the filter for sensitive text: `redlines check FILE [--json] [--misses]`."
    line_fields = "text, sensitive, kind"

    def judge(self, lines: Iterable[str]) -> Report:
        return check(lines)
