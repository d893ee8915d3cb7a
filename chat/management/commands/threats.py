"""How well the threat scan does on a file of sentences; each line is {"text", "block", "category", "lang"} as JSON."""

from collections.abc import Iterable

from chat.corpus_check import Report
from chat.management.corpus import CorpusCommand
from chat.threat_check import check


class Command(CorpusCommand):
    help = "Checks the scan for text that gives the assistant orders: `threats check FILE [--json] [--misses]`."
    line_fields = "text, block, category, lang"

    def judge(self, lines: Iterable[str]) -> Report:
        return check(lines)
