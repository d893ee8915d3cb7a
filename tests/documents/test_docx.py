"""What Word files can hold, in the XML that Word and WPS write for it."""

import io
import zipfile

import pytest

from chat.documents import extract
from chat.documents.base import Limits
from chat.documents.docx import read
from tests import files

NAMESPACES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
)
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def blocks(body: str, **parts: str):
    """Of a docx with this body, and parts such as `numbering` and `styles`."""
    relations = "".join(f'<Relationship Type="{RELATIONS}/{name}" Target="{name}.xml"/>' for name in parts)
    # As WPS leaves it behind: a relation that points nowhere.
    relations += f'<Relationship Type="{RELATIONS}/image" Target="NULL"/>'
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("word/document.xml", f"<w:document {NAMESPACES}><w:body>{body}</w:body></w:document>")
        archive.writestr("word/_rels/document.xml.rels", f"<Relationships>{relations}</Relationships>")
        for name, xml in parts.items():
            archive.writestr(f"word/{name}.xml", f"<w:{name} {NAMESPACES}>{xml}</w:{name}>")
    return read(out.getvalue(), Limits(), lambda done, total: None).blocks


def texts(body: str, **parts: str) -> list[str]:
    return [block.text for block in blocks(body, **parts)]


def paragraph(inner: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr>{inner}</w:p>"


def run(text: str) -> str:
    return f"<w:r><w:t>{text}</w:t></w:r>"


def table(*rows: tuple[str, ...]) -> str:
    cells = ("".join(f"<w:tc>{paragraph(run(cell))}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


def numbered(depth: int, text: str) -> str:
    return paragraph(run(text), f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="1"/></w:numPr>')


def levels(*kinds: tuple[str, str]) -> str:
    found = "".join(
        f'<w:lvl w:ilvl="{depth}"><w:start w:val="1"/><w:numFmt w:val="{kind}"/><w:lvlText w:val="{text}"/></w:lvl>'
        for depth, (kind, text) in enumerate(kinds)
    )
    return f'<w:abstractNum w:abstractNumId="0">{found}</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'


def test_numbers_are_counted_as_word_does():
    numbering = levels(("chineseCountingThousand", "%1、"), ("decimal", "%1.%2"), ("bullet", "x"))
    body = "".join(numbered(depth, text) for depth, text in [(0, "甲"), (1, "乙"), (1, "丙"), (2, "丁"), (0, "戊"), (1, "己")])
    assert texts(body, numbering=numbering.replace('"%1.%2"', '"（%2）"')) == [
        "一、 甲",
        "（1） 乙",
        "（2） 丙",
        "• 丁",
        "二、 戊",
        "（1） 己",
    ]


@pytest.mark.parametrize(
    ("kind", "labels"),
    [
        ("upperLetter", ["A", "B", "C"]),
        ("lowerRoman", ["i", "ii", "iii"]),
        ("decimalEnclosedCircleChinese", ["①", "②", "③"]),
        ("decimalZero", ["01", "02", "03"]),
        ("somethingNew", ["1", "2", "3"]),
    ],
)
def test_ways_to_count(kind, labels):
    found = texts("".join(numbered(0, "题") for _ in labels), numbering=levels((kind, "%1.")))
    assert found == [f"{label}. 题" for label in labels]


def test_styles_that_are_based_on_a_heading_are_headings():
    styles = (
        '<w:style w:styleId="2"><w:name w:val="heading 2"/></w:style>'
        '<w:style w:styleId="a"><w:name w:val="小节"/><w:basedOn w:val="2"/></w:style>'
        '<w:style w:styleId="b"><w:name w:val="b"/><w:basedOn w:val="c"/></w:style>'
        '<w:style w:styleId="c"><w:name w:val="c"/><w:basedOn w:val="b"/></w:style>'
    )
    body = paragraph(run("甲"), '<w:pStyle w:val="a"/>') + paragraph(run("乙"), '<w:pStyle w:val="b"/>')
    assert [(block.kind, block.text) for block in blocks(body, styles=styles)] == [("heading", "甲"), ("paragraph", "乙")]


def test_a_bold_short_line_is_a_heading_and_a_bold_sentence_is_not():
    bold = "<w:r><w:rPr><w:b/></w:rPr><w:t>{}</w:t></w:r>"
    body = paragraph(bold.format("教学目标")) + paragraph(bold.format("请认真作答。")) + paragraph(bold.format("注意") + run("不要漏题"))
    assert [block.kind for block in blocks(body)] == ["heading", "paragraph", "paragraph"]


def test_what_was_deleted_or_is_a_second_copy_is_not_read():
    deleted = "<w:del><w:r><w:delText>删去</w:delText></w:r></w:del><w:ins><w:r><w:t>加上</w:t></w:r></w:ins>"
    box = "<w:txbxContent><w:p><w:r><w:t>框</w:t></w:r></w:p></w:txbxContent>"
    twice = f"<w:r><mc:AlternateContent><mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback></mc:AlternateContent></w:r>"
    assert texts(paragraph(deleted + twice)) == ["加上", "框"]


def test_content_controls_are_opened():
    assert texts(f"<w:sdt><w:sdtContent>{paragraph(run('目录'))}</w:sdtContent></w:sdt>") == ["目录"]


def test_a_fraction_is_written_on_one_line():
    half = "<m:oMath><m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f></m:oMath>"
    assert texts(paragraph(half)) == ["(a+b)/2"]


def test_a_cell_over_two_rows_is_said_in_both():
    merged = '<w:tc><w:tcPr><w:vMerge w:val="restart"/></w:tcPr><w:p><w:r><w:t>周一</w:t></w:r></w:p></w:tc>'
    more = "<w:tc><w:tcPr><w:vMerge/></w:tcPr><w:p/></w:tc>"
    rows = "".join(f"<w:tr>{first}<w:tc>{paragraph(run(text))}</w:tc></w:tr>" for first, text in [(merged, "语文"), (more, "数学")])
    assert texts(f"<w:tbl>{rows}</w:tbl>") == ["周一 | 语文", "周一 | 数学"]


def test_a_form_with_long_cells_keeps_its_lines():
    long = "学生先独立完成练习，再在小组里讨论。" * 20
    assert texts(table(("教学过程", long))) == [f"教学过程\n{long}"]


def test_the_header_is_repeated_for_rows_but_not_for_forms():
    with_header = blocks(table(("姓名", "成绩"), ("甲", "90"), ("乙", "91")))
    assert [block.header for block in with_header] == ["", "姓名 | 成绩", "姓名 | 成绩"]
    assert [block.header for block in blocks(table(("1", "2"), ("3", "4"), ("5", "6")))] == ["", "", ""]


def test_footnotes_come_last():
    note = f'<w:footnote w:type="separator">{paragraph(run("—"))}</w:footnote><w:footnote>{paragraph(run("见教材。"))}</w:footnote>'
    assert texts(paragraph(run("正文")), footnotes=note) == ["正文", "见教材。"]


def test_an_absent_style_part_does_not_matter():
    assert [piece.text for piece in extract("a.docx", files.docx_with_tables()).pieces]
    assert texts(paragraph(run("甲"), '<w:pStyle w:val="none"/>')) == ["甲"]
