"""Notes in a conversation, in a real browser: a line with undo, the next conversation knows it, tabs, keyboard, phone, no script."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from tests.browser.conftest import log_in, product

pytestmark = pytest.mark.browser

WORKFLOW = "这个项目的文档任务用反向工作流"
LONG = "字号不小于 28，每页不超过六行，图在左、文字在右，最后一页留出板书的地方，封面写课题、班级和日期，不写口号，也不放动画和背景音乐"
REFRESH = "我改过 MEMORY.md 了，刷新一下记忆"


@dataclass(frozen=True)
class Site:
    url: str
    folder: Path

    def memory_file(self, teacher: str = "") -> Path:
        """MEMORY.md on the disk, as somebody with an editor finds it."""
        return max((self.folder / "data" / "notes").glob("*/*/*/MEMORY.md"), key=lambda path: path.stat().st_mtime)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("notes-in-chat")
    with product(folder, RUNS_PER_MINUTE="1000") as url:
        yield Site(url, folder)


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    with browser.new_context(viewport={"width": 1280, "height": 800}, locale="zh-CN") as context:
        yield context


@pytest.fixture
def page(context: BrowserContext, site: Site) -> Iterator[Page]:
    """A teacher's page with a new conversation, in which nothing goes wrong."""
    wrong: list[str] = []
    page = context.new_page()
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    log_in(page, site.url)
    begin(page)
    yield page
    assert wrong == []


def begin(page: Page) -> None:
    page.locator(".sidebar-new").click()
    page.wait_for_url("**/chat/ag_*/")


def say(page: Page, text: str) -> Locator:
    """Sends a message and returns its round when it is answered."""
    rounds = page.locator("article[data-run]").count()
    page.locator("#composer-input").fill(text)
    page.locator("#composer-input").press("Enter")
    article = page.locator("article[data-run]").nth(rounds)
    expect(article).to_have_attribute("data-status", "completed", timeout=20_000)
    return article


def line(article: Locator) -> Locator:
    return article.locator("[data-part=notes] [data-note-op]")


def frozen_notes(article: Locator) -> Locator:
    """What the model saw of the notes in this round."""
    article.locator("[data-action=ledger]").click()
    article.locator("[data-segment=system] summary").click()
    return article.locator("[data-segment=system] [data-part=frozen-notes]")


def test_what_is_to_be_remembered_is_a_line_and_the_next_conversation_knows_it(page: Page):
    told = line(say(page, f"记住：{WORKFLOW}"))
    expect(told).to_contain_text(f"已记入 MEMORY.md：{WORKFLOW}")
    expect(told.locator("button[data-action=undo]")).to_be_visible()
    page.reload()
    expect(line(page.locator("article[data-run]").last)).to_have_attribute("data-state", "applied")
    begin(page)
    notes = frozen_notes(say(page, "出一份数据结构试卷"))
    expect(notes).to_contain_text(WORKFLOW)
    assert "笔记" in notes.evaluate("one => getComputedStyle(one, '::before').content")


def test_note_that_is_taken_back_is_gone_in_every_tab(page: Page, context: BrowserContext, site: Site):
    told = line(say(page, "记住：试卷一律用 A3 纸"))
    other = context.new_page()
    other.goto(page.url)
    expect(line(other.locator("article[data-run]").last).locator("[data-action=undo]")).to_be_visible()
    told.locator("[data-action=undo]").focus()
    page.keyboard.press("Enter")
    for tab in (page, other):
        gone = line(tab.locator("article[data-run]").last)
        expect(gone).to_contain_text("已撤销，不再在 MEMORY.md 里：试卷一律用 A3 纸")
        expect(gone.locator("button, a")).to_have_count(0)
    expect(told).to_be_focused()
    assert "A3 纸" not in site.memory_file().read_text()
    page.reload()
    expect(line(page.locator("article[data-run]").last)).to_have_attribute("data-state", "undone")


def test_file_that_was_changed_by_hand_counts_after_it_was_read_again(page: Page, site: Site):
    say(page, "记住：codex CLI 是 v0.147")
    file = site.memory_file()
    file.write_text(file.read_text().replace("v0.147", "v0.148"))
    begin(page)
    say(page, "出一份数据结构试卷")
    file.write_text(file.read_text().replace("v0.148", "v0.149"))
    before = frozen_notes(say(page, "简答题换两道"))
    expect(before).to_contain_text("v0.148")
    expect(page.locator("#notes-changed")).to_be_visible()
    say(page, REFRESH)
    expect(page.locator("#notes-changed")).to_have_count(0)
    expect(frozen_notes(say(page, "再换一道"))).to_contain_text("v0.149")


