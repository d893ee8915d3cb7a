"""Plain text and Markdown."""

import re
from collections.abc import Iterator
from typing import Final

from chat.documents.base import Limits, Progress
from chat.documents.blocks import Block, Content
from chat.documents.decode import decode
from chat.text.outline import NUMBERED_LEVEL, heading_level

_FENCE: Final = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_UNDERLINE: Final = re.compile(r"\s{0,3}(=+|-{2,})\s*\Z")
_DIVIDER: Final = "|:- \t"
# A line of a table of contents: dots and the page.
_CONTENTS_LINE: Final = re.compile(r"(?:[.．·]{3,}|…+)\s*\d+\s*\Z")
_CONTENTS_CHARS: Final = 200


def read_plain(data: bytes, limits: Limits, progress: Progress) -> Content:
    text, encoding = decode(data)
    lines = text.split("\n")
    blocks = [
        Block(line, "heading" if level else "line", level, after_blank=place > 0 and not lines[place - 1])
        for place, line in enumerate(lines)
        if line
        for level in [level_of(line, is_markdown=False)]
    ]
    return Content(blocks, encoding=encoding)


def read_markdown(data: bytes, limits: Limits, progress: Progress) -> Content:
    text, encoding = decode(data)
    return Content(list(_markdown(text.split("\n"))), encoding=encoding)


def level_of(line: str, is_markdown: bool = True) -> int:
    """The level of a line as a heading, 0 for none. A numbered line is a question rather than a heading."""
    bare = line.strip()
    if (len(bare) <= _CONTENTS_CHARS and _CONTENTS_LINE.search(bare)) or (not is_markdown and bare.startswith(("#", "*", "_"))):
        return 0
    level = heading_level(bare)
    return 0 if level == NUMBERED_LEVEL else level


def _markdown(lines: list[str]) -> Iterator[Block]:
    end_of_matter = _front_matter(lines)
    fence = ""
    header, divider = "", -1
    for place, line in enumerate(lines):
        after_blank = place > 0 and not lines[place - 1]
        mark = _FENCE.match(line)
        if fence or mark or place < end_of_matter:
            if mark and not fence:
                fence = mark[1]
            elif mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            if line:
                yield Block(line, "code", after_blank=after_blank)
        elif not line:
            header = ""
        elif place == divider:
            continue  # it stands in the header
        elif header and "|" in line:
            yield Block(line, "row", header=header, after_blank=after_blank)
        elif "|" in line and place + 1 < len(lines) and _is_divider(lines[place + 1]):
            header, divider = f"{line}\n{lines[place + 1]}", place + 1
            yield Block(header, "row", after_blank=after_blank)
        else:
            header = ""
            level = _underlined(lines, place) or level_of(line)
            yield Block(line, "heading" if level else "line", level, after_blank=after_blank)


def _is_divider(line: str) -> bool:
    """True of the line between the header of a table and its rows."""
    return "|" in line and "-" in line and not line.strip(_DIVIDER)


def _front_matter(lines: list[str]) -> int:
    """How many lines at the beginning are front matter: between two lines of `---`."""
    if lines[0] != "---":
        return 0
    return next((place + 1 for place, line in enumerate(lines[1:40], 1) if line in ("---", "...")), 0)


def _underlined(lines: list[str], place: int) -> int:
    """The level of a heading that is underlined: 1 by `===`, 2 by `---`."""
    is_alone = place == 0 or not lines[place - 1]
    following = _UNDERLINE.match(lines[place + 1]) if is_alone and place + 1 < len(lines) else None
    return (1 if following[1][0] == "=" else 2) if following and not _UNDERLINE.match(lines[place]) else 0
