"""The place where sensitive text about people is taken out of what memory keeps (DESIGN §7, seed 000 §2.4).

General rules on normalised text: NFKC, nothing invisible, spaces and hyphens inside numbers, Chinese numerals. Check digits come from
python-stdnum. A transcript is never changed; summaries, candidates, notes and entries are.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from stdnum import luhn
from stdnum.cn import ric
from stdnum.exceptions import ValidationError

from chat.text.outline import cut_before
from chat.text.redline_people import PERSON
from chat.text.redline_rules import RULES

_NAMES: Final = {
    **{"id_card": "身份证件", "id_doc": "证件号码", "bank_card": "银行卡号", "phone": "联系方式", "contact": "联系方式"},
    **{"score": "学生成绩", "rank": "学生成绩", "health": "健康状况", "address": "家庭住址", "family": "家庭情况"},
}

_CHINESE_DIGITS: Final = str.maketrans("零〇一二三四五六七八九幺两", "0012345678912")
# The first two digits of a national ID.
_PROVINCES: Final = frozenset(
    [*range(11, 16), *range(21, 24), *range(31, 38), *range(41, 47), *range(50, 55), *range(61, 66), 71, 81, 82, 83]
)
_SENTENCE: Final = re.compile(r"(?:[^。！？!?;；\n.]|\.(?!\s|\Z)|(?<=[Nn]o)\.(?=\s[A-Za-z]{0,2}\d))+[。！？!?;；\n.]*|[。！？!?;；\n.]+")
_CLAUSE: Final = re.compile(r"(?:[^，,]|(?<=\d),(?=\d{3}))+[，,]*|[，,]+")

# What a number, an address of mail or a name of an account may go on with, spelled out or spaced; of what is longer only the end.
_HALF_NUMBER: Final = re.compile(r"(?:(?![\u3400-\u9fff])[\w\s.@+()（）\-–—]|[零〇一二三四五六七八九十百幺两]){1,80}\Z")
_PUNCTUATION: Final = "，,。！？!?;；\n. "

_A_FEW_DIGITS: Final = re.compile(r"(?:[^\d]*\d){3}", re.DOTALL)  # cheap, and every number below has them
# Digits with single blanks, hyphens or dots between them.
_DIGITS: Final = re.compile(r"(?<![\d.])\d(?:[ \t·-]?\d){6,40}(?:[ ]?[Xx](?![A-Za-z]))?(?![\d])")
_GROUPED_CARD: Final = re.compile(r"\d{13,19}|\d{4}(?:[ -]\d{4}){2,3}(?:[ -]\d{1,4})?|\d{6}[ -]\d{7,13}|\d{4}[ -]\d{6}[ -]\d{5}")
_MOBILE: Final = re.compile(
    r"(?<![\d.])(?:\+?86[ -]?)?1[3-9]\d(?:\d{8}|[ -]\d{4}[ -]\d{4}|[ -]\d{3}[ -]\d{5}|\d[ -]\d{3}[ -]\d{4})(?![\d]|[ -]\d{4})"
)
_SPACED_MOBILE: Final = re.compile(r"(?<![\d])1[ -]?[3-9](?:[ -]?\d){9}(?![\d])")
_LANDLINE: Final = re.compile(
    r"(?<![\d.+-])(?:\(0\d{2,3}\)[ -]?|0\d{2,3}[ -])\d{3,4}[ -]?\d{4}(?![\d-])|\+\d{1,3}[ -](?:\(?\d{2,4}\)?[ -]){1,3}\d{3,8}(?!\d)"
)
_LOCAL_NUMBER: Final = re.compile(r"(?<![\d.-])[2-9]\d{2,3}[ -]?\d{4}(?![\d-])")

_ID_WORDS: Final = re.compile(r"身份证|证件|\bID\b|identity|身份号", re.IGNORECASE)
_CARD_WORDS: Final = re.compile(
    r"银行卡|工资卡|储蓄卡|信用卡|借记卡|社保卡|卡号|账[户号]|帐[户号]|[打转汇]到|张卡|\bcard\b|bank account|account number", re.IGNORECASE
)
_OTHER_NUMBER: Final = re.compile(
    r"单号|快递|订单|流水|条形码|条码|书号|编号|序列号|时间戳|二进制|排序|阶乘|次方|整除|读作|科学记数|serial|order no|"
    r"tracking|array|timestamp|ISBN|binary",
    re.IGNORECASE,
)
_PHONE_WORDS: Final = re.compile(
    r"电话|手机|座机|联系|拨打|打给|号码|微信|加到|phone|mobile|\bcell\b|\bring\b|\breach\b|\bcall\b|\btext\b|whatsapp|\btel\b",
    re.IGNORECASE,
)
_QUANTITY: Final = re.compile(r"读作|科学记数|亿|单位换算|万元|公里|千米|平方|整除|素数|质数")
_DOCUMENT: Final = re.compile(
    r"(?:护照|通行证|准考证|学籍|[军士警][官兵]?证|台胞证|回乡证|证件?(?:号码?|编号)|社保|医保|居住证|驾[驶照]|户口簿?|"
    r"出生证|残疾证|考生号|passport|permit|"
    r"admission (?:number|no)|exam number|"
    r"visa|licen[cs]e|social security|insurance)"
    r"[^\d\n。;]{0,16}?(?P<number>(?<![A-Za-z])[A-Za-z]{0,3}\d[\d -]{5,24}[\dXx])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Hit:
    """Sensitive text from `start` to `end` of the original; `rule` says for people what was recognised."""

    kind: str
    start: int
    end: int
    rule: str


def find(text: str) -> list[Hit]:
    """All sensitive places of `text`, in order; those of one kind do not overlap."""
    plain, places = _normalise(text)
    found = {(kind, places[start], places[end - 1] + 1, rule) for kind, start, end, rule in _find_in(plain) if end > start}
    hits: list[Hit] = []
    for kind, start, end, rule in sorted(found, key=lambda hit: (hit[0], hit[1], -hit[2], hit[3])):
        if not (hits and hits[-1].kind == kind and start < hits[-1].end):
            hits.append(Hit(kind, start, end, rule))
    return sorted(hits, key=lambda hit: (hit.start, hit.end))


def head_of(text: str, most_chars: int) -> str:
    """The beginning of `text`, to be looked through instead of a text that is too long; it does not end within a number.

    Half a number is not recognised, and what was before it can come to so little that its end is kept.
    """
    if len(text) <= most_chars:
        return text
    return _HALF_NUMBER.sub("", text[: cut_before(text, most_chars)])


def redact(text: str) -> str:
    """`text` with a placeholder for each sensitive place, such as (涉及学生成绩，略)."""
    pieces: list[str] = []
    done = 0
    names: list[str] = []
    for hit in find(text):
        name = _NAMES[hit.kind]
        between = text[done : hit.start] if hit.start > done else ""
        if not pieces or re.search(r"\w", between):
            names = []
        if hit.start >= done:
            pieces.append(between if name not in names else "")
        if name not in names:
            pieces.append(f"(涉及{name}，略)")
            names.append(name)
        done = max(done, hit.end)
    return "".join(pieces) + text[done:]


def _normalise(text: str) -> tuple[str, list[int]]:
    """`text` in NFKC without invisible characters, and for each character of it the place it came from."""
    plain: list[str] = []
    places: list[int] = []
    for i, char in enumerate(text):
        for c in unicodedata.normalize("NFKC", char):
            if unicodedata.category(c) not in ("Cf", "Mn", "Me") and (c == "\n" or unicodedata.category(c) != "Cc"):
                plain.append(" " if c.isspace() and c != "\n" else c)
                places.append(i)
    return "".join(plain), places


_Found = tuple[str, int, int, str]


def _find_in(plain: str) -> Iterator[_Found]:
    for sentence in _SENTENCE.finditer(plain):
        start, end = sentence.span()
        yield from _numbers(sentence.group(), start)
        yield from _about_people(plain, start, end)


def _about_people(plain: str, start: int, end: int) -> Iterator[_Found]:
    sentence = plain[start:end]
    places = _Places(sentence)  # several rules look for the same
    for rule in RULES:
        matches = places[rule.what] if rule.needs is None or rule.needs.search(sentence) else []
        if not matches or (rule.who and not any(places[who] for who in rule.who)):
            continue
        if rule.kind == "contact":
            yield from ((rule.kind, start + match.start(), start + match.end(), rule.name) for match in matches)
            continue
        clauses = [clause.span() for clause in _CLAUSE.finditer(sentence)]
        starts = [clause[0] for clause in clauses]
        hit = {i for match in matches for i in range(bisect_right(starts, match.start()) - 1, bisect_left(starts, match.end()))}
        is_lesson = bool(rule.unless and places[rule.unless])
        for a, b in (clauses[i] for i in sorted(hit)):
            clause = sentence[a:b]
            if is_lesson and not (rule.who and PERSON.search(clause) and rule.unless and not rule.unless.search(clause)):
                continue
            yield (rule.kind, start + a, start + a + len(clause.rstrip(_PUNCTUATION)), rule.name)


class _Places(dict[re.Pattern[str], list[re.Match[str]]]):
    """Where a pattern matches in a sentence, looked for once."""

    def __init__(self, sentence: str) -> None:
        super().__init__()
        self._sentence = sentence

    def __missing__(self, pattern: re.Pattern[str]) -> list[re.Match[str]]:
        self[pattern] = found = list(pattern.finditer(self._sentence))
        return found


def _numbers(sentence: str, offset: int) -> Iterator[_Found]:
    digits = sentence.translate(_CHINESE_DIGITS)
    if not _A_FEW_DIGITS.match(digits):
        return
    for match in _DOCUMENT.finditer(sentence):
        yield ("id_doc", offset + match.start("number"), offset + match.end("number"), "number of a document")
    for kind, start, end, rule in (*_long_numbers(digits, sentence), *_phones(digits, sentence)):
        yield (kind, offset + start, offset + end, rule)


def _long_numbers(digits: str, sentence: str) -> Iterator[_Found]:
    for match in _DIGITS.finditer(digits):
        bare = re.sub(r"[^\dXx]", "", match.group()).upper()
        for kind, rule in (("id_card", _id_rule(bare, sentence)), ("bank_card", _card_rule(match.group(), bare, sentence))):
            if rule:
                yield (kind, match.start(), match.end(), rule)
                break


def _id_rule(bare: str, sentence: str) -> str:
    if len(bare) not in (15, 18) or int(bare[:2]) not in _PROVINCES or "X" in bare[:-1] or (len(bare) == 15 and "X" in bare):
        return ""
    full = bare if len(bare) == 18 else f"{bare[:6]}19{bare[6:]}0"
    try:
        ric.get_birth_date(full)
    except ValidationError:
        return ""
    has_word = bool(_ID_WORDS.search(sentence))
    if len(bare) == 15:
        return "national ID, 15 digits" if has_word or not _OTHER_NUMBER.search(sentence) else ""
    if ric.calc_check_digit(full) == full[-1]:
        return "national ID"
    return "national ID with a wrong check digit" if has_word else ""


def _card_rule(written: str, bare: str, sentence: str) -> str:
    if not (13 <= len(bare) <= 19 and bare.isdigit() and bare[0] in "234569" and _GROUPED_CARD.fullmatch(written)):
        return ""
    if _CARD_WORDS.search(sentence):
        return "bank card by its word"
    is_card = bare.startswith(("4", "62", "51", "52", "53", "54", "55", "34", "35", "37", "9558", "60", "65"))
    return "bank card" if is_card and len(bare) >= 15 and luhn.is_valid(bare) and not _OTHER_NUMBER.search(sentence) else ""


def _phones(digits: str, sentence: str) -> Iterator[_Found]:
    has_word = bool(_PHONE_WORDS.search(sentence))
    for match in _MOBILE.finditer(digits):
        if has_word or not (_QUANTITY.search(sentence) or _OTHER_NUMBER.search(sentence)):
            yield ("phone", match.start(), match.end(), "mobile number")
    for match in _LANDLINE.finditer(digits):
        if has_word or PERSON.search(sentence):
            yield ("phone", match.start(), match.end(), "telephone number")
    has_owner = has_word or bool(PERSON.search(sentence))
    for pattern in (_SPACED_MOBILE,) * has_owner + (_LOCAL_NUMBER,) * has_word:
        for match in pattern.finditer(digits):
            yield ("phone", match.start(), match.end(), "telephone number by its word")
