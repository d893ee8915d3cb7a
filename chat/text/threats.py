"""The threat scan: finds text that gives the assistant orders, where only facts may stand (DESIGN §7, specs/notes_memory.md §2).

General rules on views of the text in which nothing is hidden (threat_folding): a verb of a class, its object and its qualifiers, and
always with a reading that means the assistant, its user or its prompt. The stored text is never changed.
"""

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from chat.text.threat_anchors import Finder
from chat.text.threat_folding import has_invisible, plain_of, views_of
from chat.text.threat_lexicon import PAIRS, WORDS
from chat.text.threat_rules import RULES
from chat.text.threat_rules.base import Rule

CATEGORIES: Final = (
    *("instruction_override", "role_hijack", "prompt_leak", "deception", "exfiltration", "secret_access", "persistence"),
    *("authority_grant", "fence_breakout", "hidden_markup", "command_exec", "invisible_unicode", "homoglyph"),
)
TOO_LONG: Final = "too_long"
# More than any text that goes into a prompt; longer ones are refused, not looked through in part.
CHARS_MOST: Final = 100_000

_SENTENCE: Final = re.compile(r"(?:[^。!?\n.]|[!?](?=[\w\[(/=&\"'-])|\.(?=\S))+[。!?.]*")


def patterns() -> list[tuple[str, ...]]:
    """What must be met for a rule to match, rule by rule."""
    return [(rule.what, *rule.also) for rule in RULES]


@cache
def _finder() -> Finder:
    return Finder(patterns())


def _matching(view: str, seen: dict[str, int], without: Container[str] = ()) -> Iterator[Rule]:
    """The rules that match in `view`, sentence by sentence; those that are in `seen` were looked at in another view."""
    whole = _finder().met("")
    for sentence in _SENTENCE.findall(view):
        if sentence not in seen:
            seen[sentence] = _finder().met(sentence)
            yield from _tried(seen[sentence], sentence, without, is_whole=False)
        whole |= seen[sentence]
    yield from _tried(whole, view, without, is_whole=True)


def _tried(met: int, text: str, without: Container[str], *, is_whole: bool) -> Iterator[Rule]:
    for place in _finder().groups_of(met):
        rule = RULES[place]
        if rule.is_whole == is_whole and rule.name not in without and rule.matches(text):
            yield rule


def warm_up() -> None:
    """Reads the index of the rules, or makes it; a rule is compiled by the first text that it may match in (all of them: 0.45 s of CPU)."""
    _finder()


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
    seen, found = dict[str, int](), set[str]()
    hits = list(_matching(views.folded, seen))
    plain = "" if text.isascii() else plain_of(text)
    for rule in hits:
        yield Threat(rule.category, rule.name)
        if plain and rule.category != "fence_breakout" and not _stands_in(plain, rule):  # wide brackets are ordinary Chinese
            yield Threat("homoglyph", rule.name)
    found.update(rule.name for rule in hits)
    for view in views.tight:
        for rule in _matching(view, seen, without=found):
            found.add(rule.name)
            yield Threat(rule.category, rule.name)
    for view in views.disguised:
        yield from (Threat("homoglyph", rule.name) for rule in _matching(view, seen))


def _stands_in(view: str, rule: Rule) -> bool:
    return any(map(rule.matches, [view] if rule.is_whole else _SENTENCE.findall(view)))
