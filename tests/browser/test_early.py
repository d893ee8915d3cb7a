"""A teacher who is quicker than the page: what is done before its modules are there is neither lost nor ignored."""

import contextlib
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Error, Page, Route, expect

from tests.browser.conftest import log_in
from tests.browser.test_chat import COMPOSE, box, ended, say

pytestmark = pytest.mark.browser
MODULES = "**/static/js/*chat*.js"


@pytest.fixture
def page(browser: Browser, site: str) -> Iterator[Page]:
    """A new conversation."""
    page = browser.new_page(viewport={"width": 1280, "height": 800}, locale="zh-CN")
    log_in(page, site)
    page.locator(".sidebar-new").click()
    page.wait_for_url("**/chat/ag_*/")
    yield page
    page.close()


@contextlib.contextmanager
def without_modules(page: Page) -> Iterator[None]:
    """Loads the page anew as on a slow line: its modules arrive at the end of the block."""
    held: list[Route] = []
    page.route(MODULES, lambda route: held.append(route))
    page.reload(wait_until="commit")
    box(page).wait_for()
    yield
    assert held
    page.unroute(MODULES)
    for route in held:
        with contextlib.suppress(Error):  # of a page that was left
            route.continue_()
    expect(page.locator("html")).to_have_attribute("data-live", "yes")


@pytest.mark.parametrize("is_new", [True, False])
def test_enter_sends_once_before_the_modules_are_there(page: Page, is_new: bool):
    if not is_new:
        say(page, "先说一句")
        ended(page)
    rounds = 0 if is_new else 1
    with without_modules(page):
        box(page).fill("一打开就发")
        box(page).press("Enter")
        sent = page.locator("article[data-run]").nth(rounds)
        expect(sent.locator("[data-part=input]")).to_have_text("一打开就发")
    assert "/chat/t/" in page.url
    ended(page)
    expect(box(page)).to_have_value("")
    assert page.locator("article[data-run]").count() == rounds + 1


@pytest.mark.parametrize("order", ["early", "late"])
def test_what_was_composed_and_chosen_before_the_modules_are_there_stays_and_is_not_sent(page: Page, order: str):
    modes = page.locator("#composer-mode option")
    page.locator("#composer-mode").select_option(index=1)  # kept with the draft
    other = modes.nth(2).get_attribute("value") or ""
    with without_modules(page):
        page.locator("#composer-mode").select_option(other)
        box(page).evaluate(COMPOSE, order)
        assert "/chat/ag_" in page.url
    expect(box(page)).to_have_value("测试")
    expect(page.locator("#composer-mode")).to_have_value(other)
    box(page).press("Enter")
    page.wait_for_url("**/chat/t/**")
    ended(page)
    assert page.locator("article[data-run]").count() == 1
