"""Word files: paragraphs with their headings and numbers, tables row by row, text boxes, formulas, footnotes.

Read from the archive's XML with the standard library: what Word shows as a number or in a box is not in the reach of
the libraries for docx, and those load every picture and stop at a relation that points nowhere, as WPS writes them.
"""

from collections.abc import Iterator
from typing import Final
from xml.etree.ElementTree import Element

from chat.documents.archive import Archive
from chat.documents.base import DocumentError, Limits, Progress
from chat.documents.blocks import Block, Content
from chat.documents.decode import clean
from chat.documents.text import level_of
from chat.documents.word_styles import Numbering, Styles
from chat.documents.word_xml import child, children, local, text_of, value
from chat.text.outline import BOLD_LEVEL

_OFFICE_PARTS: Final = {"xl": "xlsx", "ppt": "pptx"}
# What holds paragraphs and tables, and is nothing itself.
_WRAPPERS: Final = {"sdt", "sdtContent", "customXml", "smartTag", "ins", "moveTo", "AlternateContent", "Choice"}
_CELLS: Final = " | "
# Longer rows are forms: each cell gets its own lines.
_ROW_CHARS: Final = 240
_HEADER_CELL_CHARS: Final = 24
_HEADER_ROWS: Final = 3
# A cell over several rows is said again in each, when it is a word or two.
_REPEATED_CHARS: Final = 20
_BOLD_HEADING_CHARS: Final = 30
_NOTES: Final = ("footnotes", "endnotes")


def read(data: bytes, limits: Limits, progress: Progress) -> Content:
    archive = Archive(data)
    main = archive.related("").get("officeDocument", "word/document.xml")
    root = archive.xml(main)
    if root is None or local(root.tag) != "document":
        raise DocumentError("not_what_it_says", _OFFICE_PARTS.get(main.partition("/")[0], "zip"))
    related = archive.related(main)
    progress(1, 2)
    document = _Document(Styles(_part(archive, related, "styles")), Numbering(_part(archive, related, "numbering")))
    blocks = list(document.blocks(child(root, "body")))
    for kind in _NOTES:
        for note in _part(archive, related, kind) or ():
            if not value(note, "type"):  # the others are lines that separate
                blocks += document.blocks(note)
    progress(2, 2)
    return Content(blocks)


def _part(archive: Archive, related: dict[str, str], kind: str) -> Element | None:
    return archive.xml(related[kind]) if kind in related else None


class _Document:
    def __init__(self, styles: Styles, numbering: Numbering) -> None:
        self._styles = styles
        self._numbering = numbering

    def blocks(self, parent: Element | None) -> Iterator[Block]:
        """What stands in a body, a cell, a box or a note, in order."""
        for node in parent if parent is not None else ():
            name = local(node.tag)
            if name == "p":
                yield from self._paragraph(node)
            elif name == "tbl":
                yield from self._table(node)
            elif name in _WRAPPERS:
                yield from self.blocks(node)

    def _paragraph(self, node: Element) -> Iterator[Block]:
        boxes: list[Element] = []
        text = clean(text_of(node, boxes)).strip("\n")
        properties = child(node, "pPr")
        form = self._styles.of(properties)
        if text.strip():
            label = self._numbering.label(form.numbering, form.depth) if form.numbering not in ("", "0") else ""
            text = f"{label} {text.lstrip()}" if label else text
            level = form.outline + 2 if form.outline is not None else self._plain_level(node, text)
            yield Block(text, "heading" if level else "paragraph", level)
        for box in boxes:
            yield from self.blocks(box)

    def _plain_level(self, node: Element, text: str) -> int:
        """The level of a paragraph that only looks like a heading."""
        level = 0 if "\n" in text else level_of(text, is_markdown=False)
        is_short = len(text) <= _BOLD_HEADING_CHARS and not text.endswith(("。", "；", "，", "：", ":", ".", "？", "?"))
        return level or (BOLD_LEVEL if is_short and "\n" not in text and _is_bold(node) else 0)

    def _table(self, node: Element) -> Iterator[Block]:
        rows = list(self._rows(node))
        header = _CELLS.join(rows[0]) if _has_header(rows) else ""
        for place, cells in enumerate(rows):
            text = _CELLS.join(cell.replace("\n", " ") for cell in cells)
            if len(text) > _ROW_CHARS:
                text = "\n".join(cell for cell in cells if cell)
            if text.strip(" |"):
                yield Block(text, "row", header=header if place else "")

    def _rows(self, table: Element) -> Iterator[list[str]]:
        above: dict[int, str] = {}
        for row in _within(table, "tr"):
            cells, column = [], 0
            for cell in _within(row, "tc"):
                properties = child(cell, "tcPr")
                merged = child(properties, "vMerge")
                text = "\n".join(block.text for block in self.blocks(cell))
                if merged is not None and value(merged) != "restart":
                    text = text or above.get(column, "")
                elif merged is not None:
                    above[column] = text if len(text) <= _REPEATED_CHARS else ""
                cells.append(text)
                span = value(child(properties, "gridSpan"))
                column += int(span) if span.isdecimal() and len(span) < 4 else 1
            yield cells


def _within(parent: Element, name: str) -> Iterator[Element]:
    """Rows of a table or cells of a row, also those in a wrapper."""
    for node in parent:
        found = local(node.tag)
        if found == name:
            yield node
        elif found in _WRAPPERS:
            yield from _within(node, name)


def _has_header(rows: list[list[str]]) -> bool:
    if len(rows) < _HEADER_ROWS or len(rows[0]) < 2:
        return False
    return all(cell and len(cell) <= _HEADER_CELL_CHARS and "\n" not in cell and not cell.isdecimal() for cell in rows[0])


def _is_bold(paragraph: Element) -> bool:
    """True when every run with text is bold."""
    runs = [run for run in children(paragraph, "r") if child(run, "t") is not None]
    bolds = [child(run, "rPr", "b") for run in runs]
    return bool(runs) and all(bold is not None and value(bold) not in ("0", "false") for bold in bolds)
