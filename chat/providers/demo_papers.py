"""The demo provider's exam papers: drawn from a small bank, the same for the same question."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from chat.providers.demo_bank import SUBJECTS, Choice, Item, Subject

NUMERALS = {"一": 1, "两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "1": 1, "2": 2, "3": 3, "4": 4, "5": 5, "6": 6}
KINDS = ("选择题", "填空题", "简答题")
_POINTS = {"选择题": 5, "填空题": 3, "简答题": 6}  # the bank's marking of short answers adds up to 6
_DEFAULT_COUNTS = {"选择题": 4, "填空题": 4, "简答题": 3}  # 50 points
_COUNT = re.compile(r"([一两二三四五六1-6])\s*[道个题]")
_MINUTES = re.compile(r"(\d{2,3})\s*分钟")
_DOUBLE = re.compile(r"100\s*分")
_CODE = """\
```c
typedef struct Node {
    int data;
    struct Node *next;
} Node;
```"""

Thing = TypeVar("Thing", bound=Choice | Item | str)


def subject_of(text: str) -> Subject | None:
    """The subject that a text speaks of; the one named first."""
    found = [(text.index(mark), order, subject) for order, subject in enumerate(SUBJECTS) for mark in subject.marks if mark in text]
    return min(found)[2] if found else None


def kinds_in(text: str) -> list[str]:
    return [kind for kind in KINDS if kind in text]


def count_in(text: str) -> int | None:
    """The number of questions that a text asks for, 1 to 6."""
    match = _COUNT.search(text)
    return NUMERALS[match[1]] if match else None


@dataclass(slots=True)
class _Sheet:
    """A paper in the making: its lines, and the answers for its end."""

    seed: str
    lines: list[str]
    answers: list[str]
    points: dict[str, int]
    number: int = 1

    def add(self, kind: str, question: Choice | Item) -> None:
        if isinstance(question, Choice):
            options = _ordered(question.options, self.seed + question.stem)
            letters = dict(zip(options, "ABCD", strict=True))
            self.lines += [f"{self.number}. {question.stem}（　　）", ""]
            self.lines += [f"   - {letter}. {option}" for option, letter in letters.items()]
            answer = f"{letters[question.options[0]]}（{question.why}）"
        else:
            self.lines.append(f"{self.number}. {question.stem}" + (f"（{self.points[kind]} 分）" if kind == "简答题" else ""))
            answer = question.answer
        self.lines.append("")
        self.answers.append(f"{self.number}. {answer}")
        self.number += 1


def paper(question: str, subject: Subject) -> str:
    """A paper with three sections, or with the one kind that the question names, and the answers at its end."""
    wanted = kinds_in(question)
    counts = {wanted[0]: count_in(question) or _DEFAULT_COUNTS[wanted[0]]} if len(wanted) == 1 else _DEFAULT_COUNTS
    is_double = len(counts) > 1 and bool(_DOUBLE.search(question))
    points = {kind: _POINTS[kind] * (2 if is_double else 1) for kind in counts}
    minutes = match[1] if (match := _MINUTES.search(question)) else "45"
    total = sum(points[kind] * count for kind, count in counts.items())
    sheet = _Sheet(question, [f"# 《{subject.name}》课堂测验", "", f"时间：{minutes} 分钟　满分：{total} 分", ""], [], points)
    if len(counts) > 1:
        sheet.lines += ["| 题型 | 题数 | 每题分值 | 小计 |", "|---|---|---|---|"]
        sheet.lines += [f"| {kind} | {count} | {points[kind]} | {count * points[kind]} |" for kind, count in counts.items()]
        sheet.lines.append("")
    for i, (kind, count) in enumerate(counts.items()):
        sheet.lines += [f"## {'一二三'[i]}、{kind}（每题 {points[kind]} 分，共 {count * points[kind]} 分）", ""]
        if kind == "简答题" and subject.name == "数据结构":
            sheet.lines += ["涉及链表的题目采用下面的结点定义：", "", _CODE, ""]
        for one in _ordered(_pool(subject, kind), question)[:count]:
            sheet.add(kind, one)
    scale = ["简答题的要点按 6 分标注，评分时加倍。", ""] if is_double else []
    return "\n".join([*sheet.lines, "## 参考答案与评分要点", "", *scale, *sheet.answers])


def replacements(question: str, subject: Subject, kind: str, seen: str) -> str:
    """New questions of a kind, none of which stands in `seen`, with their answers; numbered as in the paper that is seen."""
    fresh = [one for one in _ordered(_pool(subject, kind), question) if one.stem not in seen]
    count = min(count_in(question) or 1, len(fresh))
    if not count:
        return f"题库里《{subject.name}》的{kind}都已经用过，没有新的可换。"
    number, points = _place(seen, kind)
    sheet = _Sheet(question, [f"## 替换的{kind}（{count} 道）", ""], [], {kind: points}, number)
    for one in fresh[:count]:
        sheet.add(kind, one)
    note = f"其余题目、题号和分值不变；替换的是原卷{kind}的前 {count} 道。"
    return "\n".join([*sheet.lines, "### 参考答案与评分要点", "", *sheet.answers, "", note])


def _pool(subject: Subject, kind: str) -> Sequence[Choice | Item]:
    pools: dict[str, Sequence[Choice | Item]] = {"选择题": subject.choices, "填空题": subject.blanks, "简答题": subject.shorts}
    return pools[kind]


def _ordered(things: Sequence[Thing], seed: str) -> list[Thing]:
    """The things in an order that depends on the seed alone."""

    def rank(thing: Thing) -> bytes:
        stem = thing if isinstance(thing, str) else thing.stem
        return hashlib.sha256(f"{seed}\n{stem}".encode("utf-8", "replace")).digest()

    return sorted(things, key=rank)


def _place(seen: str, kind: str) -> tuple[int, int]:
    """Number of the first question, and points of each, under the first heading of that kind in what is seen."""
    number = re.search(rf"^#+ [一二三]、{kind}.*?^(\d+)\. ", seen, re.MULTILINE | re.DOTALL)
    points = re.search(rf"{kind}（每题 (\d+) 分", seen)
    return int(number[1]) if number else 1, int(points[1]) if points else _POINTS[kind]
