"""How well the threat scan does on a file of sentences; each line is {"text", "block", "category", "lang"} as JSON."""

from collections.abc import Iterable
from typing import Final

from chat.corpus_check import Corpus, Report
from chat.corpus_check import check as check_corpus
from chat.text.threats import scan

CORPUS: Final = Corpus(verdict="block", kind="category", bad="threats", good="benign", kinds="categories")


def check(lines: Iterable[str]) -> Report:
    """Judges each line of a file. Raises BadLine with the number of the line."""
    return check_corpus(lines, CORPUS, lambda text: scan(text) is not None)
