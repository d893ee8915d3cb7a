"""Passages as the model sees them, each with its [n], and the citations of a run, whose n-th is what [n] means."""

import re
from collections.abc import Sequence
from typing import Final

from chat.memory.blocked import threat_of
from chat.memory.knowledge.find import Found
from chat.models import Passage, Run
from chat.text.boundary import KNOWLEDGE, clean, close_line, open_line

OPEN: Final = open_line(KNOWLEDGE, "下列摘自教师与学校的文档，每段开头的 [n] 是它的编号")
CLOSE: Final = close_line(KNOWLEDGE)
RULE: Final = "用到知识库检索结果中的某一段时，在那句话的末尾写上它的编号，例如 [1]；没有用到的不写，不得编造编号。"
NAME_CHARS: Final = 80
_MARK: Final = re.compile(r"^(\s*)\[(\d{1,6})\](?=\s*《)", re.MULTILINE)


def head(number: int, passage: Passage) -> str:
    """`[n] 《文件名》第 p 页 / 标题路径`."""
    name = _line(passage.document.name)[:NAME_CHARS]
    page = f"第 {passage.page} 页" if passage.page else ""
    heading = f" / {_line(passage.heading)}" if passage.heading else ""
    return f"[{number}] 《{name}》{page}{heading}"


def body(passage: Passage) -> str:
    """The text as it may be sent: it can neither close the boundary nor look like the beginning of another passage."""
    return _MARK.sub(r"\1〔\2〕", clean(passage.text.strip()))


def threat_of_passage(passage: Passage) -> str:
    """The category for which the passage may not be told; "" when it may."""
    return threat_of("\n".join((passage.document.name, passage.heading, passage.text)))


def told(number: int, passage: Passage) -> str:
    return f"{head(number, passage)}\n{body(passage)}"


def framed(parts: Sequence[str]) -> str:
    return "\n".join([OPEN, *parts, CLOSE])


def _line(text: str) -> str:
    return " ".join(clean(text).split()).replace("《", "〈").replace("》", "〉")


def are_there(passage_ids: Sequence[str]) -> bool:
    """Whether none of the passages was deleted meanwhile."""
    return Passage.objects.filter(pk__in=passage_ids).count() == len(set(passage_ids))


def cite(run_id: str, found: Sequence[Found]) -> list[int]:
    """Adds the passages to the run's citations and returns their numbers; one that is there keeps its own.

    By conditional update, as another tool call of the run may do the same. An empty list when the run is gone.
    """
    wanted = [one.passage.pk for one in found]
    while True:
        known = Run.objects.filter(pk=run_id).values_list("citations", flat=True).first()
        if known is None:
            return []
        cited = [*known, *(key for key in dict.fromkeys(wanted) if key not in known)]
        if cited == known or Run.objects.filter(pk=run_id, citations=known).update(citations=cited):
            return [cited.index(key) + 1 for key in wanted]
