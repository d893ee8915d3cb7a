"""What Word files can hold, in the XML that Word and WPS write for it."""

from chat.documents.base import Limits
from chat.documents.docx import read
from tests import files


def blocks(body: str, styles: str = ""):
    return read(files.docx_of(body, styles), Limits(), lambda done, total: None).blocks


def texts(body: str) -> list[str]:
    return [block.text for block in blocks(body)]


def paragraph(inner: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr>{inner}</w:p>"


def run(text: str) -> str:
    return f"<w:r><w:t>{text}</w:t></w:r>"


def cell(inner: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{inner}</w:tc>"


def table(*rows: tuple[str, ...]) -> str:
    cells = ("".join(cell(paragraph(run(text))) for text in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


def style(name: str, inner: str) -> str:
    return f'<w:style w:type="paragraph" w:styleId="{name}">{inner}</w:style>'


def test_headings_are_known_by_name_by_outline_and_by_what_their_style_is_based_on():
    styles = (
        style("1", '<w:name w:val="标题 1"/>')
        + style("2", '<w:name w:val="heading 2"/>')
        + style("3", '<w:name w:val="小节"/><w:basedOn w:val="2"/>')
        + style("4", '<w:name w:val="条"/><w:pPr><w:outlineLvl w:val="2"/></w:pPr>')
        + style("5", '<w:name w:val="b"/><w:basedOn w:val="6"/>')
        + style("6", '<w:name w:val="c"/><w:basedOn w:val="5"/>')
        + style("7", '<w:name w:val="Title"/>')
    )
    body = "".join(paragraph(run("甲"), f'<w:pStyle w:val="{number}"/>') for number in range(1, 8))
    body += paragraph(run("甲"), '<w:outlineLvl w:val="3"/>') + paragraph(run("甲"), '<w:pStyle w:val="none"/>')
    assert [block.level for block in blocks(body, styles)] == [2, 3, 3, 4, 0, 0, 1, 5, 0]


def test_a_bold_short_line_is_a_heading_and_a_bold_sentence_is_not():
    bold = "<w:r><w:rPr><w:b/></w:rPr><w:t>{}</w:t></w:r>"
    body = paragraph(bold.format("教学目标")) + paragraph(bold.format("请认真作答。")) + paragraph(bold.format("注意") + run("不要漏题"))
    assert [block.kind for block in blocks(body)] == ["heading", "paragraph", "paragraph"]


def test_what_was_deleted_or_is_a_second_copy_is_not_read():
    deleted = "<w:del><w:r><w:delText>删去</w:delText></w:r></w:del><w:ins><w:r><w:t>加上</w:t></w:r></w:ins>"
    box = f"<w:pict><v:shape><v:textbox><w:txbxContent>{paragraph(run('框'))}</w:txbxContent></v:textbox></v:shape></w:pict>"
    twice = f"<w:r><mc:AlternateContent><mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback></mc:AlternateContent></w:r>"
    assert texts(paragraph(deleted + twice)) == ["加上", "框"]


def test_what_was_moved_is_read_where_it_is_now():
    moved = f"<w:moveFrom>{run('甲')}</w:moveFrom>{run('乙')}<w:moveTo>{run('甲')}</w:moveTo>"
    assert texts(paragraph(moved)) == ["乙甲"]


def test_content_controls_fields_and_links_are_opened():
    inner = f"<w:fldSimple>{run('第一节')}</w:fldSimple><w:hyperlink>{run('课件')}</w:hyperlink>"
    assert texts(f"<w:sdt><w:sdtContent>{paragraph(inner)}</w:sdtContent></w:sdt>") == ["第一节课件"]


def test_the_reading_above_a_character_is_left_out():
    ruby = f"<w:r><w:ruby><w:rt>{run('zhàn')}</w:rt><w:rubyBase>{run('栈')}</w:rubyBase></w:ruby></w:r>"
    assert texts(paragraph(run("什么是") + ruby + run("？"))) == ["什么是栈？"]


def test_paragraphs_and_tables_come_in_their_order():
    assert texts(paragraph(run("上")) + table(("甲", "乙")) + paragraph(run("下"))) == ["上", "甲 | 乙", "下"]


def test_merged_cells_are_told_once():
    wide = cell(paragraph(run("课程表")), '<w:gridSpan w:val="2"/>')
    first = cell(paragraph(run("周一")), '<w:vMerge w:val="restart"/>') + cell(paragraph(run("语文")))
    second = cell("<w:p/>", "<w:vMerge/>") + cell(paragraph(run("数学")))
    assert texts(f"<w:tbl><w:tr>{wide}</w:tr><w:tr>{first}</w:tr><w:tr>{second}</w:tr></w:tbl>") == ["课程表", "周一 | 语文", " | 数学"]


def test_a_cell_that_is_merged_with_none_above_it_is_read():
    assert texts(f"<w:tbl><w:tr>{cell(paragraph(run('甲')), '<w:vMerge/>')}</w:tr></w:tbl>") == ["甲"]


def test_a_table_in_a_cell_is_read_in_its_place():
    inner = paragraph(run("步骤")) + table(("导入", "5 分钟"), ("练习", "20 分钟")) + "<w:p/>"
    assert texts(f"<w:tbl><w:tr>{cell(inner)}{cell(paragraph(run('备注')))}</w:tr></w:tbl>") == ["步骤 导入 | 5 分钟 练习 | 20 分钟 | 备注"]


def test_a_form_with_long_cells_keeps_its_lines():
    long = "学生先独立完成练习，再在小组里讨论。" * 20
    assert texts(table(("教学过程", long))) == [f"教学过程\n{long}"]


def test_the_header_is_repeated_for_rows_but_not_for_forms():
    with_header = blocks(table(("姓名", "成绩"), ("甲", "90"), ("乙", "91")))
    assert [block.header for block in with_header] == ["", "姓名 | 成绩", "姓名 | 成绩"]
    assert [block.header for block in blocks(table(("1", "2"), ("3", "4"), ("5", "6")))] == ["", "", ""]
