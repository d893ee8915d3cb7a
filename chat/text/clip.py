"""Shortens a long text to what matters for a question, within a budget of tokens (DESIGN §4, "Order inside thread memory")."""

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from chat.text.boundary import clean
from chat.text.features import features
from chat.text.outline import BOLD_LEVEL, cut_before, section_end, units
from chat.text.tokens import count_tokens

Count = Callable[[str], int]

# Shares of the budget, so that one kind of part does not push out the others.
_HEADINGS_SHARE: Final = 0.35
_HEAD_SHARE: Final = 0.15
_MATCH_SHARE: Final = 0.6
_TAIL_SHARE: Final = 0.15
# A part matches when it has this much of the best match's weight.
_MATCH_RATIO: Final = 0.5
# A long line's rest is only worth a cut with this many tokens left.
_WORTH_CUTTING_TOKENS: Final = 12
_CUT_WORD_TOKENS: Final = 64


@dataclass(frozen=True, slots=True)
class Clipped:
    """A text that fits. `omitted_chars` counts the characters that the gap lines stand for."""

    text: str
    omitted_chars: int = 0
    is_clipped: bool = False


def clip(text: str, budget_tokens: int, question: str, gap: Callable[[int], str], count: Count = count_tokens) -> Clipped:
    """Shortens `text`, which has been cleaned, to at most `budget_tokens`; a text that fits comes back as it is.

    Kept, in this order of worth: the section whose heading answers to `question`, headings, the first lines, other parts
    like the question, the last lines, more from the beginning. Kept lines are verbatim and in order; `gap` makes the line
    for so many characters left out. The result is empty when not even a gap line fits.

    12,000 characters take 5 to 9 ms.
    """
    # A beginning that is clearly too long spares counting the rest, of a text that has much more; the slack covers a word that the cut
    # has split.
    head_chars = 4 * max(budget_tokens, 0) + 64
    is_long = len(text) > 2 * head_chars and count(text[:head_chars]) > budget_tokens + _CUT_WORD_TOKENS
    if not is_long and count(text) <= budget_tokens:
        return Clipped(text)
    gap_tokens = count("\n" + gap(len(text)) + "\n")
    if gap_tokens > budget_tokens:
        lonely = gap(len(text))
        return Clipped(lonely if count(lonely) <= budget_tokens else "", len(text), True)
    choice = _Choice(text, budget_tokens, gap_tokens, count)
    _choose(choice, question)
    return choice.fit(gap)


def sentence_head(text: str, budget_tokens: int, count: Count = count_tokens) -> str:
    """As much of the beginning of `text` as fits, up to the end of a sentence (else of a clause, else of a character)."""
    if budget_tokens <= 0:
        return ""
    high = min(len(text), 2 * budget_tokens)
    while high < len(text) and count(text[:high]) <= budget_tokens:
        high = min(len(text), 2 * high)
    if high == len(text) and count(text) <= budget_tokens:
        return text
    low = 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if count(text[:middle]) <= budget_tokens else (low, middle)
    head = text[: cut_before(text, low)]
    while head and count(head) > budget_tokens:
        head = text[: cut_before(text, len(head) - 1)]
    return head.rstrip()


