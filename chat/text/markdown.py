"""Markdown to safe HTML: what an answer looks like on a page.

CommonMark with tables, strikethrough, formulas and line breaks as written. Raw HTML is shown as text, images from elsewhere
become links, and the result passes an allow-list. A paper of 3,000 tokens takes 4 ms; 100 formulas in it, not seen before, 25 ms more.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from typing import Final

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from chat.text import blocks, formulas

CACHED_CHARS: Final = 50_000
_LINK_SCHEMES: Final = {"http", "https", "mailto"}
_LANGUAGE: Final = re.compile(r"[\w+#.-]{1,30}", re.ASCII)
_SURROGATES: Final = re.compile("[\ud800-\udfff]")
# The place of a citation: `[3]`, not the `[^3]` of a footnote.
_CITATION: Final = re.compile(r"\[([1-9][0-9]{0,2})\]")
# As the cleaner leaves it. Raw HTML of a text is escaped, so only our own rule can have made it.
_CITED: Final = re.compile(r'<span class="cite">([0-9]+)</span>')
# An answer stands in a page whose headings of the first two ranks are its own.
_HEADING_SHIFT: Final = 2

_TEXT_TAGS: Final = "p br hr h3 h4 h5 h6 em strong s code pre blockquote ul ol li a div span button table thead tbody tr th td"
_MATH_TAGS: Final = (
    "math mrow mi mn mo ms mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover mmultiscripts mprescripts none"
    " mtable mtr mtd mlabeledtr mstyle mpadded mphantom menclose"
)
_MATH_ATTRIBUTES: Final = (
    "display displaystyle scriptlevel mathvariant stretchy fence separator form largeop movablelimits symmetric minsize maxsize lspace"
    " rspace accent accentunder linethickness columnalign rowalign columnspacing rowspacing columnlines rowlines frame width height depth"
    " voffset notation"
)
_CLEANER: Final = nh3.Cleaner(
    tags={*_TEXT_TAGS.split(), *_MATH_TAGS.split()},
    attributes={
        "a": {"href", "title"},
        "ol": {"start"},
        "code": {"class"},
        **{tag: {"class"} for tag in ("div", "span", "th", "td")},
        "button": {"type", "class", "data-action"},
        **{tag: set(_MATH_ATTRIBUTES.split()) for tag in _MATH_TAGS.split()},
    },
    url_schemes=_LINK_SCHEMES,
    url_relative="deny",
    link_rel="noopener noreferrer nofollow",
    set_tag_attribute_values={"a": {"target": "_blank"}},
)


class SafeHtml(str):
    """HTML that templates may show as it is."""

    __slots__ = ()

    def __html__(self) -> str:
        return str(self)


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a citation leads and what it is called there; without an address it stays as it is written."""

    address: str
    title: str


def render_cited(text: str, copy_label: str, marks: Sequence[Mark]) -> tuple[SafeHtml, list[int]]:
    """As `render`; each `[n]` of the prose is a link to the n-th of `marks`. Also the numbers that were cited, in order.

    What stands in code, in a formula or in the words of a link is no citation, nor is a number without a mark.
    """
    html = _render_cached(text, copy_label, len(marks)) if len(text) <= CACHED_CHARS else _render(text, copy_label, len(marks))
    cited = sorted({int(number) for number in _CITED.findall(html)})
    return SafeHtml(_CITED.sub(lambda found: _citation(int(found[1]), marks[int(found[1]) - 1]), html)), cited


def _citation(number: int, mark: Mark) -> str:
    if not mark.address:
        return f"[{number}]"
    return f'<a class="cite" href="{escape(mark.address)}" title="{escape(mark.title)}">[{number}]</a>'


def render(text: str, copy_label: str = "") -> SafeHtml:
    """`text` as safe HTML. `copy_label` is what the button of a code block says, in the reader's language.

    Texts of up to `CACHED_CHARS` are remembered, as a page shows many old answers.
    """
    return _render_cached(text, copy_label) if len(text) <= CACHED_CHARS else _render(text, copy_label)


