"""Files in: from bytes to passages.

base        the contract: Piece, Extracted, Limits, DocumentError
extract     the way in: a file is read in a process of its own, within its limits
child       that process
sniff       what bytes are, by how they begin
formats     which reader is for which format
blocks      what a reader makes of its bytes
decode      bytes of a text to characters
text        plain text and Markdown
docx        Word files
archive     the zip archive that one is
pdf         pdf files
pdf_lines   their lines to paragraphs and headings
passages    blocks to passages
"""

from chat.documents.base import DocumentError, Extracted, Limits, Piece
from chat.documents.extract import extract

__all__ = ["DocumentError", "Extracted", "Limits", "Piece", "extract"]
