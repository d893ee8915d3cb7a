"""Styles and numbers of Word: which paragraphs are headings, and the number that stands before one."""

import re
from dataclasses import dataclass, replace
from typing import Final
from xml.etree.ElementTree import Element

from chat.documents.word_xml import child, children, value

_HEADING_NAME: Final = re.compile(r"(?:heading|标题)\s*([1-9])\Z", re.IGNORECASE)
_TITLES: Final = ("title", "标题")
_BODY_LEVEL: Final = 9
_LEVELS: Final = 9
_LETTERS: Final = 26
_DIGITS: Final = "零一二三四五六七八九"
_CIRCLED: Final = 20
_ROMAN: Final = ((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))
_BULLET: Final = "•"


@dataclass(frozen=True, slots=True)
class Format:
    """Of a style or a paragraph. `outline` is 0 for Heading 1, -1 for the title, None for text; `numbering` an id, "0" for none."""

    outline: int | None = None
    numbering: str = ""
    depth: int = 0


class Styles:
    def __init__(self, root: Element | None) -> None:
        self._styles = {value(style, "styleId"): style for style in children(root, "style")}
        self._known: dict[str, Format] = {}

    def of(self, properties: Element | None) -> Format:
        """The format of a paragraph with these `pPr`: its own, else its style's."""
        name = value(child(properties, "pStyle"))
        return _with(self._style(name, 0), properties)

    def _style(self, name: str, depth: int) -> Format:
        style = self._styles.get(name)
        # Styles that are based on each other in a circle are told by their depth.
        if style is None or depth > len(self._styles):
            return Format()
        if name not in self._known:
            base = self._style(value(child(style, "basedOn")), depth + 1)
            own = _with(base, child(style, "pPr"))
            named = value(child(style, "name")).strip()
            if match := _HEADING_NAME.match(named):
                own = replace(own, outline=int(match[1]) - 1)
            elif named.lower() in _TITLES:
                own = replace(own, outline=-1)
            self._known[name] = own
        return self._known[name]


def _with(base: Format, properties: Element | None) -> Format:
    if properties is None:
        return base
    outline = _number(value(child(properties, "outlineLvl")), None)
    numbering = child(properties, "numPr")
    return Format(
        base.outline if outline is None else None if outline >= _BODY_LEVEL else outline,
        value(child(numbering, "numId")) or base.numbering,
        _number(value(child(numbering, "ilvl")), base.depth) or 0,
    )


class Numbering:
    """Counts as Word does: each list has a counter for each depth, and a number restarts those deeper than it."""

    def __init__(self, root: Element | None) -> None:
        self._lists = {value(one, "abstractNumId"): one for one in children(root, "abstractNum")}
        self._numbers = {value(one, "numId"): one for one in children(root, "num")}
        self._counters: dict[str, list[int | None]] = {}

    def label(self, numbering: str, depth: int) -> str:
        """What stands before the next paragraph of this numbering: "1.", "（一）", "•"; empty when nothing does."""
        number = self._numbers.get(numbering)
        listed = value(child(number, "abstractNumId"))
        levels = {value(one, "ilvl"): one for one in children(self._lists.get(listed), "lvl")}
        overrides = {value(one, "ilvl"): one for one in children(number, "lvlOverride")}
        if str(depth) not in levels or not 0 <= depth < _LEVELS:
            return ""
        counters = self._counters.setdefault(numbering if overrides else f"list {listed}", [None] * _LEVELS)

        def start(at: int) -> int:
            own = value(child(overrides.get(str(at)), "startOverride"))
            return _number(own or value(child(levels.get(str(at)), "start")), 1) or 0

        last = counters[depth]
        counters[depth] = start(depth) if last is None else last + 1
        counters[depth + 1 :] = [None] * (_LEVELS - depth - 1)
        if _kind(levels[str(depth)]) == "bullet":
            return _BULLET
        label = value(child(levels[str(depth)], "lvlText"))
        for at in range(depth + 1):
            current = counters[at]
            shown = _shown(start(at) if current is None else current, _kind(levels.get(str(at))))
            label = label.replace(f"%{at + 1}", shown)
        return label.strip()


def _kind(level: Element | None) -> str:
    return value(child(level, "numFmt")) or "decimal"


def _number(text: str, otherwise: int | None) -> int | None:
    return int(text) if text.lstrip("-").isdecimal() and len(text) < 9 else otherwise


def _shown(number: int, kind: str) -> str:
    """`number` in one of Word's ways to count; in digits when it is a way that is not known here."""
    if kind == "none":
        return ""
    if kind in ("lowerLetter", "upperLetter") and number > 0:
        letter = chr(ord("a") + (number - 1) % _LETTERS) * min((number - 1) // _LETTERS + 1, 4)
        return letter.upper() if kind == "upperLetter" else letter
    if kind in ("lowerRoman", "upperRoman") and 0 < number < 40:
        roman = ""
        for worth, letters in _ROMAN:
            roman, number = roman + letters * (number // worth), number % worth
        return roman.upper() if kind == "upperRoman" else roman
    if ("Counting" in kind or kind.startswith("ideograph")) and 0 < number < 100:
        tens, ones = divmod(number, 10)
        return (_DIGITS[tens] if tens > 1 else "") + ("十" if tens else "") + (_DIGITS[ones] if ones or not tens else "")
    if "Circle" in kind and 0 < number <= _CIRCLED:
        return chr(ord("①") + number - 1)
    return f"{number:02}" if kind == "decimalZero" else str(number)