class _Choice:
    """Which units of a text are kept, and what that costs with the gap lines between them."""

    def __init__(self, text: str, budget_tokens: int, gap_tokens: int, count: Count) -> None:
        self.text = text
        self.units = units(text)
        self.tokens = [count(text[unit.start : unit.end]) for unit in self.units]
        self.budget_tokens = budget_tokens
        self.gap_tokens = gap_tokens
        self.count = count
        # Both edges count as kept, so that a gap is what lies between two kept neighbours.
        self.kept = [False] * len(self.units)
        self.order: list[int] = []
        self.spent = gap_tokens
        self.partial: tuple[int, int] | None = None

    def _is_kept(self, index: int) -> bool:
        return not 0 <= index < len(self.kept) or self.kept[index]

    def _cost(self, indices: Iterable[int]) -> int:
        """What keeping these more costs; less than nothing where a gap line is dearer than what it stands for."""
        new = {i for i in indices if not self.kept[i]}
        gaps = 0
        for i in new:
            # A run of new units opens a gap more when both its sides stay out, and closes one when both are kept.
            if i - 1 not in new:
                gaps += 1 - self._is_kept(i - 1)
            if i + 1 not in new:
                gaps -= self._is_kept(i + 1)
        return sum(self.tokens[i] for i in new) + gaps * self.gap_tokens

    def add(self, indices: Iterable[int], limit_tokens: float | None = None) -> bool:
        """Keeps all of these, or nothing and returns false when they cost more than the limit or what is left."""
        new = [i for i in indices if not self.kept[i]]
        cost = self._cost(new)
        left = self.budget_tokens - self.spent
        if cost > (left if limit_tokens is None else min(left, limit_tokens)):
            return False
        for i in new:
            self.kept[i] = True
        self.order += new
        self.spent += cost
        return True

    def add_some(self, indices: Iterable[int], limit_tokens: float) -> None:
        """Keeps as many of these, one after another, as cost no more than the limit together; stops at the first that does not."""
        before = self.spent
        for i in indices:
            if not self.kept[i] and not self.add([i], limit_tokens - (self.spent - before)):
                return

    def fill_holes(self) -> None:
        """Keeps what is shorter than the gap line that would stand for it."""
        for start, end in self._holes():
            if sum(self.tokens[start:end]) <= self.gap_tokens:
                self.add(range(start, end))

    def _holes(self) -> list[tuple[int, int]]:
        holes, start = [], None
        for i, is_kept in enumerate([*self.kept, True]):
            if is_kept and start is not None:
                holes.append((start, i))
                start = None
            elif not is_kept and start is None:
                start = i
        return holes

    def cut_into_first_hole(self) -> None:
        """Keeps the beginning of the first unit that is left out, when it is long and there is room."""
        holes, left = self._holes(), self.budget_tokens - self.spent
        if holes and left >= _WORTH_CUTTING_TOKENS:
            unit = self.units[holes[0][0]]
            line = self.text[unit.start : unit.end]
            head = sentence_head(line, left - 1, self.count)
            if head and self.count(line) > 2 * _WORTH_CUTTING_TOKENS:
                self.partial = (unit.start, unit.start + len(head))

    def fit(self, gap: Callable[[int], str]) -> Clipped:
        """The text of what is kept; gives back what was kept last while it is too long after all."""
        while True:
            result = self._render(gap)
            excess = self.count(result.text) - self.budget_tokens
            if excess <= 0:
                return result
            if self.partial:
                self.partial = None
                continue
            if not self.order:
                return Clipped("", len(self.text), True)
            while self.order and excess > 0:
                last = self.order.pop()
                self.kept[last] = False
                excess -= self.tokens[last]

    def _render(self, gap: Callable[[int], str]) -> Clipped:
        ranges = [(unit.start, unit.end) for unit, is_kept in zip(self.units, self.kept, strict=True) if is_kept]
        if self.partial:
            ranges = sorted([*ranges, self.partial])
        inside = {unit.start for unit in self.units if not unit.starts_line}
        pieces: list[str] = []
        omitted = done = 0
        for start, end in [*ranges, (len(self.text), len(self.text))]:
            if start > done:
                omitted += start - done
                pieces.append(self._gap_line(pieces, gap(start - done), start == len(self.text)))
            piece = self.text[start:end]
            # The rest of a line that was cut begins a line now, where its words may be a mark.
            pieces.append(clean(piece) if start in inside and start > done else piece)
            done = end
        return Clipped("".join(pieces), omitted, True)

    @staticmethod
    def _gap_line(pieces: list[str], line: str, is_last: bool) -> str:
        before = "" if not pieces or pieces[-1].endswith("\n") else "\n"
        return f"{before}{line}" if is_last else f"{before}{line}\n"


def _choose(choice: _Choice, question: str) -> None:
    budget = choice.budget_tokens
    found = choice.units
    weights = _Weights(choice, question)
    _keep_matching_sections(choice, weights)
    headings = [i for i, unit in enumerate(found) if unit.level]
    if not choice.add(headings, budget * _HEADINGS_SHARE):
        strong = [i for i in headings if found[i].level <= BOLD_LEVEL]
        if not choice.add(strong, budget * _HEADINGS_SHARE):
            choice.add_some(sorted(strong, key=lambda i: found[i].level), budget * _HEADINGS_SHARE)
    choice.add_some(range(len(found)), budget * _HEAD_SHARE)
    choice.add_some(weights.matching(range(len(found))), (budget - choice.spent) * _MATCH_SHARE)
    choice.add_some(reversed(range(len(found))), budget * _TAIL_SHARE)
    choice.fill_holes()
    choice.add_some(range(len(found)), budget)
    choice.fill_holes()
    choice.cut_into_first_hole()


def _keep_matching_sections(choice: _Choice, weights: "_Weights") -> None:
    """Keeps the sections whose heading answers best, whole where they fit, else their beginning and their best lines."""
    found = choice.units
    headings = [i for i, unit in enumerate(found) if unit.level]
    too_long: list[range] = []
    for i in weights.matching(headings):
        section = range(i, section_end(found, i))
        if not choice.add(section):
            too_long.append(section)
    if too_long and not choice.order:
        section = min(too_long, key=len)
        share = choice.budget_tokens * _MATCH_SHARE
        choice.add_some(section[:1], share)
        choice.add_some(weights.matching(section), share / 2)
        choice.add_some(section, share / 2)


class _Weights:
    """How much each unit answers to a question: a feature counts more the fewer units have it."""

    def __init__(self, choice: _Choice, question: str) -> None:
        asked = set(features(question))
        self._found: list[set[str]] = []
        if asked:
            self._found = [asked.intersection(features(choice.text[unit.start : unit.end])) for unit in choice.units]

    def matching(self, indices: Iterable[int]) -> list[int]:
        """Those of `indices` which answer to the question nearly as well as the best of them, the best first."""
        if not self._found:
            return []
        among = list(indices)
        seen = Counter(feature for i in among for feature in self._found[i])
        # What most units have says nothing about one of them.
        weights = {f: math.log((len(among) + 0.5) / n) for f, n in seen.items() if n <= max(2, len(among) / 2)}
        scores = {i: sum(weights.get(feature, 0.0) for feature in self._found[i]) for i in among}
        best = max(scores.values(), default=0.0)
        if not best:
            return []
        return [i for i in sorted(among, key=lambda i: (-scores[i], i)) if scores[i] >= best * _MATCH_RATIO]
