"""What a format makes of its bytes, before it is cut into passages."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from chat.documents.base import Limits, Progress

# line       a line of a text: a paragraph, or a part of one that was wrapped
# paragraph  a whole paragraph, whatever it ends with
# heading    `level` counts from 1, the highest
# row        a row of a table
# code       a line that is no heading, whatever it looks like
Kind = Literal["line", "paragraph", "heading", "row", "code"]


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of a document in reading order; `text` may have several lines.

    `header` is what a row repeats when a passage begins with it: the first row of its table, empty in that row itself.
    """

    text: str
    kind: Kind = "line"
    level: int = 0
    page: int | None = None
    header: str = ""
    after_blank: bool = False


@dataclass(frozen=True, slots=True)
class Content:
    blocks: list[Block] = field(default_factory=list)
    pages: int | None = None
    encoding: str = ""


# Takes the bytes of a file; raises DocumentError. What else it raises means that the file is broken.
Reader = Callable[[bytes, Limits, Progress], Content]
