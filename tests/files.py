"""Files as people have them, made when they are needed: `gbk_text()` and the like return the bytes of one."""

import io
import struct
import zipfile

import docx
from docx.oxml.ns import nsdecls
from PIL import Image

from tests.pdf_files import (  # noqa: F401 (so that a test finds all files in one place)
    NOTO,
    PASSWORD,
    blank_pdf,
    encrypted_pdf,
    image_only_pdf,
    long_pdf,
    paragraphs,
    pdf_in_chinese,
    pdf_in_columns,
    pdf_in_english,
    pdf_of_10_000_pages,
    pdf_out_of_order,
    pdf_with_embedded_font,
    restricted_pdf,
    score_sheets,
)

LECTURE = """第三章 栈与队列

　　栈是一种后进先出的线性表，只允许在一端插入和删除，这一端叫作栈顶。

一、选择题
1. 元素 a、b、c 依次进栈，不可能的出栈次序是（　）。
A. c b a
B. c a b
C. b c a
2. 判断栈空的条件是（　）。
A. top == 0
B. top == maxsize

二、简答题
3. 循环队列为什么要空出一个单元？请结合“队满”的判断说明。
"""
TRADITIONAL = """第一課 光合作用

綠色植物利用葉綠體，把二氧化碳和水變成養分，並釋放氧氣，這個過程叫做光合作用。

呼吸作用則在所有活細胞中進行，會分解養分並產生能量。
"""
MARKDOWN = """---
title: Python 入门
tags: [课程, 编程]
---

# Python 入门

先说两个概念。

## 循环

`for` 循环逐个取出元素：

```python
# 这一行不是标题
for i in range(3):

    print(i)
```

## 对照表

| 语言 | 循环 | 缩进 |
|------|:----:|-----:|
| Python | for | 是 |
| C++ | for | 否 |

小结
----

- 缩进有意义
- 冒号不能少
"""


NAMESPACES = (
    f'{nsdecls("w", "m")} xmlns:v="urn:schemas-microsoft-com:vml" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
)
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


# Texts


def gbk_text() -> bytes:
    """As Notepad saves "ANSI" on a Chinese Windows."""
    return LECTURE.replace("\n", "\r\n").encode("gbk")


def big5_text() -> bytes:
    return TRADITIONAL.replace("\n", "\r\n").encode("cp950")


def utf8_bom_text() -> bytes:
    return LECTURE.replace("\n", "\r\n").encode("utf-8-sig")


def utf16_text() -> bytes:
    return LECTURE.replace("\n", "\r\n").encode("utf-16")


def markdown_with_code() -> bytes:
    """With front matter, a fenced block, a table and an underlined heading."""
    return MARKDOWN.encode()


