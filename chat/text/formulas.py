r"""Formulas in Markdown: $…$, $$…$$, \(…\) and \[…\] become MathML, made on the server.

The rules are our own: of the known plugins one has no \(…\), the other copies the rest of the text at every opener, which
takes minutes for a hostile text. What an opener needs to count is shared with `blocks`, so that a stream shows the same.
"""

import re
from functools import lru_cache
from html import escape, unescape
from typing import Final
from xml.etree.ElementTree import Element, tostring

from latex2mathml import exceptions
from latex2mathml.converter import convert_to_element
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

CLOSERS: Final = {"$": "$", "$$": "$$", r"\(": r"\)", r"\[": r"\]"}
# Longer ones are shown as their source: setting takes about 1 ms per 100 characters.
SET_CHARS: Final = 2_000
# How far behind its opener a formula may end.
INLINE_CHARS: Final = 1_000
DISPLAY_CHARS: Final = 4_000
_DEPTH: Final = 24
_MACROS: Final = re.compile(
    r"\\(?:[gex]?def|let|(?:re)?newcommand|newenvironment|csname|catcode|require|href|url|style|class|cssId)(?![a-zA-Z])"
)
# Environments that the library does not know, by the one that is set the same way.
_ENVIRONMENTS: Final = {
    **dict.fromkeys(("aligned", "align", "flalign", "flalign*", "eqnarray", "eqnarray*"), "split"),
    **dict.fromkeys(("gathered", "gather", "gather*", "multline", "multline*"), "matrix"),
    **dict.fromkeys(("dcases", "dcases*", "cases*"), "cases"),
}
_ENVIRONMENT: Final = re.compile(r"\\(begin|end)\s*\{([a-z]+\*?)\}")
# Elements that a browser only sets with exactly so many children.
_CHILDREN: Final = {"mfrac": 2, "mroot": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2, "msubsup": 3, "munderover": 3}
# Its own errors have no common class; the others are what its parser is known to raise for broken sources.
_CANNOT_SET: Final[tuple[type[Exception], ...]] = (
    *(error for error in vars(exceptions).values() if isinstance(error, type) and issubclass(error, Exception)),
    *(ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, RuntimeError, StopIteration, TypeError, ValueError),
)
_CJK: Final = re.compile("[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]")
_WORDS: Final = re.compile(r"\\(?:text|mathrm|textbf|mbox|operatorname)\s*\{[^{}]*\}")
_PROSE: Final = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{3,}")
_MATHEMATICS: Final = re.compile(r"[\\^_=<>{}+*/|-]")
_AFTER_BLOCK: Final = frozenset(".,;:。，；：、")


def is_dollar_formula(inner: str, following: str) -> bool:
    """True when `inner` between two single dollars, with the character `following` them, is a formula and not two prices."""
    if not inner.strip() or following.isdigit() or "\n\n" in inner:
        return False
    plain = _WORDS.sub("", inner)
    has_words = bool(_CJK.search(plain))
    if inner[0].isspace() or inner[-1].isspace():
        return bool(_MATHEMATICS.search(inner)) and not has_words and inner[0].isspace() == inner[-1].isspace()
    return not (inner[0].isdigit() and (has_words or _PROSE.search(plain)))


def limit_chars(opener: str) -> int:
    """How many characters a formula with `opener` may have at most."""
    return DISPLAY_CHARS if opener in ("$$", r"\[") else INLINE_CHARS


def find_closer(text: str, start: int, opener: str, end: int | None = None) -> int:
    """Where the formula that `opener` opens at `start` has its closer, -1 when it has none within its limit."""
    end = min(start + limit_chars(opener), len(text) if end is None else end)
    closer, place = CLOSERS[opener], start + len(opener)
    while (place := text.find(closer, place, end)) >= 0:
        backslashes = 0
        while place - backslashes > start and text[place - backslashes - 1] == "\\":
            backslashes += 1
        if backslashes % 2 == 0:
            return place
        place += 1
    return -1


def opener_at(text: str, place: int) -> str:
    """The opener of a formula at `place`, or nothing."""
    if text.startswith("$$", place) or text.startswith((r"\(", r"\["), place):
        return text[place : place + 2]
    return "$" if text.startswith("$", place) else ""


