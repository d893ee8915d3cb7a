"""Markdown that still grows: which blocks of it are closed, and how much of the open rest can be shown as plain text.

Not to cut is always right and only late; so a cut is made where no later line can change what stands before it. Links that are
defined elsewhere in the text (`[a]: …`) are the one thing that a stretch alone does not show as the whole does.
"""

import re
from typing import Final, Literal

from chat.text.formulas import DISPLAY_CHARS, find_closer, is_block_tail, is_dollar_formula, limit_chars, opener_at

# An opener of a formula this far back, still without its end, is ordinary text.
HELD_BACK_CHARS: Final = 300

_FENCE: Final = re.compile(r" {0,3}(?P<marks>`{3,}(?=[^`]*$)|~{3,})")
_HEADING: Final = re.compile(r" {0,3}#{1,6}(?:\s|$)")
_RULE: Final = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_ITEM: Final = re.compile(r" {0,3}(?:(?P<bullet>[-+*])|(?P<number>\d{1,9})[.)])(?P<after>\s+\S|\s*$)")
_FORMULA: Final = re.compile(r" {0,3}(\$\$|\\\[)")

_Mode = Literal["between", "paragraph", "list", "code", "fence"]


class BlockScanner:
    """Finds the closed blocks of a text that comes in chunks; every line is looked at once.

    Each stretch between two results of `feed` looks, rendered alone, as it does within the whole.
    """

    def __init__(self) -> None:
        self._partial: list[str] = []
        self._unscanned = ""
        self._mode: _Mode = "between"
        self._fence = ""
        self._after_blank = False
        self._scanned_chars = 0
        self._closed_chars = 0

    def feed(self, chunk: str) -> int:
        """Takes more text; returns how many code points from the start are closed blocks. Never less than before."""
        head, newline, tail = chunk.rpartition("\n")
        if newline:
            self._unscanned += "".join([*self._partial, head, newline])
            self._partial = []
            self._scan()
        self._partial.append(tail)
        return self._closed_chars

    def _scan(self) -> None:
        text, place = self._unscanned, 0
        while place < len(text):
            end = text.index("\n", place) + 1
            line = text[place:end]
            formula_end = self._formula_end(text, place) if self._may_be_formula(line) else place
            if formula_end is None:
                break
            if formula_end > place:
                self._close()
                self._scanned_chars += formula_end - place
                self._mode, self._after_blank = "between", False
                self._close()
                place = formula_end
            else:
                self._take(line)
                place = end
        self._unscanned = text[place:]

    def _may_be_formula(self, line: str) -> bool:
        return self._mode != "fence" and bool(_FORMULA.match(line)) and not (self._mode == "list" and line.startswith(" "))

    @staticmethod
    def _formula_end(text: str, start: int) -> int | None:
        """The end of the last line of the formula that the line at `start` begins; `start` when it is none, None when not yet known."""
        begin = start
        while text[begin] == " ":
            begin += 1
        place = find_closer(text, begin, opener_at(text, begin))
        if place < 0:
            return start if len(text) - begin >= DISPLAY_CHARS else None
        line_end = text.index("\n", place)
        return line_end + 1 if is_block_tail(text[place + 2 : line_end]) else start

    def _close(self) -> None:
        """Closes everything up to the line that is looked at."""
        self._closed_chars = self._scanned_chars

    def _take(self, line: str) -> None:
        bare = line.rstrip("\r\n")
        if self._mode == "fence":
            self._take_in_fence(bare, len(line))
            return
        if not bare.strip():
            self._scanned_chars += len(line)
            self._after_blank = True
            if self._mode in ("between", "paragraph"):
                self._mode = "between"
                self._close()
            return
        if self._ends_before(bare):
            self._close()
            self._mode = "between"
        self._after_blank = False
        self._scanned_chars += len(line)
        self._enter(bare)

    def _take_in_fence(self, bare: str, chars: int) -> None:
        self._scanned_chars += chars
        mark = bare.strip()
        indent = len(bare) - len(bare.lstrip(" "))
        if indent < 4 and len(mark) >= len(self._fence) and not mark.strip(self._fence[0]):
            self._mode = "between"
            self._close()

    def _ends_before(self, bare: str) -> bool:
        """True when the block that is open cannot reach into this line."""
        starts_block = bool(_HEADING.match(bare) or _FENCE.match(bare))
        indent = _indent(bare)
        if self._mode == "paragraph":
            item = _ITEM.match(bare)
            interrupts = item is not None and item["after"].strip() and item["number"] in (None, "1")
            return starts_block or bool(interrupts and not _RULE.match(bare))
        if self._mode == "list":
            is_other = self._after_blank and (not _ITEM.match(bare) or bool(_RULE.match(bare)))
            return indent == 0 and (starts_block or is_other)
        return self._mode == "code" and indent < 4 and (starts_block or self._after_blank)

    def _enter(self, bare: str) -> None:
        """Notes what kind of block this line begins or continues."""
        fence = _FENCE.match(bare)
        if self._mode == "list":
            return
        if fence:
            self._mode, self._fence = "fence", fence["marks"]
        elif self._mode == "between" and (_HEADING.match(bare) or _RULE.match(bare)):
            self._close()
        elif self._mode in ("between", "paragraph") and _indent(bare) >= 4:
            # Behind a paragraph it is none; behind a table, which is not told apart here, it is.
            self._mode = "code"
        elif _ITEM.match(bare):
            self._mode = "list"
        elif self._mode == "between":
            self._mode = "paragraph"


