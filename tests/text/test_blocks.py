"""Showing a text block by block while it grows."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.text.blocks import BlockScanner, visible_end
from chat.text.markdown import render
from tests.text.papers import exam_paper

LESSON = r"""# 二叉树的遍历

本节课讲 **三种** 遍历，复杂度都是 $O(n)$。
先看定义：
\[
T(n) = 2T\left(\frac{n}{2}\right) + O(1)

\]
由主定理得 \(T(n)=O(n)\)。

1. 先序遍历

   ```python
   def walk(node):

       print(node.value)
   ```

   > 递归时要判断空结点。

2. 中序遍历
   - 左子树
   - 右子树

3. 后序遍历

小结
====

| 遍历 | 次序 |
|:----|----:|
| 先序 | 根左右 |

---

    缩进的代码

    第二段

价格是 $5 和 $6。
- 作业一
- 作业二
$$
S_n = \sum_{i=1}^{n} i
$$
结束语

~~~
# 不是标题

$$
~~~
### 思考题
$$ 不是公式

后文 $$

[下一课](https://example.org/next)"""

DOCUMENTS = [
    LESSON,
    exam_paper(),
    LESSON.replace("\n", "\r\n"),
    "只有一段",
    "",
    "\n\n\n",
    "```\n没有结束\n\n的代码",
    "$$\n没有结束\n\n的公式\n\n后文",
]

PIECES = [
    *(
        "段落一行",
        "另一行\n第三行",
        "# 标题",
        "## 标题 #",
        "- 项",
        "- 项\n  续",
        "* 星",
        "1. 一",
        "2. 二",
        "3) 三",
        "  - 内层",
        "   续段",
        "    缩进",
        "\t制表",
    ),
    *(
        "> 引用",
        "> - 引用内列表",
        "```\n代码\n\n- 代码\n```",
        "```py",
        "```",
        "~~~\n$$\n~~~",
        "---",
        "===",
        "***",
        "- - -",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "a | b\n--|--",
    ),
    *(
        "$$\nx\n$$",
        "$$x$$",
        "$$",
        "$$\nx\n\ny\n$$。",
        "$$ x $$ 后文",
        "\\[",
        "\\]",
        "\\[\na\n\\]",
        "  $$\n  x\n  $$",
        "行内 $x$ 与 \\(y\\)",
        "",
        "   ",
        "-",
        "+ ",
        "1.",
        "10. 十",
    ),
]


def stretches(text, chunks):
    """The stretches that a scanner finds when `text` comes in `chunks`, and the rest at the end."""
    scanner, cuts = BlockScanner(), [0]
    for chunk in chunks:
        cuts.append(scanner.feed(chunk))
    assert cuts == sorted(cuts)
    assert cuts[-1] <= len(text)
    return [text[a:b] for a, b in zip(cuts, [*cuts[1:], len(text)], strict=True) if b > a]


def rendered(pieces):
    return "".join(render(piece) for piece in pieces)


@pytest.mark.parametrize("text", DOCUMENTS)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 50, 10_000])
def test_stretches_look_as_the_whole(text, size):
    assert rendered(stretches(text, [text[i : i + size] for i in range(0, len(text), size)])) == render(text)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, len(LESSON)), max_size=20))
def test_any_chunking_gives_the_same_page(places):
    cuts = [0, *sorted(places), len(LESSON)]
    chunks = [LESSON[a:b] for a, b in zip(cuts, cuts[1:], strict=False)]
    assert rendered(stretches(LESSON, chunks)) == render(LESSON)


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("\n".join))
def test_any_order_of_blocks_looks_as_the_whole(text):
    assert rendered(stretches(text, text)) == render(text)


def test_most_of_a_document_is_closed_before_its_end():
    assert len(stretches(LESSON, LESSON)) >= 10
    assert len(stretches(exam_paper(), exam_paper())) >= 15


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        ("段落\n\n", "段落\n\n"),
        ("段落\n", ""),
        ("# 标题\n", "# 标题\n"),
        ("段落\n# 标", ""),
        ("段落\n# 标\n", "段落\n# 标\n"),
        ("段落\n```\n", "段落\n"),
        ("```\na\n\nb\n", ""),
        ("```\na\n```\n", "```\na\n```\n"),
        ("- a\n\n", ""),
        ("- a\n\n- b\n\n后", ""),
        ("- a\n\n后\n", "- a\n\n"),
        ("$$\nx\n\ny\n", ""),
        ("前\n$$\nx\n$$\n", "前\n$$\nx\n$$\n"),
        ("| a |\n|---|\n| 1 |\n", ""),
        ("| a |\n|---|\n| 1 |\n\n", "| a |\n|---|\n| 1 |\n\n"),
    ],
)
def test_block_closes_when_no_later_line_can_change_it(text, closed):
    assert text[: BlockScanner().feed(text)] == closed


@pytest.mark.parametrize("unit", ["a", "\\[\n", "$$\n", "- a\n", "```\n", "> ", "| a |\n", "$$\n\n", "\n", "`"])
@pytest.mark.timeout(60)  # quadratic work on this text takes minutes
def test_long_text_in_small_chunks_takes_linear_time(unit):
    text, scanner = unit * (100_000 // len(unit)), BlockScanner()
    for i in range(0, len(text), 5):
        scanner.feed(text[i : i + 5])


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("面积是 $", "$"),
        ("面积是 $S", "$S"),
        ("面积是 $S=\\pi r^2", "$S=\\pi r^2"),
        ("系数 $2x^", "$2x^"),
        ("如下 \\(x + ", "\\(x + "),
        ("如下\n\\[\nx", "\\[\nx"),
        ("如下\n$$\nx\n", "$$\nx\n"),
        ("已完 $x$ 与 $y", "$y"),
        ("换行\\", "\\"),
        ("`$a` 之后 $b", "$b"),
    ],
)
def test_unfinished_formula_is_held_back(text, held):
    assert text[visible_end(text) :] == held


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "普通的话",
            "价格是 $5",
            "价格是 $5 和 $6",
            "共 $20，",
            "US$ 7",
            "面积是 $S$",
            "$$x$$",
            "\\(x\\) 与 \\[y\\]",
            "转义 \\$a",
            "两个反斜杠 \\\\",
        ),
        *(
            "`$x",
            "代码 `$x` 里",
            "```\n$x = \\(1",
            "- 项\n  ```php\n  $a = \\",
            "~~~\n$$\n",
            "旧的 $a " + "很长的话" * 80,
            "\\[" + "x" * 301,
            "一段 $a\n\n下一段",
        ),
    ],
)
def test_ordinary_text_is_shown_at_once(text):
    assert visible_end(text) == len(text)


@pytest.mark.parametrize("unit", ["$", "\\(", "$$ ", "`", "` ", "\\", "$a ", "```\n", "\\[\n", ">"])
@pytest.mark.timeout(60)  # quadratic work on this text takes minutes
def test_hostile_tail_is_looked_through_in_time(unit):
    visible_end(unit * (100_000 // len(unit)))
