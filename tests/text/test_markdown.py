"""What an answer looks like, and that nothing in it can harm the page."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.text.markdown import Mark, SafeHtml, render, render_cited


class Seen(HTMLParser):
    """What elements, attributes and addresses a page would have."""

    def __init__(self):
        super().__init__()
        self.elements, self.attributes, self.addresses = set(), set(), set()

    def handle_starttag(self, tag, attrs):
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.addresses |= {value for name, value in attrs if name in ("href", "src")}


def seen(text):
    parser = Seen()
    parser.feed(render(text))
    return parser


def text_of(html):
    return re.sub(r"<[^>]+>", "", html)


@pytest.mark.parametrize(
    "text",
    [
        "勾股定理 $a^2+b^2=c^2$ 成立",
        r"勾股定理 \(a^2+b^2=c^2\) 成立",
        "$$\na^2+b^2=c^2\n$$",
        "\\[\na^2+b^2=c^2\n\\]",
        "如下：\n\\[ a^2+b^2=c^2 \\]\n其中",
        "行内 $$a^2+b^2=c^2$$ 展示",
        "- 列表\n\n  $$\n  a^2+b^2=c^2\n  $$",
        "> $$\n> a^2+b^2=c^2\n> $$",
        "| 式 |\n|---|\n| $a^2+b^2=c^2$ |",
        "$ a^2+b^2=c^2 $",
        "\\[\n\na^2+b^2=c^2\n\n\\]",
    ],
)
def test_formula_is_set_in_all_delimiters(text):
    html = render(text)
    assert html.count("<math") == 1
    assert "<msup><mi>a</mi><mn>2</mn></msup>" in html
    assert not re.search(r"\$|\\[()\[\]]", text_of(html))


@pytest.mark.parametrize(
    "text",
    [
        "价格是 $5 和 $6。",
        "单价$5元，总价$60元",
        "It costs $5 or $6 a piece, US$ 7",
        "`$x$` 是代码",
        "```\n$x$ 与 \\(y\\)\n```",
        r"转义 \$x\$",
        "只有一个 $",
        "$ 和 $",
        "从 $5 到 $10 涨了",
        "$20 apples and a bag of rice$",
    ],
)
def test_prices_and_code_are_no_formulas(text):
    assert "<math" not in render(text)


def test_aligned_equations_become_a_table():
    assert render("$$\\begin{aligned} a &= b \\\\ c &= d \\end{aligned}$$").count("<mtr>") == 2


@pytest.mark.parametrize(
    "source",
    [
        r"\frac{1}",
        r"\left(",
        "a^b^c",
        r"\nosuchthing{x}",
        r"\def\a{\a\a}\a",
        "{" * 500 + "}" * 500,
        "x+" * 5_000,
        r"\begin{matrix} a",
        r"\href{javascript:x}{y}",
    ],
)
def test_formula_that_cannot_be_set_shows_its_source(source):
    html = render(f"$${source}$$")
    assert '<code class="math-source">' in html or source in text_of(html)
    assert "<math" not in html


HOSTILE_HTML = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '<a href="javascript:alert(1)">x</a>',
    "[x](javascript:alert(1))",
    "[x](data:text/html,<script>1</script>)",
    "![x](https://example.org/a.png)",
    "<https://example.org/?a=1&b=<script>>",
    '[x](https://example.org "onclick=alert(1)")',
    '```"><script>alert(1)</script>\n</code></pre><script>1</script>\n```',
    "$\\text{<img src=x onerror=alert(1)>}$",
    "$\\text{</mtext></math><script>1</script>}$",
    "$\\style{background:url(x)}{y}$ $\\color{red}x$",
    "<style>*{display:none}</style><div id=composer style=x>",
    "<math><mtext><table><mglyph><style><img src onerror=alert(1)>",
    "[a]: javascript:alert(1)\n\n[a]",
    "&#x6A;avascript:alert(1) [x](&#x6A;avascript:alert(1))",
    "<svg/onload=alert(1)> <iframe src=x> <form action=x><input name=y>",
]


@pytest.mark.parametrize("text", HOSTILE_HTML)
def test_hostile_text_gives_only_allowed_html(text):
    page = seen(text)
    assert not page.elements & {"script", "img", "style", "iframe", "form", "input", "svg", "mglyph", "object", "h1", "h2"}
    assert not {name for name in page.attributes if name.startswith("on") or name in ("style", "id", "src", "srcset")}
    assert all(address.startswith(("http://", "https://", "mailto:")) for address in page.addresses)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from([*HOSTILE_HTML, "$", "$$", "\\(", "\\[", "`", "```\n", "\n", "> ", "- ", "|", "<", ">", "\x00", "\ud800", "x"]),
        max_size=14,
    ).map("".join)
)
def test_any_mixture_gives_only_allowed_html(text):
    page = seen(text)
    assert not page.elements & {"script", "img", "style", "iframe", "form", "input", "svg", "mglyph"}
    assert not {name for name in page.attributes if name.startswith("on") or name in ("style", "id", "src")}


def test_raw_html_is_shown_as_text():
    assert render("<b>粗</b>") == "<p>&lt;b&gt;粗&lt;/b&gt;</p>\n"


def test_links_open_elsewhere_and_tell_nothing():
    html = render("[题库](https://example.org/a?b=1&c=2)")
    assert 'href="https://example.org/a?b=1&amp;c=2"' in html
    assert 'target="_blank"' in html
    assert 'rel="noopener noreferrer nofollow"' in html


def test_image_from_elsewhere_becomes_a_link():
    html = render("![图一](https://example.org/a.png)")
    assert "<img" not in html
    assert '<a href="https://example.org/a.png"' in html
    assert ">图一</a>" in html


def test_code_has_a_button_with_the_given_label():
    html = render("```C++ title\nint a<b>;\n```", "复制 & <代码>")
    assert '<div class="code"><button type="button" class="code-copy" data-action="copy-code">复制 &amp; &lt;代码&gt;</button>' in html
    assert '<pre><code class="language-c++">int a&lt;b&gt;;\n</code></pre></div>' in html


def test_same_text_with_another_label_is_another_page():
    assert "Copy" in render("```\nx\n```", "Copy")
    assert "复制" in render("```\nx\n```", "复制")


def test_tables_scroll_and_align():
    html = render("| a | b |\n|--:|---|\n| 1 | ~~2~~ |")
    assert html.startswith('<div class="table-scroll"><table>')
    assert '<td class="align-right">1</td>' in html
    assert "<s>2</s>" in html


def test_headings_rank_below_those_of_the_page():
    html = render("# 一\n## 二\n### 三\n###### 六")
    assert re.findall(r"<(h\d)>", html) == ["h3", "h4", "h5", "h6"]


def test_lines_break_as_written():
    assert render("A. 栈\nB. 队列") == "<p>A. 栈<br>\nB. 队列</p>\n"


def test_html_is_marked_safe_only_as_a_whole():
    html = render("a")
    assert isinstance(html, SafeHtml)
    assert html.__html__() == html
    assert not hasattr(html + "<b>", "__html__")


@pytest.mark.parametrize(
    "text",
    [
        *(">" * 10_000, "[" * 10_000, "`" * 100_000, "` " * 20_000, "\\(" * 20_000, "\\[\n" * 10_000, "$a " * 30_000, "*a_ " * 8_000),
        *("![[" * 5_000, "$" + "{" * 50_000 + "$", "$" + "\\frac{1}{" * 200 + "$", "- " * 5_000, "[a](" * 8_000, "$x^{" * 10_000),
        *("|a" * 8_000 + "\n" + "|-" * 8_000, "<a " * 30_000, "$$\n" * 30_000, "\\\\" * 40_000 + "$" * 1_000, "\\" * 50_001 + ")\\("),
    ],
)
@pytest.mark.timeout(60)  # quadratic work on this text takes minutes
def test_hostile_text_is_rendered_in_time(text):
    render(text)


# Citations

MARKS = [Mark("/p/1/", "讲义 <甲>"), Mark("", ""), Mark("/p/3/", "")]


def cited(text):
    html, numbers = render_cited(text, "", MARKS)
    return re.findall(r'<a class="cite" href="([^"]+)"', html), numbers, text_of(html).strip()


@pytest.mark.parametrize(
    "text", ["先进后出[1]。", "[1]", "**[1]** 是", "> 据 [1]", "- 一 [1]", "| 甲 [1] |\n|---|", "# 题 [1]", "甲\n[1]", "[1][9]"]
)
def test_number_of_a_mark_in_prose_is_a_link(text):
    assert cited(text)[:2] == (["/p/1/"], [1])


@pytest.mark.parametrize(
    "text",
    [
        "`a[1]`",
        "```\na[1]\n```",
        "    a[1]",
        "[1](https://example.org)",
        "[看 [1]](https://example.org)",
        "[1]: https://example.org\n\n见 [1]",
        "![1](x)",
        "![甲 [1]](https://example.org)",
        "[^1]",
        "\\[1]",
        "$a[1]$",
        "[0] [01] [4] [１] [1 ]",
        '<span class="cite">1</span>',
        "<a class='cite'>[x]</a>",
    ],
)
def test_what_is_no_citation_stays_as_it_is(text):
    assert cited(text)[:2] == ([], [])


def test_words_of_a_mark_are_escaped_and_a_mark_without_an_address_stays_plain():
    html, numbers = render_cited("[1] [2] [3]", "", MARKS)
    assert 'title="讲义 &lt;甲&gt;">[1]</a> [2] <a class="cite" href="/p/3/" title="">[3]</a>' in html and numbers == [1, 2, 3]


@given(st.text(alphabet="[]123`*\\$()<>!| \n甲", max_size=40))
@settings(max_examples=200, deadline=None)
def test_marks_change_nothing_but_their_links(text):
    html, _numbers = render_cited(text, "", MARKS)
    assert re.sub(r'<a class="cite"[^>]*>(\[\d\])</a>', r"\1", html) == render(text)