def render_open(open_text: str, start: int, end: int) -> SafeHtml:
    """`open_text[start:end]`, of the open rest of an answer, as safe HTML: plain text in which finished formulas are set."""
    parts: list[str] = []
    for begin, behind, opener in blocks.finished_formulas(open_text):
        if start <= begin and behind <= end:
            source = open_text[begin + len(opener) : behind - len(opener)]
            math = formulas.set_formula(source, opener in ("$$", r"\["))
            parts += [escape(open_text[start:begin]), _CLEANER.clean(f'<span class="math">{math}</span>')]
            start = behind
    return SafeHtml("".join([*parts, escape(open_text[start:end])]))


def _render(text: str, copy_label: str, citations: int = 0) -> SafeHtml:
    html = _MARKDOWN.render(_SURROGATES.sub("\ufffd", text), {"copy_label": copy_label, "citations": citations})
    return SafeHtml(_CLEANER.clean(html))


@lru_cache(maxsize=256)
def _render_cached(text: str, copy_label: str, citations: int = 0) -> SafeHtml:
    return _render(text, copy_label, citations)


def _parser() -> MarkdownIt:
    md = MarkdownIt("commonmark", {"html": False, "breaks": True, "typographer": False})
    md.enable(["table", "strikethrough"])
    formulas.install(md)
    # Before escapes are joined with the text around them: `\\[1]` is no citation.
    md.core.ruler.before("text_join", "cite", _cite)
    md.core.ruler.push("adapt", _adapt)
    md.add_render_rule("fence", _code)
    md.add_render_rule("code_block", _code)
    md.add_render_rule("image", _image)
    md.add_render_rule("cite", lambda _, tokens, index, *__: f'<span class="cite">{tokens[index].content}</span>')
    md.add_render_rule("table_open", lambda *_: '<div class="table-scroll"><table>\n')
    md.add_render_rule("table_close", lambda *_: "</table></div>\n")
    return md


def _adapt(state: StateCore) -> None:
    """Shifts headings, and says the alignment of cells by classes."""
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + _HEADING_SHIFT)}"
        elif token.type in ("th_open", "td_open"):
            style = str(token.attrs.pop("style", ""))
            if style.startswith("text-align:"):
                token.attrs["class"] = f"align-{style.removeprefix('text-align:')}"


def _cite(state: StateCore) -> None:
    """Makes tokens of the citations in prose, as far as there is something to cite."""
    most = int(state.env.get("citations", 0))
    for token in state.tokens if most else ():
        if token.type == "inline" and token.children and "[" in token.content:
            token.children = _with_citations(token.children, most)


def _with_citations(children: list[Token], most: int) -> list[Token]:
    found: list[Token] = []
    links = 0
    for child in children:
        links += child.nesting if child.type in ("link_open", "link_close") else 0
        if links or child.type != "text":
            found.append(child)
        else:
            found += _split(child, most)
    return found


def _split(text: Token, most: int) -> list[Token]:
    """The token in pieces: text and citations by turns."""
    pieces: list[Token] = []
    start = 0
    for match in _CITATION.finditer(text.content):
        if int(match[1]) <= most:
            pieces.append(Token("text", "", 0, content=text.content[start : match.start()]))
            pieces.append(Token("cite", "", 0, content=match[1]))
            start = match.end()
    return [*pieces, Token("text", "", 0, content=text.content[start:])] if pieces else [text]


def _code(_: RendererHTML, tokens: list[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    language = _LANGUAGE.match(tokens[index].info.strip())
    name = f' class="language-{escape(language.group().lower())}"' if language else ""
    button = f'<button type="button" class="code-copy" data-action="copy-code">{escape(str(env.get("copy_label", "")))}</button>'
    return f'<div class="code">{button}<pre><code{name}>{escape(tokens[index].content)}</code></pre></div>\n'


def _image(_: RendererHTML, tokens: list[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    """A link in place of the image: showing it would tell another server who reads when."""
    address = str(tokens[index].attrs.get("src", ""))
    words = escape(tokens[index].content or address)
    return f'<a href="{escape(address)}">{words}</a>' if address.lower().startswith(("http://", "https://")) else words


_MARKDOWN: Final = _parser()
