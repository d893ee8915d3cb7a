"""Word files, by python-docx: paragraphs with their headings, tables row by row, text boxes.

Left out is what the library does not give: numbers that Word counts, formulas, footnotes, comments, and the heads and feet
of pages. Files in the strict variant of the format, which Word writes only when asked to, are none for it.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from docx import Document
from docx.oxml.ns import qn
from docx.oxml.xmlchemy import BaseOxmlElement
from docx.styles.style import CharacterStyle
from docx.table import Table
from docx.text.paragraph import Paragraph
from lxml import etree

from chat.documents.archive import text_only
from chat.documents.base import DocumentError, Limits, Progress
from chat.documents.blocks import Block, Content
from chat.documents.decode import clean
from chat.documents.text import level_of
from chat.text.outline import BOLD_LEVEL

_COMPATIBILITY: Final = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
# The library does not look into these: content controls, fields, what was inserted or moved here, the first of two copies.
_OPENED: Final = (
    *map(qn, ("w:sdt", "w:sdtContent", "w:customXml", "w:smartTag", "w:fldSimple", "w:ins", "w:moveTo")),
    f"{_COMPATIBILITY}AlternateContent",
    f"{_COMPATIBILITY}Choice",
)
# What was deleted or moved away, the second copy; and marks of merged cells, which the library tells once for each place.
_DROPPED: Final = (*map(qn, ("w:del", "w:moveFrom", "w:vMerge", "w:gridSpan")), f"{_COMPATIBILITY}Fallback")

_HEADING_NAME: Final = re.compile(r"(?:heading|标题)\s*([1-9])\Z", re.IGNORECASE)
_TITLES: Final = ("title", "标题")
_BODY: Final = 9
_CELLS: Final = " | "
# Longer rows are forms: each cell gets its own lines.
_ROW_CHARS: Final = 240
_HEADER_CELL_CHARS: Final = 24
_HEADER_ROWS: Final = 3
_BOLD_HEADING_CHARS: Final = 30


def read(data: bytes, limits: Limits, progress: Progress) -> Content:
    document = Document(text_only(data))
    # Entities are declared in a document type, which no office program writes; the library would leave them out of the text.
    if document.element.getroottree().docinfo.doctype:
        raise DocumentError("broken")
    progress(1, 2)
    _simplify(document.element)
    content = Content(list(_Reader().blocks(document.iter_inner_content())))
    progress(2, 2)
    return content


def _simplify(root: BaseOxmlElement) -> None:
    etree.strip_elements(root, *_DROPPED, with_tail=False)
    etree.strip_tags(root, *_OPENED)
    for base in root.iter(qn("w:rubyBase")):  # below the reading of a character
        for text in list(base.iter(qn("w:t"))):
            base.getparent().addprevious(text)


class _Reader:
    def __init__(self) -> None:
        self._levels: dict[str | None, int] = {}

    def blocks(self, items: Iterable[Paragraph | Table]) -> Iterator[Block]:
        """What stands in a body or a cell, in order."""
        for item in items:
            if isinstance(item, Table):
                yield from self._table(item)
                continue
            yield from self._paragraph(item)
            for inner in item._p.xpath(".//w:txbxContent//w:p"):
                yield from self._paragraph(Paragraph(inner, item))

    def _paragraph(self, paragraph: Paragraph) -> Iterator[Block]:
        text = clean(paragraph.text).strip("\n")
        if text.strip():
            level = self._level(paragraph) or _plain_level(paragraph, text)
            yield Block(text, "heading" if level else "paragraph", level)

    def _level(self, paragraph: Paragraph) -> int:
        """The level that its format gives to a paragraph, 0 for text."""
        own = _outline(paragraph._p)
        if own is not None:
            return own
        name = paragraph._p.style
        if name not in self._levels:
            self._levels[name] = _style_level(paragraph.style)
        return self._levels[name]

    def _table(self, table: Table) -> Iterator[Block]:
        rows = [["\n".join(block.text for block in self.blocks(cell.iter_inner_content())) for cell in row.cells] for row in table.rows]
        header = _CELLS.join(rows[0]) if _has_header(rows) else ""
        for place, cells in enumerate(rows):
            text = _CELLS.join(cell.replace("\n", " ") for cell in cells)
            if len(text) > _ROW_CHARS:
                text = "\n".join(cell for cell in cells if cell)
            if text.strip(" |"):
                yield Block(text, "row", header=header if place else "")


def _outline(element: BaseOxmlElement) -> int | None:
    """The level that a paragraph or a style has of its own: 2 is the highest, as 1 is the title's."""
    found = element.xpath("./w:pPr/w:outlineLvl/@w:val")
    if not found or not found[0].isdecimal():
        return None
    return int(found[0]) + 2 if int(found[0]) < _BODY else 0


def _style_level(style: CharacterStyle | None) -> int:
    passed = set()
    while style is not None and style.style_id not in passed:
        passed.add(style.style_id)  # styles may be based on each other in a circle
        name = (style.name or "").strip()
        if match := _HEADING_NAME.match(name):
            return int(match[1]) + 1
        if name.lower() in _TITLES:
            return 1
        own = _outline(style.element)
        if own is not None:
            return own
        style = style.base_style
    return 0


def _plain_level(paragraph: Paragraph, text: str) -> int:
    """The level of a paragraph that only looks like a heading."""
    if "\n" in text:
        return 0
    is_short = len(text) <= _BOLD_HEADING_CHARS and not text.endswith(("。", "；", "，", "：", ":", ".", "？", "?"))
    is_bold = is_short and all(run.bold for run in paragraph.runs if run.text.strip())
    return level_of(text, is_markdown=False) or (BOLD_LEVEL if is_bold else 0)


def _has_header(rows: list[list[str]]) -> bool:
    if len(rows) < _HEADER_ROWS or len(rows[0]) < 2:
        return False
    return all(cell and len(cell) <= _HEADER_CELL_CHARS and "\n" not in cell and not cell.isdecimal() for cell in rows[0])