def test_notes_are_read_again_with_the_keyboard_and_the_other_tab_hears_of_it(page: Page, context: BrowserContext):
    say(page, "出一份数据结构试卷")
    expect(page.locator("#notes-changed")).to_have_count(0)
    say(page, "记住：每题标出考点")
    other = context.new_page()
    other.goto(page.url)
    expect(other.locator("#notes-changed")).to_be_visible()
    page.locator("#notes-changed button[data-action=refresh-notes]").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#notes-refreshed")).to_be_focused()
    expect(page.locator("#notes-refreshed")).to_contain_text("从下一条消息起按现在的内容回答")
    expect(other.locator("#notes-changed")).to_have_count(0)
    expect(frozen_notes(say(page, "简答题换两道"))).to_contain_text("每题标出考点")
    expect(page.locator("#notes-refreshed")).to_have_count(0)


def test_mark_stays_in_view_in_a_long_conversation(page: Page):
    for text in ("出一份数据结构试卷", "再来一份数据结构试卷", "记住：大题写分步得分"):
        say(page, text)
    expect(page.locator("#notes-changed")).to_be_in_viewport()
    assert page.evaluate("scrollY") > 200


def test_guide_is_skipped_for_the_conversation_that_begins_and_comes_back_in_the_next(browser: Browser, site: Site):
    with browser.new_context(locale="zh-CN") as context:
        page = context.new_page()
        log_in(page, site.url, "teacher2")
        begin(page)
        page.locator("#composer-input").fill("出一份")
        page.locator("#guide button[data-action=skip]").focus()
        page.keyboard.press("Enter")
        expect(page.locator("#guide")).to_have_count(0)
        expect(page.locator("#composer-input")).to_be_focused()
        expect(page.locator("#composer-input")).to_have_value("出一份")
        asked = say(page, "出一份数据结构试卷")
        expect(page.locator("#guide")).to_have_count(0)
        expect(asked.locator("[data-part=output]")).not_to_contain_text("怎样称呼你")
        begin(page)
        say(page, "出一份数据结构试卷")
        expect(page.locator("#guide")).to_be_visible()
        page.locator("#guide button[data-action=skip]").click()
        expect(page.locator("#guide")).to_have_count(0)
        expect(page.locator("#composer-input")).to_be_focused()


def test_guide_goes_everywhere_when_the_teacher_is_known(browser: Browser, site: Site):
    with browser.new_context(locale="zh-CN") as context:
        tabs = [context.new_page(), context.new_page()]
        log_in(tabs[0], site.url, "teacher3")
        for tab in tabs:
            tab.goto(site.url)
            begin(tab)
            expect(tab.locator("#guide")).to_be_visible()
        told = line(say(tabs[0], "记住：我教高二信息技术"))
        expect(told).to_contain_text("已记入 USER.md：我教高二信息技术")
        for tab in tabs:
            expect(tab.locator("#guide")).to_have_count(0)


def test_undo_and_reading_again_work_without_script(browser: Browser, page: Page, site: Site):
    say(page, "记住：不用表格排版")
    with browser.new_context(locale="zh-CN", java_script_enabled=False) as context:
        context.add_cookies(page.context.cookies())
        plain = context.new_page()
        plain.goto(page.url)
        plain.locator("#notes-changed button").click()
        expect(plain.locator("#notes-changed")).to_have_count(0)
        expect(plain.locator("#notes-refreshed")).to_be_visible()
        plain.locator("[data-note-op] button[data-action=undo]").click()
        expect(plain.locator("[data-note-op]")).to_contain_text("已撤销")
        assert re.search(r"/chat/t/th_\w+/#run_", plain.url)


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_lines_and_marks_are_accessible_and_fit(browser: Browser, site: Site, width: int, scheme: str):
    with browser.new_context(viewport={"width": width, "height": 740}, locale="zh-CN", color_scheme=scheme) as context:
        page = context.new_page()
        log_in(page, site.url)
        page.goto(site.url + str(page.locator("a.sidebar-new").get_attribute("href")))
        article = say(page, f"记住：{scheme} 主题的课件宽 {width} 像素，{LONG}")
        expect(line(article).locator("details")).to_be_visible()
        line(article).locator("summary").click()
        expect(page.locator("#notes-changed")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert Axe().run(page).response["violations"] == []
