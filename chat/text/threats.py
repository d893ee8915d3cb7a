"""The threat scan: finds text that gives the assistant orders, where only facts may stand (DESIGN §7, specs/notes_memory.md §2).

General rules on views of the text in which nothing is hidden (threat_folding): a verb of a class, its object and its qualifiers, and
always with a reading that means the assistant, its user or its prompt. The stored text is never changed.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from chat.text.threat_anchors import Finder
from chat.text.threat_folding import has_invisible, plain_of, views_of
from chat.text.threat_lexicon import PAIRS, WORDS
from chat.text.threat_rules import RULES
from chat.text.threat_rules.base import Rule, compiled

CATEGORIES: Final = (
    *("instruction_override", "role_hijack", "prompt_leak", "deception", "exfiltration", "secret_access", "persistence"),
    *("authority_grant", "fence_breakout", "hidden_markup", "command_exec", "invisible_unicode", "homoglyph"),
)
TOO_LONG: Final = "too_long"
# More than any text that goes into a prompt; longer ones are refused, not looked through in part.
CHARS_MOST: Final = 100_000

_SENTENCE: Final = re.compile(r"(?:[^。!?\n.]|[!?](?=[\w\[(/=&\"'-])|\.(?=\S))+[。!?.]*")


class _Prepared:
    """The rules with their prefilter."""

    def __init__(self) -> None:
        self._finder = Finder([(rule.what, *rule.also) for rule in RULES])

    def matching(self, view: str, seen: dict[str, int]) -> Iterator[Rule]:
        """The rules that match in `view`, sentence by sentence; those that are in `seen` were looked at in another view."""
        whole = self._finder.met("")
        for sentence in _SENTENCE.findall(view):
            if sentence not in seen:
                seen[sentence] = self._finder.met(sentence)
                yield from self._tried(seen[sentence], sentence, is_whole=False)
            whole |= seen[sentence]
        yield from self._tried(whole, view, is_whole=True)

    def _tried(self, met: int, text: str, *, is_whole: bool) -> Iterator[Rule]:
        for place in self._finder.groups_of(met):
            rule = RULES[place]
            if rule.is_whole == is_whole and rule.matches(text):
                yield rule


@cache
def _prepared() -> _Prepared:
    """Takes half a second."""
    return _Prepared()


def warm_up() -> None:
    """Does what the first scan would wait for, about a second."""
    _prepared()
    for rule in RULES:
        for pattern in (rule.what, *rule.also, rule.unless):
            compiled(pattern)


@dataclass(frozen=True, slots=True)
class Threat:
    """`category` is one of CATEGORIES or TOO_LONG; `rule` says for people what was recognised."""

    category: str
    rule: str


def scan(text: str) -> Threat | None:
    """The first threat in `text`."""
    return next(_found(text), None)


def scan_all(text: str) -> list[Threat]:
    """All threats in `text`, each rule once."""
    return list(dict.fromkeys(_found(text)))


def _found(text: str) -> Iterator[Threat]:
    if len(text) > CHARS_MOST:
        yield Threat(TOO_LONG, "longer than what is looked through")
        return
    if has_invisible(text):
        yield Threat("invisible_unicode", "characters that nobody sees")
    views = views_of(text, WORDS, PAIRS)
    matching, seen = _prepared().matching, dict[str, int]()
    hits = list(matching(views.folded, seen))
    plain = {rule.name for rule in matching(plain_of(text), {})} if hits and not text.isascii() else {rule.name for rule in hits}
    for rule in hits:
        yield Threat(rule.category, rule.name)
        if rule.name not in plain and rule.category != "fence_breakout":  # wide brackets are ordinary Chinese
            yield Threat("homoglyph", rule.name)
    for view in views.tight:
        yield from (Threat(rule.category, rule.name) for rule in matching(view, seen))
    for view in views.disguised:
        yield from (Threat("homoglyph", rule.name) for rule in matching(view, seen))
