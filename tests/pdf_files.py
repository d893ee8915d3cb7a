"""Files of pages; `tests.files` has them with all others."""

import io
import zlib
from functools import cache
from pathlib import Path

import fpdf
from PIL import Image, ImageDraw
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas

NOTO = Path("/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc")
PASSWORD = "2027"
# A page of a textbook: about 560 characters.
_SENTENCES = (
    "把一个复杂的问题分成若干个较小的问题，分别求解，再把结果合并起来，这种方法叫作分治。",
    "二叉树的每个结点最多有两棵子树，左右次序不能颠倒。",
    "散列表用关键字直接算出存储位置，平均只要常数次比较。",
    "图的遍历从某个顶点出发，沿着边访问所有顶点，每个顶点只访问一次。",
)


def paragraphs(number: int) -> list[str]:
    return [f"例 {number}.{place}：{_SENTENCES[(number + place) % 4]}{''.join(_SENTENCES)}\n" for place in range(3)]


def pdf_in_chinese(pages: int = 3) -> bytes:
    """Fonts that are named and not embedded, as older Chinese software does; a chapter on each page."""
    out, canvas = _canvas()
    for number in range(1, pages + 1):
        _heading(canvas, f"第{number}章 栈与队列")
        _lines(canvas, "".join(paragraphs(number)), 740)
        _footer(canvas, f"数据结构讲义　第 {number} 页")
    canvas.save()
    return out.getvalue()


@cache
def long_pdf(pages: int = 200) -> bytes:
    """A textbook: a page of text on each page."""
    return pdf_in_chinese(pages)


def pdf_with_embedded_font() -> bytes:
    """A part of a font in the file, as Word exports it; needs Noto Sans CJK on the machine (`NOTO.exists()`)."""
    page = fpdf.FPDF()
    page.add_page()
    page.add_font("noto", "", NOTO, collection_font_number=2)
    page.set_font("noto", size=12)
    page.multi_cell(0, 8, "第三章 栈与队列\n栈是一种后进先出的线性表，只允许在一端插入和删除。")
    return bytes(page.output())


def pdf_in_english() -> bytes:
    """A paragraph in lines, with a word that is hyphenated at the end of one."""
    out, canvas = _canvas()
    canvas.setFont("Helvetica", 11)
    words = (
        "A stack is a collection of elements with two",
        "principal operations. Its order is last in, first out, and an exam-",
        "ple is a pile of plates.",
    )
    for place, line in enumerate(words):
        canvas.drawString(72, 760 - 14 * place, line)
    canvas.save()
    return out.getvalue()


def pdf_out_of_order() -> bytes:
    """Lines drawn from the bottom of the page to its top, as some programs do."""
    out, canvas = _canvas()
    canvas.setFont("STSong-Light", 12)
    for place, line in reversed(list(enumerate(["先看题目。", "再画图。", "然后列式。", "最后检查。", "写上单位。"]))):
        canvas.drawString(72, 740 - 30 * place, line)
    canvas.save()
    return out.getvalue()


def pdf_in_columns() -> bytes:
    """Two columns, the left one to be read first."""
    out, canvas = _canvas()
    canvas.setFont("STSong-Light", 12)
    for column, side in enumerate(("左", "右")):
        for line in range(8):
            canvas.drawString(72 + 260 * column, 740 - 18 * line, f"{side}栏第{line + 1}行。")
    canvas.save()
    return out.getvalue()


def score_sheets() -> bytes:
    """A page for each pupil; the last line is the same but for its number."""
    out, canvas = _canvas()
    for number, score in enumerate((91, 78, 85, 64)):
        _lines(canvas, "".join(paragraphs(number)), 780)
        _footer(canvas, f"得分：{score}")
    canvas.save()
    return out.getvalue()


def encrypted_pdf() -> bytes:
    """Asks for PASSWORD when it is opened."""
    return _short_pdf(StandardEncryption(PASSWORD, strength=128))


def restricted_pdf() -> bytes:
    """Every reader opens it; only changing and printing ask for a password."""
    return _short_pdf(StandardEncryption("", ownerPassword=PASSWORD, canPrint=0, canCopy=0, strength=128))


def image_only_pdf(pages: int = 2) -> bytes:
    """As a scanner makes it: a picture of each page."""
    out, canvas = _canvas()
    picture = Image.new("L", (400, 560), 255)
    for line in range(20):
        ImageDraw.Draw(picture).line([(30, 40 + 24 * line), (370, 40 + 24 * line)], fill=40, width=6)
    for _ in range(pages):
        canvas.drawInlineImage(picture, 40, 40, 510, 760)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def blank_pdf() -> bytes:
    out, canvas = _canvas()
    canvas.showPage()
    canvas.save()
    return out.getvalue()


@cache
def pdf_of_10_000_pages(pages: int = 10_000) -> bytes:
    """Many pages and little in them."""
    text = zlib.compress(b"BT /F 12 Tf 72 720 Td (page) Tj ET")
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Count %d/Kids[%s]>>" % (pages, b" ".join(b"%d 0 R" % (5 + n) for n in range(pages))),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(text), text),
        *[b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F 3 0 R>>>>>>"] * pages,
    ]
    out, places = bytearray(b"%PDF-1.5\n"), []
    for number, one in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj" % number + one + b"endobj\n"
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(places) + 1) + b"".join(b"%010d 00000 n \n" % place for place in places)
    return bytes(out + b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(places) + 1, start))


def _canvas(encrypt=None) -> tuple[io.BytesIO, Canvas]:
    pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))
    out = io.BytesIO()
    return out, Canvas(out, encrypt=encrypt, invariant=1, pageCompression=1)


def _short_pdf(encrypt) -> bytes:
    out, canvas = _canvas(encrypt)
    _heading(canvas, "第一章 树")
    _lines(canvas, _SENTENCES[1], 740)
    canvas.save()
    return out.getvalue()


def _heading(canvas: Canvas, text: str) -> None:
    canvas.setFont("STSong-Light", 18)
    canvas.drawString(72, 780, text)


def _lines(canvas: Canvas, text: str, top: int, width: int = 36) -> None:
    canvas.setFont("STSong-Light", 12)
    for paragraph in text.splitlines():
        for start in range(0, len(paragraph), width):
            canvas.drawString(72, top, paragraph[start : start + width])
            top -= 18
        top -= 8


def _footer(canvas: Canvas, text: str) -> None:
    canvas.setFont("STSong-Light", 9)
    canvas.drawString(220, 30, text)
    canvas.showPage()
