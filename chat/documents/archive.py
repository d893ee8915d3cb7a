"""The zip archive that a docx is: no more of it than a document can have, and of that what text needs."""

import io
import zipfile
from typing import Final

from docx.oxml import parse_xml
from lxml import etree

from chat.documents.base import DocumentError

_PARTS: Final = 5_000
# Unpacked, all parts that are declared, and one that is read. A docx of Word unpacks to three to thirty times its size.
_ALL_BYTES: Final = 256 * 1024 * 1024
_PART_BYTES: Final = 64 * 1024 * 1024
_RATIO: Final = 150
_LEAST_BYTES: Final = 1024 * 1024
_ENCRYPTED: Final = 0x1
_CONTENTS: Final = "[Content_Types].xml"
# Folders of what other programs of the office pack in the same way.
_OTHERS: Final = {"xl/": "xlsx", "ppt/": "pptx"}
_NEEDED: Final = ("officeDocument", "styles")


def text_only(data: bytes) -> io.BytesIO:
    """A copy of the archive without pictures and relations to them; raises DocumentError.

    The library loads whatever a relation points to, and gives up at one that points nowhere, as WPS leaves them behind.
    """
    copy = io.BytesIO()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(copy, "w") as new:
            _check(old, len(data))
            for info in old.infolist():
                if info.filename.endswith(".rels"):
                    new.writestr(info.filename, _needed(_part(old, info)))
                elif info.filename.endswith(".xml"):
                    new.writestr(info.filename, _part(old, info))
    except zipfile.BadZipFile:
        raise DocumentError("broken") from None
    return copy


def _check(archive: zipfile.ZipFile, size: int) -> None:
    """Raises DocumentError, by the directory of the archive alone; nothing is unpacked yet."""
    infos = archive.infolist()
    declared = sum(info.file_size for info in infos)
    if len(infos) > _PARTS or declared > min(_ALL_BYTES, _RATIO * max(size, _LEAST_BYTES)):
        raise DocumentError("bomb")
    if any(info.flag_bits & _ENCRYPTED for info in infos):
        raise DocumentError("encrypted")
    names = [info.filename for info in infos]
    for folder, other in _OTHERS.items():
        if any(name.startswith(folder) for name in names):
            raise DocumentError("not_what_it_says", other)
    if _CONTENTS not in names:
        raise DocumentError("not_what_it_says", "zip")


def _part(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    if info.file_size > _PART_BYTES:
        raise DocumentError("bomb")
    with archive.open(info) as part:
        # Asked for all that is there, zipfile unpacks it before it looks at the declared size.
        return part.read(info.file_size)


def _needed(part: bytes) -> bytes:
    relations = parse_xml(part)
    for relation in list(relations):
        if relation.get("Type", "").rpartition("/")[2] not in _NEEDED:
            relations.remove(relation)
    needed: bytes = etree.tostring(relations)
    return needed
