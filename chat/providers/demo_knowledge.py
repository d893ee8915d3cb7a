"""What the demo provider makes of the passages of the knowledge base: it quotes the sentence that is most like the question."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from chat.providers.demo_memory import shortened
from chat.text.boundary import KNOWLEDGE, close_line
from chat.text.features import features

QUOTE_CHARS = 80
QUOTED_MOST = 3

_OPEN = re.compile(rf"^\[{KNOWLEDGE} — .*\]\n", re.MULTILINE)
_HEAD = re.compile(r"^\[(\d+)\] (《.*)\n", re.MULTILINE)
_SENTENCE = re.compile(r"[^。！？!?；;\n]+[。！？!?；;]?")


@dataclass(frozen=True, slots=True)
class Cited:
    """A passage with its number and the line that says where it stands."""

    number: int
    place: str
    text: str


def cited_in(text: str) -> list[Cited]:
    """The passages between the lines of the boundary, in a prompt or in what the tool gave."""
    opened = _OPEN.search(text)
    if opened is None:
        return []
    parts = _HEAD.split(text[opened.end() :].partition(f"\n{close_line(KNOWLEDGE)}")[0] + "\n")
    return [Cited(int(number), place, body.strip()) for number, place, body in zip(parts[1::3], parts[2::3], parts[3::3], strict=True)]


def quotes(passages: Sequence[Cited], question: str, *, is_english: bool = False) -> str:
    """A line for each of the first passages, with its mark; "" for none."""
    lines = []
    for one in passages[:QUOTED_MOST]:
        said = shortened(_most_like(one.text, question), QUOTE_CHARS)
        lines.append(f"- {one.place}: “{said}” [{one.number}]" if is_english else f"- {one.place}：「{said}」[{one.number}]")
    if not lines:
        return ""
    lead = "From the knowledge base:" if is_english else "知识库里与此有关的内容："
    return "\n".join([lead, "", *lines])


def looked_up(result: str, question: str) -> str:
    """What the tool `kb_search` found."""
    return quotes(cited_in(result), question) or f"已用工具 kb_search 查找。{result}"


def _most_like(text: str, question: str) -> str:
    """The sentence that shares most with the question, headings aside; the first of equal ones."""
    wanted = set(features(question))
    sentences = [found[0].strip() for line in text.split("\n") if not line.startswith("#") for found in _SENTENCE.finditer(line)]
    return max(sentences, key=lambda one: len(wanted.intersection(features(one))), default=text)
