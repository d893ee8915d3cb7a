"""How well the red lines do on a file of sentences; each line is {"text", "sensitive", "kind"} as JSON."""

from collections.abc import Iterable
from typing import Final

from chat.corpus_check import Corpus, Report
from chat.corpus_check import check as check_corpus
from chat.text.redlines import find

CORPUS: Final = Corpus(verdict="sensitive", kind="kind", bad="sensitive", good="harmless", kinds="kinds")


def check(lines: Iterable[str]) -> Report:
    """Judges each line of a file. Raises BadLine with the number of the line."""
    return check_corpus(lines, CORPUS, lambda text: bool(find(text)))
