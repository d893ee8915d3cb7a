"""Counts how many sentences of a file the red lines stop, by kind and language."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from chat.text.features import CJK
from chat.text.redlines import find

_CHINESE = re.compile(f"[{CJK}]")


class BadLine(Exception):
    """A line of the file is not a sentence with its verdict."""


@dataclass(slots=True)
class Count:
    stopped: int = 0
    total: int = 0

    def add(self, *, is_stopped: bool) -> None:
        self.total += 1
        self.stopped += is_stopped

    def as_json(self) -> dict[str, int]:
        return {"stopped": self.stopped, "total": self.total}


@dataclass(frozen=True, slots=True)
class Miss:
    """A sentence that was judged wrongly."""

    kind: str
    text: str
    is_sensitive: bool


@dataclass(slots=True)
class Report:
    """`by_kind` has for each kind and language (zh, en) the counts of sensitive and of harmless sentences."""

    sensitive: Count = field(default_factory=Count)
    harmless: Count = field(default_factory=Count)
    by_kind: dict[tuple[str, str], tuple[Count, Count]] = field(default_factory=dict)
    misses: list[Miss] = field(default_factory=list)

    def as_json(self, *, with_misses: bool = False) -> dict[str, Any]:
        """{"sensitive": {"stopped", "total"}, "harmless": …, "kinds": {kind: {language: {"sensitive", "harmless"}}}}."""
        kinds: dict[str, dict[str, Any]] = {}
        for (kind, language), (sensitive, harmless) in sorted(self.by_kind.items()):
            kinds.setdefault(kind, {})[language] = {"sensitive": sensitive.as_json(), "harmless": harmless.as_json()}
        found: dict[str, Any] = {"sensitive": self.sensitive.as_json(), "harmless": self.harmless.as_json(), "kinds": kinds}
        if with_misses:
            found["misses"] = [{"kind": miss.kind, "text": miss.text, "sensitive": miss.is_sensitive} for miss in self.misses]
        return found


def check(lines: Iterable[str]) -> Report:
    """Judges each line of a file. Raises BadLine with the number of the line."""
    report = Report()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        text, is_sensitive, kind = _sentence(line, number)
        is_stopped = bool(find(text))
        counts = report.by_kind.setdefault((kind, "zh" if _CHINESE.search(text) else "en"), (Count(), Count()))
        for count in (counts[0], report.sensitive) if is_sensitive else (counts[1], report.harmless):
            count.add(is_stopped=is_stopped)
        if is_stopped != is_sensitive:
            report.misses.append(Miss(kind, text, is_sensitive))
    return report


def _sentence(line: str, number: int) -> tuple[str, bool, str]:
    try:
        row = json.loads(line)
    except ValueError:
        raise BadLine(f"line {number}: not JSON") from None
    if not isinstance(row, dict) or not isinstance(row.get("text"), str) or not isinstance(row.get("sensitive"), bool):
        raise BadLine(f'line {number}: needs "text" (a string) and "sensitive" (true or false)')
    return row["text"], row["sensitive"], str(row.get("kind", ""))
