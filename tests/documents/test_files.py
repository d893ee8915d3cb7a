"""Files as people have them, each with its right outcome."""

import pytest

from chat.documents import DocumentError, Limits, extract
from tests import files


def test_gbk_as_notepad_saves_it():
    read = extract("讲义.txt", files.gbk_text())
    assert read.encoding == "gb18030"
    assert "\n".join(piece.text for piece in read.pieces) == files.LECTURE.strip()
    assert read.pieces[0].heading.startswith("第三章 栈与队列")


def test_big5_from_taiwan():
    read = extract("講義.txt", files.big5_text())
    assert read.encoding == "big5"
    assert read.pieces[0].text == files.TRADITIONAL.strip()


@pytest.mark.parametrize(("make", "encoding"), [(files.utf8_bom_text, "utf-8-sig"), (files.utf16_text, "utf-16")])
def test_text_with_a_byte_order_mark(make, encoding):
    read = extract("讲义.txt", make())
    assert read.encoding == encoding
    assert read.pieces[0].text.startswith("第三章 栈与队列\n\n　　栈是")


def test_markdown_with_code_and_front_matter():
    read = extract("入门.md", files.markdown_with_code())
    assert read.pieces[0].text == files.MARKDOWN.strip()
    assert read.pieces[0].heading == "Python 入门"


def test_a_long_text():
    read = extract("全书.txt", files.long_text())
    assert read.characters > 300_000
    assert read.pieces[-1].heading == "第626章 算法"


def test_docx_with_tables():
    read = extract("安排.docx", files.docx_with_tables())
    text = "\n".join(piece.text for piece in read.pieces)
    assert "班级 | 科目 | 教室\n一班 | 语文 | 101" in text
    assert text.count("备注") == 1
    assert "教务处" not in text  # the head of the page
    assert read.pieces[0].heading == "期末安排"


def test_a_broken_picture_does_not_matter():
    [piece] = extract("图.docx", files.docx_with_a_broken_picture()).pieces
    assert piece.text == "见下图。"


def test_pdf_with_fonts_that_are_not_embedded():
    read = extract("讲义.pdf", files.pdf_in_chinese())
    assert read.pages == 3
    assert [(piece.heading, piece.page) for piece in read.pieces] == [(f"第{n}章 栈与队列", n) for n in (1, 2, 3)]
    assert "\n例 2.1：图的遍历" in read.pieces[1].text  # a paragraph of three lines, in one
    assert read.pieces[1].text.count("\n") == 3


@pytest.mark.skipif(not files.NOTO.exists(), reason="Noto Sans CJK is not on this machine.")
def test_pdf_with_a_part_of_a_font():
    [piece] = extract("讲义.pdf", files.pdf_with_embedded_font()).pieces
    assert piece.text == "第三章 栈与队列\n栈是一种后进先出的线性表，只允许在一端插入和删除。"


def test_a_pdf_that_only_forbids_printing_is_read():
    assert extract("讲义.pdf", files.restricted_pdf()).pieces[0].text.startswith("第一章 树\n二叉树")


def test_a_book_of_200_pages_says_how_far_it_is():
    reports: list[tuple[int, int]] = []
    read = extract("书.pdf", files.long_pdf(), progress=lambda done, total: reports.append((done, total)))
    assert read.pages == 200
    assert read.pieces[-1].page == 200
    assert reports == sorted(reports)
    assert reports[-1] == (200, 200)


@pytest.mark.parametrize(
    ("name", "make", "code", "found"),
    [
        ("a.txt", files.empty, "empty", ""),
        ("a.docx", files.empty_docx, "empty", ""),
        ("a.pdf", files.blank_pdf, "empty", ""),
        ("a.pdf", files.image_only_pdf, "scanned", ""),
        ("a.pdf", files.encrypted_pdf, "encrypted", ""),
        ("a.docx", files.encrypted_docx, "encrypted", ""),
        ("a.pdf", files.pdf_of_10_000_pages, "too_many_pages", ""),
        ("a.docx", files.zip_bomb_docx, "bomb", ""),
        ("a.docx", files.lying_zip_bomb_docx, "broken", ""),
        ("a.docx", files.entity_docx, "broken", ""),
        ("a.docx", files.entity_bomb_docx, "broken", ""),
        ("a.docx", files.entity_bomb_in_an_attribute_docx, "broken", ""),
        ("a.docx", files.broken_docx, "broken", ""),
        ("a.docx", files.old_doc, "not_what_it_says", "doc"),
        ("a.docx", files.zip_of_photos, "not_what_it_says", "zip"),
        ("a.docx", files.workbook, "not_what_it_says", "xlsx"),
        ("a.docx", files.pdf_in_english, "not_what_it_says", "pdf"),
        ("a.pdf", files.renamed_exe, "not_what_it_says", "exe"),
        ("a.txt", files.renamed_exe, "not_what_it_says", "exe"),
        ("a.md", files.png, "not_what_it_says", "png"),
        ("a.exe", files.renamed_exe, "unsupported", ""),
    ],
)
def test_what_cannot_be_read_says_why(name, make, code, found):
    with pytest.raises(DocumentError) as refused:
        extract(name, make(), Limits(seconds=60))
    assert (refused.value.code, refused.value.found) == (code, found)
