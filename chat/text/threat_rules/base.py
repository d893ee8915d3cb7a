"""What a rule is, and how one is written."""

import re
from dataclasses import dataclass
from functools import cache
from typing import Final

from chat.text.threat_lexicon import expand

# Words of a lesson about such things; a rule may let a sentence with one of them pass.
TEACHING: Final = (
    r"讲[一解授述到]|[课章]|区别|为什么|解释|作用|原理|危险|概念|练习|举例|例子|学生|介绍|什么是|不要|不能|不得|切勿|别把|"
    r"禁止|防止|"
    r"(?<![a-z])(?:explain|why|lessons?|lecture|difference|compared?|danger\w*|unit|chapter|students?|pupils?|must not|"
    r"should not|"
    r"should never|never|do not|don't|avoid|quiz|worksheet|exercise|teach(?:es|ing)?|example|learn|history of|means|"
    r"homework)(?![a-z])"
)


@dataclass(frozen=True, slots=True)
class Rule:
    """`what` is looked for in one sentence of the folded text, or in the whole text; with `also` found there, too, and `unless` not.

    All are patterns; they are compiled when a text is first looked at.
    """

    category: str
    name: str
    what: str
    also: tuple[str, ...] = ()
    unless: str = ""
    is_whole: bool = False

    def matches(self, text: str) -> bool:
        if not all(compiled(one).search(text) for one in (self.what, *self.also)):
            return False
        return not (self.unless and compiled(self.unless).search(text))


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


def rule(category: str, name: str, *what: str, unless: str = "") -> Rule:
    """A rule for a sentence: all of `what`, templates with classes, in any order."""
    first, *also = map(expand, what)
    return Rule(category, name, first, tuple(also), expand(unless))


def whole(category: str, name: str, what: str, *, unless: str = "") -> Rule:
    """A rule for the whole text; `^` and `$` are the ends of a line."""
    return Rule(category, name, what, (), unless, is_whole=True)
