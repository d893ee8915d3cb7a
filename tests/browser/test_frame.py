"""The frame as people meet it: both widths, both themes, both languages, with and without script."""

from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import log_in

pytestmark = pytest.mark.browser

LOOKS = [(1280, "light", "zh-CN"), (1280, "dark", "en"), (360, "dark", "zh-CN"), (360, "light", "en")]
PAGES = ["/accounts/login/", "/settings/", "/nowhere/", "/admin/", "/admin/chat/agent/"]


@pytest.fixture(params=LOOKS, ids=lambda look: "-".join(map(str, look)))
def page(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Page]:
    width, theme, language = request.param
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=theme, locale=language)
    yield context.new_page()
    context.close()


@pytest.fixture
def plain_page(browser: Browser) -> Iterator[Page]:
    """A page of a browser without script."""
    context = browser.new_context(java_script_enabled=False, locale="en")
    yield context.new_page()
    context.close()


def test_pages_are_accessible_and_fit_and_break_no_policy(page: Page, site: str):
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if "Content Security Policy" in message.text else None)
    for address in PAGES:
        if address == "/settings/":
            log_in(page, site, "admin")
        page.goto(site + address)
        assert complaints == []
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, address
        found = Axe().run(page).response["violations"]
        assert [(address, one["id"], [node["target"] for node in one["nodes"]]) for one in found] == []
        complaints.clear()  # axe adds styles of its own


def test_menu_opens_closes_by_escape_and_logs_out(page: Page, site: str):
    log_in(page, site)
    page.locator("[popovertarget=user-menu]").click()
    menu = page.locator("#user-menu")
    expect(menu).to_be_visible()
    page.keyboard.press("Escape")
    expect(menu).to_be_hidden()
    page.locator("[popovertarget=user-menu]").click()
    menu.locator("button").click()
    expect(page.locator("#id_username")).to_be_visible()


def test_token_is_made_and_revoked_in_place_with_the_focus_on_what_was_done(page: Page, site: str):
    log_in(page, site)
    page.goto(f"{site}/settings/")
    page.locator("#tokens input[name=name]").fill("marks")
    page.locator("#tokens form[hx-post$='/tokens/'] button").click()
    expect(page.locator("#tokens .notice")).to_be_focused()
    expect(page.locator(".token-text")).to_contain_text("mem_")
    page.locator(".token button").first.click()
    expect(page.locator(".token-text")).to_have_count(0)
    expect(page.locator("#tokens .notice")).to_be_focused()


def test_after_the_session_ended_a_click_asks_to_log_in_and_comes_back(browser: Browser, site: str):
    with browser.new_context(locale="en") as context:
        page = context.new_page()
        log_in(page, site)
        page.goto(f"{site}/settings/")
        context.clear_cookies(name="sessionid")
        page.locator("#tokens input[name=name]").fill("marks")
        page.locator("#tokens form[hx-post$='/tokens/'] button").click()
        page.wait_for_url("**/accounts/login/?next=/settings/")


def test_settings_work_without_script(plain_page: Page, site: str):
    plain_page.goto(f"{site}/accounts/login/")
    plain_page.locator("button[value=zh-hans]").click()
    expect(plain_page.locator("h1")).to_have_text("登录")
    log_in(plain_page, site, "teacher2")
    plain_page.goto(f"{site}/settings/")
    plain_page.locator("input[name=theme][value=dark]").check()
    plain_page.locator("#preferences button").click()
    expect(plain_page.locator("html[data-theme=dark]")).to_have_count(1)
    message = plain_page.locator(".message")
    expect(message).to_contain_text("设置已保存")
    message.locator("summary").click()
    expect(message).to_be_hidden()
