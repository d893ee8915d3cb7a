import pytest

from chat.documents import DocumentError, extract

TEXT = "第三章 栈与队列\n\n栈是一种后进先出的线性表，只在一端插入和删除。\n\n队列是先进先出的线性表。\n"


@pytest.mark.parametrize(
    ("encoding", "name"), [("utf-8", "utf-8"), ("utf-8-sig", "utf-8-sig"), ("utf-16", "utf-16"), ("gb18030", "gb18030")]
)
def test_a_text_reads_the_same_in_each_encoding(encoding, name):
    read = extract("讲义.txt", TEXT.encode(encoding))
    assert read.encoding == name
    assert [(piece.heading, piece.text) for piece in read.pieces] == [("第三章 栈与队列", TEXT.strip())]


def test_big5_is_told_from_gb18030():
    read = extract("講義.TXT", "堆疊是一種後進先出的線性表。".encode("big5"))
    assert read.encoding == "big5"
    assert read.pieces[0].text == "堆疊是一種後進先出的線性表。"


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [("a.txt", b"", "empty"), ("a.txt", b" \r\n\x00", "empty"), ("a.exe", b"MZ", "unsupported"), ("a", b"x", "unsupported")],
)
def test_what_holds_no_text_is_refused_with_its_code(name, data, code):
    with pytest.raises(DocumentError) as refused:
        extract(name, data)
    assert refused.value.code == code
