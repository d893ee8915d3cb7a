"""Wordings: when two of them are the same, look alike, or exclude each other. Pure functions."""

import re
import unicodedata
from typing import Final

from chat.models.core import FACT_MAX_CHARS
from chat.text.features import CJK, features

SIMILAR_LEAST: Final = 0.5

_KEPT_BETWEEN_DIGITS: Final = frozenset(".:/-~")
_KEPT_AFTER_WORD: Final = frozenset("+#%")
_BESIDE_CJK: Final = re.compile(rf"(?<=[{CJK}]) | (?=[{CJK}])")


def normal_form(text: str) -> str:
    """The form by which a fact is known: without width, case, punctuation and spaces that say nothing; at most 200 characters.

    `C++` and `C#`, `3.5` and `2-3` keep their signs, words of Latin letters one space between them. "" when nothing is said.
    """
    return folded(text)[:FACT_MAX_CHARS].rstrip()


def folded(text: str) -> str:
    """The normal form of a text of any length."""
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    kept: list[str] = []
    for i, char in enumerate(plain):
        category = unicodedata.category(char)
        if category[0] in "LN" or (category in ("Mn", "Mc") and kept and kept[-1] != " "):
            kept.append(char)
        elif category == "Cf":
            continue
        elif _says_something(plain, i):
            kept.append(char)
        else:
            kept.append(" ")
    return _BESIDE_CJK.sub("", " ".join("".join(kept).split()))


def _says_something(plain: str, i: int) -> bool:
    char, before, after = plain[i], plain[i - 1 : i], plain[i + 1 : i + 2]
    if char in _KEPT_BETWEEN_DIGITS:
        return before.isdigit() and after.isdigit()
    if char in _KEPT_AFTER_WORD:
        return before.isascii() and (before.isalnum() or before == char)
    return False


# What most facts say: who, and that they like it. Two facts are not alike because of it.
_FRAME: Final = re.compile(
    r"(?:这位|该)?(?:老师|教师|用户|本人)(?!们)|我(?!们|国|校)|喜欢|偏好|偏爱|喜爱|习惯于?|倾向于?|希望|更?愿意|总是|通常|一般|平时|经常|"
    r"以后|今后|每次|请|都|要|使用|采用|[更很最]|[用的了是以在给]"
    r"|\b(?:the|a|an|teacher|user|i|my|me|he|she|they|likes?|prefers?|prefer|wants?|always|usually|please|to|is|am|are|uses?|using|with|in|of|for|and)\b"
)


def topics(text: str) -> set[str]:
    """Features of what a wording is about, without its frame (老师喜欢用…); all features when nothing else is left."""
    plain = folded(text)
    return {_stem(one) for one in features(_FRAME.sub(" ", plain))} or {_stem(one) for one in features(plain)}


def _stem(word: str) -> str:
    """An English word without its ending, so that `teaches` and `teach` are one."""
    if not word.isascii() or not word.isalpha():
        return word
    for ending in ("ing", "es", "ed", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word


def likeness(a: str, b: str) -> float:
    """How much of what two wordings are about is the same: 0 to 1; from SIMILAR_LEAST on they are shown as similar."""
    return overlap(topics(a), topics(b))


def overlap(one: set[str], other: set[str]) -> float:
    """The likeness of two wordings whose topics are known."""
    common = len(one & other)
    if not common:
        return 0.0
    return 0.6 * common / min(len(one), len(other)) + 0.4 * common / len(one | other)


# --- Contradictions: the same sentence with another value in the same place. ---

_NUMBER: Final = r"(?:\d+(?:\.\d+)?|[零一二两三四五六七八九十百]+)"
_SLOTS: Final = (
    ("grade", r"(?:高[一二三123]|初[一二三123]|大[一二三四]|[一二三四五六七八九123456789]年级|grade \d{1,2}|year \d{1,2})(?:年级)?"),
    ("class", rf"{_NUMBER}班"),
    ("subject", "语文|数学|英语|物理|化学|生物|历史|地理|政治|信息技术|信息|科学|体育|音乐|美术|数据结构|计算机"),
    ("language", "中文|汉语|英文|双语|chinese|english"),
    ("length", "详细|详尽|简洁|简短|简略|简要|brief|short|long|detailed"),
    ("script", "简体|繁体"),
    ("shape", "表格|列表|段落|条目|tables?|lists?|bullet points|paragraphs?"),
    ("order", "先讲|后讲|开头|结尾|最前|最后|first|last"),
    ("amount", rf"{_NUMBER}\s*(?:道|题|分钟|分|页|遍|次|个|节|课时|字|人|岁|年|点|天|周|minutes?|pages?|questions?|points?|words?|years?)"),
    ("number", r"\d+(?:\.\d+)?"),
)
_SLOT: Final = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _SLOTS))
# In a wording about likes and dislikes, these may stand side by side.
_SIDE_BY_SIDE: Final = frozenset({"subject", "shape", "language"})
_NOT: Final = re.compile(
    r"不再|不太|不想|不要|不用|不会|不爱|不(?=[喜希愿习偏倾能教带出])|别再?|没有|没(?=[教带])|无需|避免|拒绝|讨厌|反感"
    r"|\b(?:do not|does not|don t|doesn t|dont|doesnt|never|no longer|not|without|avoids?|dislikes?|hates?)\b"
)
_TOO: Final = re.compile(r"也|还|同时|另外|此外|以及|\b(?:also|too|as well|besides)\b")
_LIKES: Final = re.compile(r"喜欢|偏好|偏爱|喜爱|讨厌|反感|\b(?:likes?|prefers?|dislikes?|hates?)\b")


def contradicts(new: str, old: str) -> bool:
    """Whether `new` can hardly be true beside `old`: one denies what the other says, or another value stands in the same place.

    Cautious: people are only offered to replace, and 也 or 同时 says that both hold.
    """
    a, b = folded(new), folded(old)
    if a == b or _TOO.search(a):
        return False
    positive_a, positive_b = _NOT.sub("", a), _NOT.sub("", b)
    if bool(_NOT.search(a)) != bool(_NOT.search(b)):
        return _is_same(positive_a, positive_b)
    values_a, values_b = _values(positive_a), _values(positive_b)
    if [slot for slot, _ in values_a] != [slot for slot, _ in values_b] or values_a == values_b:
        return False
    different = {slot for (slot, one), (_, other) in zip(values_a, values_b, strict=True) if one != other}
    if _LIKES.search(a) and different <= _SIDE_BY_SIDE:
        return False
    return _is_same(_SLOT.sub(" ", positive_a), _SLOT.sub(" ", positive_b))


def _values(plain: str) -> list[tuple[str, str]]:
    return [(str(match.lastgroup), match.group()) for match in _SLOT.finditer(plain)]


def _is_same(a: str, b: str) -> bool:
    """Whether the two say the same, up to their frame."""
    one, other = _topics_left(a), _topics_left(b)
    if not one or not other:
        return one == other
    return len(one & other) / len(one | other) >= 0.75


def _topics_left(plain: str) -> set[str]:
    return {_stem(one) for one in features(_FRAME.sub(" ", plain))}
