"""Which reader is for which format: a new format is a file here, and a line in this table and in `base.FORMATS`."""

from typing import Final

from chat.documents import docx, pdf, text
from chat.documents.blocks import Reader

READERS: Final[dict[str, Reader]] = {
    "md": text.read_markdown,
    "txt": text.read_plain,
    "docx": docx.read,
    "pdf": pdf.read,
}
