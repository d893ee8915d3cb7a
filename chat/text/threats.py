"""The threat scan: finds text that gives the assistant orders, where only facts may stand (DESIGN §7, specs/notes_memory.md §2).

General rules on views of the text in which nothing is hidden (threat_folding): a verb of a class, its object and its qualifiers, and
always with a reading that means the assistant, its user or its prompt. The stored text is never changed.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from chat.text import threat_forms, threat_orders, threat_reach
from chat.text.threat_folding import has_invisible, plain_of, views_of
from chat.text.threat_lexicon import PAIRS, WORDS, classes_in
from chat.text.threat_rules import Rule

CATEGORIES: Final = (
    *("instruction_override", "role_hijack", "prompt_leak", "deception", "exfiltration", "secret_access", "persistence"),
    *("authority_grant", "fence_breakout", "hidden_markup", "command_exec", "invisible_unicode", "homoglyph"),
)
TOO_LONG: Final = "too_long"
# More than any text that goes into a prompt; longer ones are refused, not looked through in part.
CHARS_MOST: Final = 100_000

_RULES: Final = (*threat_orders.RULES, *threat_reach.RULES, *threat_forms.RULES)
_BY_SENTENCE: Final = tuple(rule for rule in _RULES if not rule.is_whole)
_OF_WHOLE: Final = tuple(rule for rule in _RULES if rule.is_whole)
_SENTENCE: Final = re.compile(r"(?:[^。!?\n.]|[!?](?=[\w\[(/=&\"'-])|\.(?=\S))+[。!?.]*")


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
    hit = [*_matches(views.folded), *(rule for view in views.tight for rule in _matches(view))]
    if hit:
        plain = {rule.name for rule in _matches(plain_of(text))} if not text.isascii() else {rule.name for rule in hit}
        for rule in hit:
            yield Threat(rule.category, rule.name)
            if rule.name not in plain and not views.tight:
                yield Threat("homoglyph", rule.name)
    for view in views.disguised:
        for rule in _matches(view):
            yield Threat("homoglyph", rule.name)


def _matches(view: str) -> Iterator[Rule]:
    for rule in _OF_WHOLE:
        if rule.matches(view):
            yield rule
    for sentence in _SENTENCE.findall(view):
        classes = classes_in(sentence)
        for rule in _BY_SENTENCE:
            if rule.needs & classes == rule.needs and rule.matches(sentence):
                yield rule