def is_block_tail(after: str) -> bool:
    """True when a displayed formula with `after` behind it on its last line is a block of its own."""
    return not after.strip() or after.strip() in _AFTER_BLOCK


def install(md: MarkdownIt) -> None:
    """Makes `md` know formulas."""
    md.inline.ruler.before("escape", "formula", _inline)
    md.block.ruler.before("fence", "formula_block", _block, {"alt": ["paragraph", "reference", "blockquote", "list"]})
    md.add_render_rule("formula", _render)
    md.add_render_rule("formula_block", _render_block)


def set_formula(source: str, is_display: bool) -> str:
    """`source` as MathML; as it is, in `<code class="math-source">`, when it cannot be set. Not yet sanitised."""
    source = source.strip()
    if len(source) <= SET_CHARS:
        return _set(source, is_display)
    return _source(source)


@lru_cache(maxsize=1024)
def _set(source: str, is_display: bool) -> str:
    if _depth(source) > _DEPTH or _MACROS.search(source):
        return _source(source)
    try:
        math = convert_to_element(_ENVIRONMENT.sub(_known_environment, source), display="block" if is_display else "inline")
    except _CANNOT_SET:
        return _source(source)
    if not all(_is_sound(element) for element in math.iter()):
        return _source(source)
    return tostring(math, encoding="unicode")


def _is_sound(element: Element) -> bool:
    """False for a command that was not understood, or a fraction without its half. Decodes the references in the text."""
    element.text = unescape(element.text or "")
    return not element.text.startswith("\\") and len(element) == _CHILDREN.get(element.tag, len(element))


def _known_environment(match: re.Match[str]) -> str:
    name = match.group(2)
    return f"\\{match.group(1)}{{{_ENVIRONMENTS.get(name, name)}}}"


def _depth(source: str) -> int:
    deepest = depth = 0
    for char in re.findall(r"[{}]|\\left|\\right|\\begin|\\end|\\sqrt|[\^_]", source):
        depth += 1 if char in ("{", r"\left", r"\begin") else -1 if char in ("}", r"\right", r"\end") else 0
        deepest = max(deepest, depth)
    return deepest


def _source(source: str) -> str:
    return f'<code class="math-source">{escape(source)}</code>'


def _inline(state: StateInline, silent: bool) -> bool:
    opener = opener_at(state.src, state.pos)
    if not opener:
        return False
    end = find_closer(state.src, state.pos, opener, state.posMax)
    if end < 0:
        return False
    inner = state.src[state.pos + len(opener) : end]
    if not inner.strip() or (opener == "$" and not is_dollar_formula(inner, state.src[end + 1 : end + 2])):
        return False
    if not silent:
        token = state.push("formula", "math", 0)
        token.content, token.markup = inner, opener
    state.pos = end + len(opener)
    return True


def _block(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    if state.is_code_block(start_line):
        return False
    begin = state.bMarks[start_line] + state.tShift[start_line]
    opener = state.src[begin : begin + 2]
    if opener not in ("$$", r"\["):
        return False
    place = find_closer(state.src, begin, opener)
    if place < 0:
        return False
    # A paragraph in a list asks whether a line outside of the list ends it.
    indent = min(state.blkIndent, state.sCount[start_line])
    line = start_line
    while state.eMarks[line] < place:
        line += 1
        if line >= end_line or (state.sCount[line] < indent and not state.isEmpty(line)):
            return False
    after = state.src[place + 2 : state.eMarks[line]].strip()
    if not is_block_tail(after):
        return False
    if silent:
        return True
    token = state.push("formula_block", "math", 0)
    first = state.src[begin + 2 : min(place, state.eMarks[start_line])]
    rest = [state.src[state.bMarks[i] + state.tShift[i] : min(place, state.eMarks[i])] for i in range(start_line + 1, line + 1)]
    token.block, token.content, token.markup, token.info = True, "\n".join([first, *rest]), opener, after
    token.map = [start_line, line + 1]
    state.line = line + 1
    return True


def _render(_: RendererHTML, tokens: list[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    token = tokens[index]
    is_display = token.markup in ("$$", r"\[")
    return f'<span class="math{" math-display" if is_display else ""}">{set_formula(token.content, is_display)}</span>'


def _render_block(_: RendererHTML, tokens: list[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    token = tokens[index]
    return f'<div class="math math-display">{set_formula(token.content, True)}{escape(token.info)}</div>\n'