def _indent(line: str) -> int:
    wide = line.expandtabs(4)
    return len(wide) - len(wide.lstrip(" "))


_TOKEN: Final = re.compile(
    r"^[ \t>*+-]*(?:\d+[.)][ \t]*)?(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})[^\n]*|(?P<code>`+)|(?P<escape>\\[^(\[])|(?P<math>\$\$?|\\[(\[])",
    re.MULTILINE,
)
_BACKTICKS: Final = re.compile("`+")
_OPENS: Final = re.compile(r"[A-Za-z\\({\[|+\-]|\d[\d.]*[A-Za-z\\^_=+*/({]|\s+\\")


def visible_end(open_text: str) -> int:
    """How many code points of `open_text`, the open rest of an answer, can be shown as plain text already.

    What may become a formula is held back from its opener on. A result can be less than an earlier one for a shorter text:
    show no less than before.
    """
    return _look(open_text, [])


def finished_formulas(open_text: str) -> list[tuple[int, int, str]]:
    """The formulas in the visible part of `open_text`: where each begins and ends, delimiters included, and its opener."""
    found: list[tuple[int, int, str]] = []
    _look(open_text, found)
    return found


def _look(open_text: str, formulas: list[tuple[int, int, str]]) -> int:
    """The visible end; what lies before it and is a formula goes into `formulas`."""
    place, paragraph_end, missing = 0, 0, set[str]()
    while match := _TOKEN.search(open_text, place):
        start, place = match.span()
        if match["fence"]:
            place = _behind_fence(open_text, place, match["fence"])
        elif match["code"]:
            if place > paragraph_end:
                blank = open_text.find("\n\n", place)
                paragraph_end = len(open_text) if blank < 0 else blank
            place = _behind_code(open_text, place, paragraph_end, match["code"])
        elif opener := match["math"]:
            end = -1 if opener in missing else find_closer(open_text, start, opener)
            if end >= 0:
                is_formula = opener != "$" or is_dollar_formula(open_text[start + 1 : end], open_text[end + 1 : end + 2])
                if is_formula:
                    place = end + len(opener)
                    formulas.append((start, place, opener))
            elif len(open_text) - start > HELD_BACK_CHARS:
                # No end in all that follows: there is none for the next one either.
                missing |= {opener} if start + limit_chars(opener) >= len(open_text) else set()
            elif opener != "$" or _may_open(open_text, place):
                return start
    return len(open_text) - 1 if _ends_with_backslash(open_text, place) else len(open_text)


def _may_open(text: str, place: int) -> bool:
    """True when a single dollar before `place` can be the opener of a formula."""
    return place == len(text) or ("\n\n" not in text[place:] and bool(_OPENS.match(text, place)))


def _ends_with_backslash(text: str, place: int) -> bool:
    return text.endswith("\\") and place < len(text)


def _behind_fence(text: str, place: int, marks: str) -> int:
    close = re.compile(rf"^[ \t>]*{re.escape(marks[0])}{{{len(marks)},}}[ \t]*$", re.MULTILINE).search(text, place + 1)
    return close.end() if close else len(text)


def _behind_code(text: str, place: int, paragraph_end: int, marks: str) -> int:
    """Where the code span ends that `marks` before `place` opens; while it is open, the end of its paragraph."""
    runs = _BACKTICKS.finditer(text, place, paragraph_end)
    return next((run.end() for run in runs if len(run.group()) == len(marks)), max(place, paragraph_end))
