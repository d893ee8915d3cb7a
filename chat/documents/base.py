"""The contract of reading a file: bytes in, passages with their source marks out."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

FORMATS = ("md", "txt", "docx", "pdf")

ErrorCode = Literal[
    "empty",  # no bytes, or nothing but blanks
    "unsupported",  # an extension that is not of FORMATS
    "not_what_it_says",  # the bytes are not of the format that the name says (a renamed program)
    "unknown_encoding",  # text in none of UTF-8, GB18030, Big5
    "encrypted",
    "scanned",  # pages without text
    "broken",
    "too_large",
    "bomb",  # far more when unpacked
    "too_many_pages",
    "too_much_text",
    "too_slow",
]

# (parts done, parts in all); parts are pages of a pdf, else steps.
Progress = Callable[[int, int], None]


class DocumentError(Exception):
    """A file that cannot be read; the page says why and what to do, by the code.

    `found` names what a file is that is `not_what_it_says` ("doc", "exe", "png", …), empty when that is not known.
    """

    def __init__(self, code: ErrorCode, found: str = "") -> None:
        super().__init__(code)
        self.code = code
        self.found = found


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one file; `memory` is of the process that reads it, where the system can hold it to that."""

    size: int = 20 * 1024 * 1024  # bytes
    pages: int = 2_000
    characters: int = 3_000_000
    seconds: float = 300.0
    memory: int = 1024 * 1024 * 1024  # bytes


@dataclass(frozen=True, slots=True)
class Piece:
    """A passage: `heading` is the path of headings above it ("第三章 > 栈"), `page` counts from 1, None without pages."""

    text: str
    heading: str = ""
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Extracted:
    pieces: list[Piece] = field(default_factory=list)
    characters: int = 0
    pages: int | None = None
    encoding: str = ""
