"""What a viewer is told piece by piece comes to what the whole is."""

import html
import json
import re

import pytest

from chat.frames import Gap, Told
from chat.runs.events import ReasoningAdded, TextAdded
from chat.text.blocks import BlockScanner

ANSWER = (
    "解：设 $x_1$ 与 \\(\\frac{a}{b}\\) 已知。价格是 $5 和 $6。\n\n- 首项 $a_1 = \\sqrt{2}$，见 `$HOME`\n- 公比 $q$\n\n"
    "$$\\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix}$$\n\n| 量 | 值 |\n|---|---|\n| 分数 | $\\frac{1}{2}$ |\n\n"
    "```sh\necho $HOME $PATH\n```\n\n反应式 $\\mathrm{2H_2 + O_2 = 2H_2O}$。"
)


def events(text: str, size: int, start: int = 0) -> list[TextAdded]:
    scanner, closed, found = BlockScanner(), 0, []
    for at in range(0, len(text), size):
        piece, before = text[at : at + size], closed
        closed = scanner.feed(piece)
        found.append(TextAdded("run_1", "th_1", at, piece, before, closed))
    return [event for event in found if event.end > start]


class Shown:
    """A page that applies frames as the script does."""

    def __init__(self) -> None:
        self.offset, self.blocks, self.tail = 0, "", ""

    def apply(self, text: str) -> None:
        if not text:
            return
        frame = json.loads(text)
        assert frame["at"] == self.offset
        self.offset = frame["to"]
        if frame["type"] == "block":
            self.blocks, self.tail = self.blocks + frame["html"], frame["tail"]
        else:
            self.tail += frame["html"]

    @property
    def words(self) -> str:
        """What can be read, without code and set formulas."""
        rest = re.sub(r"<code.*?</code>|<math.*?</math>", "", self.blocks + self.tail, flags=re.DOTALL)
        return html.unescape(re.sub(r"<[^>]+>", "", rest))


def view(text: str, size: int) -> list[Shown]:
    """The page after each piece."""
    told, page, pages = Told.of("", 0, 0), Shown(), []
    for event in events(text, size):
        page.apply(told.add(event, "en"))
        copy = Shown()
        copy.offset, copy.blocks, copy.tail = page.offset, page.blocks, page.tail
        pages.append(copy)
    return pages


@pytest.mark.parametrize("size", [1, 3, 7, 20, 1000])
def test_no_part_of_a_formula_is_ever_readable(size: int) -> None:
    for page in view(ANSWER, size):
        plain = page.words.replace("$5", "").replace("$6", "")
        # A code block that is still open stands in the tail as it is written.
        plain = re.sub(r"```.*|`[^`]*`?", "", plain, flags=re.DOTALL)
        assert "\\" not in plain and "$" not in plain, plain


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_offset_reaches_the_end_and_the_text_is_whole(size: int) -> None:
    text = "第一段。\n\n## 二\n\n最后 <b>一</b> 段，还开着"
    page = view(text, size)[-1]
    assert page.offset == len(text)
    assert page.blocks.startswith("<p>第一段。</p>") and page.tail == "最后 &lt;b&gt;一&lt;/b&gt; 段，还开着"


def test_dollars_in_open_code_stay_as_written() -> None:
    assert view("```sh\necho $HOME and $PATH", 5)[-1].tail == "```sh\necho $HOME and $PATH"


def test_viewers_at_the_same_place_are_told_the_same_text() -> None:
    told = [Told.of("", 0, 0) for _viewer in range(3)]
    for event in events(ANSWER, 9):
        first, *others = [one.add(event, "en") for one in told]
        assert all(other is first for other in others)


def test_viewer_that_joined_in_the_middle_of_a_piece_gets_its_rest() -> None:
    told = Told.of("第一段。\n\n第", 0, 0)
    (event,) = events("第一段。\n\n第二段", 100)
    frame = json.loads(told.add(event, "en"))
    assert (frame["at"], frame["to"], frame["tail"]) == (7, 9, "第二段")


def test_piece_that_is_known_already_is_not_told_again() -> None:
    assert Told.of("第一段", 0, 0).add(events("第一段", 3)[0], "en") == ""


def test_missing_text_is_noticed() -> None:
    with pytest.raises(Gap):
        Told.of("第", 0, 0).add(TextAdded("run_1", "th_1", 2, "段", 0, 0), "en")
    with pytest.raises(Gap):
        Told.of("", 0, 0).think(ReasoningAdded("run_1", "th_1", 2, "想"))
