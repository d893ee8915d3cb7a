"""Incognito conversations and the end of a conversation in a real browser."""

from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.conftest import log_in

pytestmark = pytest.mark.browser
SECRET = "我教高二，暗号青竹七号"


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en")
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext, site: str) -> Page:
    page = context.new_page()
    log_in(page, site)
    page.locator(".sidebar-new").click()
    page.wait_for_url("**/chat/ag_*/")
    return page


def send(page: Page, text: str) -> str:
    """Sends a first message and waits for its answer; returns the thread's id."""
    page.locator("#composer textarea").fill(text)
    page.locator("#composer [data-action=send]").click()
    page.wait_for_url("**/chat/t/th_*/*")
    expect(page.locator("article[data-status=completed]")).to_have_count(1)
    return page.locator("[data-thread]").first.get_attribute("data-thread") or ""


def drafts(page: Page) -> str:
    return str(page.evaluate("JSON.stringify(localStorage)"))


def assert_accessible(page: Page) -> None:
    found = Axe().run(page).response["violations"]
    assert not [(one["id"], [node["html"] for node in one["nodes"]]) for one in found]


def test_an_incognito_conversation_is_begun_marked_and_closed(page: Page) -> None:
    page.get_by_label("Incognito").check()
    page.locator("#composer textarea").press_sequentially(SECRET)
    assert "青竹" not in drafts(page)
    send(page, SECRET)
    expect(page.locator(".mark")).to_have_text("Incognito")
    expect(page.locator("#memory-note")).to_contain_text("nothing of it is remembered")
    assert_accessible(page)
    page.locator("#composer textarea").press_sequentially("还没有发出的话")
    assert "没有发出" not in drafts(page)
    page.locator("[data-action=close-thread]").click()
    page.wait_for_url("**/chat/ag_*/")
    expect(page.locator("#threads a[data-thread]").filter(has_text="青竹")).to_have_count(0)
    page.go_back()
    assert "青竹" not in page.content()


def test_deleting_asks_and_the_other_tab_shows_nothing_of_it_any_more(page: Page, context: BrowserContext) -> None:
    send(page, SECRET)
    other = context.new_page()
    other.goto(page.url)
    expect(other.locator("article[data-run]")).to_have_count(1)
    other.locator("#composer textarea").fill("半句草稿")
    page.locator("[popovertarget=thread-menu]").click()
    page.locator("[data-action=delete]").click()
    expect(page.locator("#delete-thread")).to_be_visible()
    assert_accessible(page)
    page.locator("[data-action=delete-thread]").click()
    page.wait_for_url("**/chat/ag_*/")
    expect(other.locator("[data-gone]")).to_contain_text("This conversation was deleted.", timeout=15_000)
    expect(other.locator("article[data-run]")).to_have_count(0)
    expect(other.locator("#composer textarea")).to_have_count(0)
    assert "青竹" not in other.locator("main").inner_text() and "半句" not in drafts(other)


def test_deleting_works_by_keyboard_alone_and_from_the_sidebar(page: Page) -> None:
    thread_id = send(page, "出一份试卷")
    page.locator("#composer textarea").fill("半句草稿")
    page.locator(f"#threads a[href='/chat/t/{thread_id}/delete/']").focus()
    page.keyboard.press("Enter")
    page.locator("[data-action=delete-thread]").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/chat/ag_*/")
    expect(page.locator(f"#threads a[data-thread={thread_id}]")).to_have_count(0)
    assert "半句" not in drafts(page)