def long_text(characters: int = 350_000) -> bytes:
    """UTF-8 in chapters and paragraphs; 350,000 Chinese characters are a megabyte."""
    return text_of_pages(characters // 560 + 1).encode()


def text_of_pages(pages: int) -> str:
    return "\n".join(f"第{number}章 算法\n\n{''.join(paragraphs(number))}" for number in range(1, pages + 1))


# Word


def docx_with_tables() -> bytes:
    """Headings, a paragraph, a table with merged cells, a page header."""
    document = docx.Document()
    document.sections[0].header.paragraphs[0].text = "××中学 教务处"
    document.add_heading("期末安排", level=1)
    document.add_paragraph("各班按下表考试，监考老师提前十分钟到场。")
    document.add_heading("考场", level=2)
    table = document.add_table(rows=5, cols=3)
    rows = [
        ("班级", "科目", "教室"),
        ("一班", "语文", "101"),
        ("二班", "数学", "102"),
        ("三班", "英语", "103"),
        ("备注：带好准考证", "", ""),
    ]
    for cells, values in zip(table.rows, rows, strict=True):
        for cell, value in zip(cells.cells, values, strict=True):
            cell.text = value
    table.cell(4, 0).merge(table.cell(4, 2))
    document.add_heading("成绩", level=2)
    document.add_paragraph("成绩在三天内登记。")
    return _saved(document)


def docx_of(body: str, styles: str = "", packed: bool = True) -> bytes:
    """With this XML as its body, and for its styles; and as WPS leaves it behind, with a relation that points nowhere."""
    whole = _saved(docx.Document())
    document = f"<w:document {NAMESPACES}><w:body>{body}</w:body></w:document>"
    data = _with_part(whole, "word/document.xml", lambda: [document.encode()], packed)
    if styles:
        data = _with_part(data, "word/styles.xml", lambda: [f"<w:styles {NAMESPACES}>{styles}</w:styles>".encode()])
    name = "word/_rels/document.xml.rels"
    relations = zipfile.ZipFile(io.BytesIO(whole)).read(name)
    nowhere = f'<Relationship Id="nowhere" Type="{RELATIONS}/image" Target="NULL"/></Relationships>'.encode()
    return _with_part(data, name, lambda: [relations.replace(b"</Relationships>", nowhere)], packed)


def docx_with_a_broken_picture() -> bytes:
    document = docx.Document()
    document.add_paragraph("见下图。")
    document.add_picture(io.BytesIO(png()))
    return _with_part(_saved(document), "word/media/image1.png", lambda: [b"no picture"])


def empty_docx() -> bytes:
    return _saved(docx.Document())


def encrypted_docx() -> bytes:
    """What Word makes of a docx with a password: an OLE container."""
    return _ole("EncryptionInfo", "EncryptedPackage")


def old_doc() -> bytes:
    """A Word 97 file, for the name of a docx."""
    return _ole("WordDocument", "1Table")


def broken_docx() -> bytes:
    """Half of one, as after a download that was broken off."""
    whole = docx_with_tables()
    return whole[: len(whole) // 2]


def zip_bomb_docx(size: int = 300 * 1024 * 1024) -> bytes:
    """A docx of some hundred kilobytes that unpacks to `size`."""
    return _with_part(docx_with_tables(), "word/document.xml", lambda: _long_xml(size))


def lying_zip_bomb_docx(size: int = 300 * 1024 * 1024) -> bytes:
    """The same, but its directory says that it is small."""
    data = bytearray(zip_bomb_docx(size))
    for signature, place in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        start = 0
        while (start := data.find(signature, start)) >= 0:
            if struct.unpack_from("<I", data, start + place)[0] == size:
                struct.pack_into("<I", data, start + place, 4096)
            start += 4
    return bytes(data)


def entity_docx() -> bytes:
    """With an entity that does no harm."""
    return entity_bomb_docx("<w:p><w:r><w:t>&e0;</w:t></w:r></w:p>")


def entity_bomb_docx(place: str = "<w:p><w:r><w:t>&e9;</w:t></w:r></w:p>") -> bytes:
    """Ten entities, each ten times the one before."""
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    head = f'<?xml version="1.0"?><!DOCTYPE w:document [<!ENTITY e0 "ha">{entities}]>'
    body = f"<w:document {nsdecls('w')}><w:body>{place}</w:body></w:document>"
    return _with_part(docx_with_tables(), "word/document.xml", lambda: [(head + body).encode()])


def entity_bomb_in_an_attribute_docx() -> bytes:
    return entity_bomb_docx('<w:p w:rsidR="&e9;"/>')


def workbook() -> bytes:
    """The beginnings of an Excel file, for the name of a docx."""
    return _with_part(empty_docx(), "xl/workbook.xml", lambda: [b"<workbook/>"])


def zip_of_photos() -> bytes:
    """An archive that is no docx."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("合影/1.png", png())
    return out.getvalue()


def _saved(document) -> bytes:
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def _with_part(data: bytes, name: str, chunks, packed: bool = True) -> bytes:
    out = io.BytesIO()
    method = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", method) as new:
        for info in old.infolist():
            if info.filename != name:
                new.writestr(info.filename, old.read(info))
        with new.open(name, "w") as part:
            for chunk in chunks():
                part.write(chunk)
    return out.getvalue()


def _long_xml(size: int):
    head = f"<w:document {nsdecls('w')}><w:body><w:p><w:r><w:t>".encode()
    tail = b"</w:t></w:r></w:p></w:body></w:document>"
    yield head
    left = size - len(head) - len(tail)
    while left > 0:
        yield b"0" * min(left, 1 << 20)
        left -= 1 << 20
    yield tail


def _ole(*streams: str) -> bytes:
    """A small OLE container with empty streams: header, one FAT sector, one directory sector."""
    free, end, fat, none = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD, 0xFFFFFFFF
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    header += struct.pack("<IIIIIIIII", 0, 1, 1, 0, 4096, end, 0, end, 0) + struct.pack("<109I", 0, *[free] * 108)
    sectors = struct.pack("<128I", fat, end, *[free] * 126)
    names = ["Root Entry", *streams]
    directory = b""
    for place, name in enumerate(names):
        raw = name.encode("utf-16-le") + b"\0\0"
        right = place + 1 if 0 < place < len(names) - 1 else none
        directory += raw.ljust(64, b"\0") + struct.pack("<HBB", len(raw), 2 if place else 5, 1)
        directory += struct.pack("<III", none, right, none if place else 1) + bytes(36) + struct.pack("<IQ", end, 0)
    return header + sectors + directory.ljust(512, b"\0")


# Others


def empty() -> bytes:
    return b""


def renamed_exe() -> bytes:
    """A program for Windows, for the name of a document."""
    stub = b"\x0e\x1f\xba\x0e\x00\xb4\x09\xcd\x21\xb8\x01\x4c\xcd\x21This program cannot be run in DOS mode.\r\r\n$"
    header = b"MZ\x90\x00\x03\x00\x00\x00\x04\x00\x00\x00\xff\xff\x00\x00".ljust(60, b"\0") + struct.pack("<I", 128)
    return (header + stub).ljust(128, b"\0") + b"PE\0\0\x64\x86\x03\x00" + bytes(range(256)) * 16


def png() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (40, 30), (200, 30, 30)).save(out, "PNG")
    return out.getvalue()
