"""Counts how many sentences of a file a filter stops, by kind and language: what the checks of red lines and of threats share."""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from chat.text.features import CJK

_CHINESE = re.compile(f"[{CJK}]")


class BadLine(Exception):
    """A line of the file is not a sentence with its verdict."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """How a file and a report name things: `verdict` and `kind` are fields of a line, `bad`, `good` and `kinds` of the report."""

    verdict: str
    kind: str
    bad: str
    good: str
    kinds: str


@dataclass(slots=True)
class Count:
    stopped: int = 0
    total: int = 0

    def add(self, *, is_stopped: bool) -> None:
        self.total += 1
        self.stopped += is_stopped

    def as_json(self) -> dict[str, int]:
        return {"stopped": self.stopped, "total": self.total}


@dataclass(slots=True)
class Pair:
    """What was to be stopped, and what was to pass."""

    bad: Count = field(default_factory=Count)
    good: Count = field(default_factory=Count)

    def add(self, *, is_bad: bool, is_stopped: bool) -> None:
        (self.bad if is_bad else self.good).add(is_stopped=is_stopped)

    def as_json(self, corpus: Corpus) -> dict[str, Any]:
        return {corpus.bad: self.bad.as_json(), corpus.good: self.good.as_json()}


@dataclass(frozen=True, slots=True)
class Miss:
    """A sentence that was judged wrongly."""

    kind: str
    text: str
    is_bad: bool


@dataclass(slots=True)
class Report:
    """`by_kind` is by kind and language (zh, en), `by_language` by language alone."""

    corpus: Corpus
    all: Pair = field(default_factory=Pair)
    by_language: dict[str, Pair] = field(default_factory=dict)
    by_kind: dict[tuple[str, str], Pair] = field(default_factory=dict)
    misses: list[Miss] = field(default_factory=list)

    def as_json(self, *, with_misses: bool = False) -> dict[str, Any]:
        """{bad: {"stopped", "total"}, good: …, "languages": {language: {bad, good}}, kinds: {kind: {language: {bad, good}}}}."""
        corpus, kinds = self.corpus, dict[str, dict[str, Any]]()
        for (kind, language), pair in sorted(self.by_kind.items()):
            kinds.setdefault(kind, {})[language] = pair.as_json(corpus)
        languages = {language: pair.as_json(corpus) for language, pair in sorted(self.by_language.items())}
        found = self.all.as_json(corpus) | {"languages": languages, corpus.kinds: kinds}
        if with_misses:
            found["misses"] = [{corpus.kind: miss.kind, "text": miss.text, corpus.verdict: miss.is_bad} for miss in self.misses]
        return found


def check(lines: Iterable[str], corpus: Corpus, is_stopped: Callable[[str], bool]) -> Report:
    """Judges each line of a file. Raises BadLine with the number of the line."""
    report = Report(corpus)
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        text, is_bad, kind, language = _sentence(line, number, corpus)
        verdict = is_stopped(text)
        for pair in (
            report.all,
            report.by_language.setdefault(language, Pair()),
            report.by_kind.setdefault((kind, language), Pair()),
        ):
            pair.add(is_bad=is_bad, is_stopped=verdict)
        if verdict != is_bad:
            report.misses.append(Miss(kind, text, is_bad))
    return report


def _sentence(line: str, number: int, corpus: Corpus) -> tuple[str, bool, str, str]:
    try:
        row = json.loads(line)
    except ValueError:
        raise BadLine(f"line {number}: not JSON") from None
    if not isinstance(row, dict) or not isinstance(row.get("text"), str) or not isinstance(row.get(corpus.verdict), bool):
        raise BadLine(f'line {number}: needs "text" (a string) and "{corpus.verdict}" (true or false)')
    language = row.get("lang")
    if language not in ("zh", "en"):
        language = "zh" if _CHINESE.search(row["text"]) else "en"
    return row["text"], row[corpus.verdict], str(row.get(corpus.kind, "")), language
