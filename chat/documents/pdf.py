"""Pdf files: the text of each page by PDFium, put back into paragraphs.

PDFium reads Chinese fonts that are named and not embedded, and is the fastest of the free ones; what a file can do to
it stays in this process.
"""

from ctypes import byref, c_double
from dataclasses import replace
from math import hypot
from statistics import median
from typing import Final

import pypdfium2
from pypdfium2 import raw

from chat.documents.base import DocumentError, Limits, Progress
from chat.documents.blocks import Content
from chat.documents.decode import clean
from chat.documents.pdf_lines import Line, in_order, to_blocks, without_running

_ENCRYPTED: Final = (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY)
_LINE_ENDS: Final = (0x0A, 0x0D)
_HYPHENS: Final = (0x02, 0xFFFE)  # PDFium's, where a word was cut at the end of a line
_PRIVATE: Final = range(0xE000, 0xF900)
_UNREADABLE: Final = 0xFFFD
# A page with fewer characters than this and pictures on it was scanned; a scanner's own mark has some.
_SCANNED_CHARS: Final = 12
_OBJECTS: Final = 40
# Of a line's letters, for its size.
_SAMPLES: Final = 7


def read(data: bytes, limits: Limits, progress: Progress) -> Content:
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        raise DocumentError("encrypted" if error.err_code in _ENCRYPTED else "broken") from None
    count = len(document)
    if count > limits.pages:
        raise DocumentError("too_many_pages")
    pages: list[list[Line]] = []
    pictured = characters = unreadable = 0
    progress(0, count)
    for number in range(count):
        page = document[number]
        lines, bad = _lines(page, number + 1)
        size = sum(len(line.text) for line in lines)
        characters, unreadable = characters + size, unreadable + bad
        if characters > limits.characters:
            raise DocumentError("too_much_text")
        # A page of many pages with text needs no look at its pictures.
        pictured += size < 10 * _SCANNED_CHARS and _has_pictures(page)
        page.close()
        pages.append(in_order(lines))
        progress(number + 1, count)
    pages = without_running(pages)
    readable = sum(len(line.text) for lines in pages for line in lines) - unreadable
    # Fonts that do not say what their signs mean give marks in place of letters: nothing to be read either.
    if (pictured and readable < _SCANNED_CHARS * count) or readable < characters / 2:
        raise DocumentError("scanned")
    return Content(to_blocks(pages), pages=count)


def _lines(page: pypdfium2.PdfPage, number: int) -> tuple[list[Line], int]:
    """The lines of a page as they are drawn, and how many of its characters cannot be read."""
    text = page.get_textpage()
    codes = [raw.FPDFText_GetUnicode(text, place) for place in range(text.count_chars())]
    found: list[Line] = []
    start = 0
    for place, code in enumerate([*codes, _LINE_ENDS[0]]):
        if code in _LINE_ENDS:
            line = _line(text, codes, start, place)
            found += [replace(line, page=number)] if line else []
            start = place + 1
    text.close()
    return found, sum(code in _PRIVATE or code == _UNREADABLE for code in codes)


def _line(text: pypdfium2.PdfTextPage, codes: list[int], start: int, end: int) -> Line | None:
    written = clean("".join(chr(code) for code in codes[start:end] if code not in _HYPHENS)).strip()
    if not written:
        return None
    solid = [place for place in range(start, end) if not chr(codes[place]).isspace()]
    box = raw.FS_RECTF()
    x, y = c_double(), c_double()
    raw.FPDFText_GetCharOrigin(text, solid[0], byref(x), byref(y))
    raw.FPDFText_GetLooseCharBox(text, solid[-1], byref(box))
    sizes = [_size(text, place) for place in solid[:: len(solid) // _SAMPLES + 1]]
    return Line(written, x.value, max(box.right, x.value), y.value, median(sizes) or 1.0)


def _size(text: pypdfium2.PdfTextPage, place: int) -> float:
    """The size of the font, scaled: the height of a letter's box differs between fonts, and some programs scale size 1."""
    matrix = raw.FS_MATRIX()
    raw.FPDFText_GetMatrix(text, place, byref(matrix))
    size: float = raw.FPDFText_GetFontSize(text, place) * hypot(matrix.c, matrix.d)
    return size


def _has_pictures(page: pypdfium2.PdfPage) -> bool:
    """True when the page has pictures, or drawings, which letters may be."""
    shown = (raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_FORM, raw.FPDF_PAGEOBJ_SHADING)
    count = min(raw.FPDFPage_CountObjects(page), _OBJECTS)
    return any(raw.FPDFPageObj_GetType(raw.FPDFPage_GetObject(page, place)) in shown for place in range(count))
