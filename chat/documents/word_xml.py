"""Reading the XML of Word: names without their namespaces (transitional and strict files differ in nothing else), and text."""

from collections.abc import Iterator
from functools import cache
from typing import Final
from xml.etree.ElementTree import Element

# What is not read: formats, what was deleted or moved away, a second copy for older programs, the reading above a character.
_SKIPPED: Final = {"rPr", "pPr", "del", "moveFrom", "Fallback", "rt", "sdtPr", "instrText", "delText", "tblPr", "tcPr"}
_BREAKS: Final = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
# Parts of a formula, and what goes before them on a line.
_RAISED: Final = {"num": "", "den": "/", "sup": "^", "sub": "_"}


@cache
def local(tag: str) -> str:
    return tag.rpartition("}")[2]


def value(node: Element | None, name: str = "val") -> str:
    """The attribute `name`, empty when there is none."""
    if node is None:
        return ""
    return next((text for key, text in node.attrib.items() if local(key) == name), "")


def child(node: Element | None, *path: str) -> Element | None:
    """The first child with this name, of it the first with the next name, and so on."""
    for name in path:
        if node is None:
            return None
        node = next((one for one in node if local(one.tag) == name), None)
    return node


def children(node: Element | None, name: str) -> Iterator[Element]:
    return (one for one in node if local(one.tag) == name) if node is not None else iter(())


def text_of(paragraph: Element, boxes: list[Element]) -> str:
    """The text of a paragraph; the contents of text boxes in it are added to `boxes`."""
    found: list[str] = []
    _collect(paragraph, found, boxes)
    return "".join(found)


def _collect(node: Element, found: list[str], boxes: list[Element]) -> None:
    for one in node:
        name = local(one.tag)
        if name == "t":
            found.append(one.text or "")
        elif name in _BREAKS:
            found.append(_BREAKS[name])
        elif name in _RAISED:
            inner: list[str] = []
            _collect(one, inner, boxes)
            text = "".join(inner)
            found.append(f"{_RAISED[name]}({text})" if len(text) > 1 else _RAISED[name] + text if text else "")
        elif name == "naryPr":
            found.append(value(child(one, "chr")) or "∫")
        elif name == "txbxContent":
            boxes.append(one)
        elif name not in _SKIPPED:
            if name == "rad":
                found.append("√")
            _collect(one, found, boxes)
