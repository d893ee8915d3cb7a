"""What bytes are, by how they begin: for files that are not what their name says."""

from typing import Final

from chat.documents.base import DocumentError

OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_PACKAGE: Final = "EncryptedPackage".encode("utf-16-le")
_BEGINNINGS: Final = (
    (b"%PDF-", "pdf"),
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (OLE, "doc"),
    (b"MZ", "exe"),
    (b"\x7fELF", "exe"),
    (b"\xcf\xfa\xed\xfe", "exe"),
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"\xff\xd8\xff", "jpg"),
    (b"GIF8", "gif"),
    (b"RIFF", "riff"),
    (b"BM", "bmp"),
    (b"{\\rtf", "rtf"),
    (b"Rar!", "rar"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"\x1f\x8b", "gz"),
    (b"SQLite format 3\x00", "sqlite"),
)
# These begin like a word of a text may: only with bytes that no text has.
_LIKE_WORDS: Final = ("exe", "bmp", "riff", "gif")
_CONTAINERS: Final = {"docx": "zip", "pdf": "pdf"}
# Readers of pdf look for its mark this far, behind what a server or a mail program has put before it.
_PDF_WITHIN: Final = 1024


def looks_like(data: bytes) -> str:
    """ "pdf", "zip", "exe", …; empty when it may be a text."""
    for beginning, name in _BEGINNINGS:
        if data.startswith(beginning) and (name not in _LIKE_WORDS or b"\x00" in data[:_PDF_WITHIN]):
            return name
    return ""


def check(extension: str, data: bytes) -> None:
    """Raises DocumentError when `data` cannot be a file with this extension."""
    found = looks_like(data)
    wanted = _CONTAINERS.get(extension, "")
    if found == wanted or (wanted == "pdf" and b"%PDF-" in data[:_PDF_WITHIN]):
        return
    if extension == "docx" and found == "doc" and _ENCRYPTED_PACKAGE in data:
        raise DocumentError("encrypted")
    raise DocumentError("not_what_it_says", found)
