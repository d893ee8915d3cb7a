"""The zip archive that a docx is: its parts as XML, and no more of it than a document can have."""

import io
import posixpath
import zipfile
from typing import Final
from xml.etree import ElementTree

from chat.documents.base import DocumentError

_PARTS: Final = 5_000
# Unpacked, all parts that are declared, and one that is read. A docx of Word unpacks to three to thirty times its size.
_ALL_BYTES: Final = 256 * 1024 * 1024
_PART_BYTES: Final = 64 * 1024 * 1024
_RATIO: Final = 150
_CHUNK_BYTES: Final = 1024 * 1024
_ENCRYPTED: Final = 0x1


class _Builder(ElementTree.TreeBuilder):
    """Builds a tree, of a part without document type: entities are declared in one, and no office program writes it."""

    def doctype(self, name: str, public_id: str | None, system_id: str | None) -> None:
        raise DocumentError("bomb")


class Archive:
    """Raises DocumentError when the archive is broken, encrypted or a bomb; nothing is unpacked yet."""

    def __init__(self, data: bytes) -> None:
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except zipfile.BadZipFile:
            raise DocumentError("broken") from None
        infos = self._zip.infolist()
        declared = sum(info.file_size for info in infos)
        if len(infos) > _PARTS or declared > min(_ALL_BYTES, _RATIO * max(len(data), _CHUNK_BYTES)):
            raise DocumentError("bomb")
        if any(info.flag_bits & _ENCRYPTED for info in infos):
            raise DocumentError("encrypted")
        self._parts = {info.filename.lower(): info for info in infos}

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._parts

    def xml(self, name: str) -> ElementTree.Element | None:
        """The root of the part called `name`, None when there is no such part."""
        info = self._parts.get(name.lower())
        if info is None:
            return None
        if info.file_size > _PART_BYTES:
            raise DocumentError("bomb")
        parser = ElementTree.XMLParser(target=_Builder())  # noqa: S314 (without document types there are no entities)
        try:
            with self._zip.open(info) as part:
                # In chunks: asked for all at once, zipfile unpacks what there is before it looks at the declared size.
                while chunk := part.read(_CHUNK_BYTES):
                    parser.feed(chunk)
            root: ElementTree.Element = parser.close()
        except (zipfile.BadZipFile, ElementTree.ParseError):
            raise DocumentError("broken") from None
        return root

    def related(self, name: str) -> dict[str, str]:
        """The parts that the part called `name` ("" for the whole) points to, by the last word of the relation's type."""
        folder, base = posixpath.split(name)
        root = self.xml(posixpath.join(folder, "_rels", f"{base}.rels"))
        found: dict[str, str] = {}
        for relation in root if root is not None else ():
            if relation.get("TargetMode") != "External":
                target = posixpath.normpath(posixpath.join("/", folder, relation.get("Target", "")))
                found.setdefault(relation.get("Type", "").rpartition("/")[2], target.lstrip("/"))
        return found
