"""Two tabs of one teacher at once, while a worker is at work on what they have just said."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import log_in, product
from tests.browser.test_memory import Site, texts

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("tabs")
    with product(folder) as url:
        yield Site(url, folder)


@pytest.fixture
def tabs(browser: Browser, site: Site) -> Iterator[list[Page]]:
    """Two tabs in which nothing goes wrong: no error in the script, none of the server."""
    wrong: list[str] = []
    with browser.new_context(viewport={"width": 1280, "height": 800}, locale="zh-CN") as context:
        tabs = [context.new_page(), context.new_page()]
        for tab in tabs:
            tab.on("pageerror", lambda error: wrong.append(str(error)))
            tab.on("response", lambda answer: wrong.append(answer.url) if answer.status >= 400 else None)
        log_in(tabs[0], site.url)
        yield tabs
    assert wrong == []


def say(tab: Page, text: str) -> None:
    tab.locator(".sidebar-new").click()
    tab.wait_for_url("**/chat/ag_*/")
    tab.locator("#composer textarea[name=input]").fill(text)
    tab.locator("#composer textarea[name=input]").press("Enter")
    expect(tab.locator("article[data-run]").last).to_have_attribute("data-status", "completed")


def expect_lists(tab: Page, pending: int, confirmed: int, archived: int) -> None:
    tab.reload()
    expect(tab.locator("#pending-head")).to_have_attribute("data-count", str(pending))
    expect(tab.locator("#confirmed")).to_have_attribute("data-count", str(confirmed))
    expect(tab.locator("#memory-shelves a", has_text="归档")).to_have_text(f"归档 {archived}")


def test_thirty_one_confirmations_leave_thirty_and_can_be_undone(tabs: list[Page], site: Site):
    first, second = tabs
    say(first, "今天上什么课")  # its extraction meets the confirmations
    site.seed(texts(31))
    first.goto(f"{site.url}/memory/")
    second.goto(f"{site.url}/memory/?order=oldest")
    for tab in tabs:
        expect(tab.locator("[data-worker]")).to_have_attribute("data-worker", "ok")
        tab.keyboard.press("j")
    for _ in range(31):  # each tab does them in its own time, and both come to all of them
        for tab in tabs:
            tab.keyboard.press("Enter")
    for tab in tabs:
        expect(tab.locator("#pending-list [data-candidate]")).to_have_count(0, timeout=60_000)
    expect_lists(first, pending=0, confirmed=30, archived=1)
    expect_lists(second, pending=0, confirmed=30, archived=1)
    second.keyboard.press("u")
    expect(second.locator("#memory-notice")).to_contain_text("已撤销")
    expect_lists(first, pending=1, confirmed=30, archived=0)


def test_thirty_one_confirmations_in_two_lots_leave_thirty(tabs: list[Page], site: Site):
    site.seed(texts(31))
    first, second = tabs
    for tab, order in ((first, ""), (second, "?order=oldest")):
        tab.goto(f"{site.url}/memory/{order}")
        tab.locator("[data-action=select-all]").click()
    for tab in tabs:  # sent at once, and answered as they come
        tab.locator("#bulk button[value=confirm]").evaluate("button => { setTimeout(() => button.click()) }")
    for tab in tabs:
        expect(tab.locator("#memory-notice")).to_contain_text("条")
    expect_lists(first, pending=0, confirmed=30, archived=1)
