"""The line above which the model knows the conversation from its summary, while the page is open."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import log_in, product
from tests.conftest import mock_provider_class

pytestmark = [pytest.mark.browser, pytest.mark.mock]

SCRIPT = [
    {"purpose": "summary", "reply": "教师在准备链表的课。"},
    {"purpose": "extraction", "reply": "NONE"},
    {"match": "", "reply": "好的。"},
]


@pytest.fixture(scope="module")
def model() -> Iterator[Any]:
    with mock_provider_class()(script=SCRIPT) as mock:
        yield mock


@pytest.fixture(scope="module")
def site(model: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("line")
    with product(folder, OPENAI_BASE_URL=f"{model.url}/v1", OPENAI_MODEL="scripted", RUNS_PER_MINUTE="1000") as url:
        yield url


@pytest.fixture
def page(browser: Browser, site: str) -> Iterator[Page]:
    with browser.new_context(viewport={"width": 1280, "height": 800}, locale="zh-CN") as context:
        page = context.new_page()
        log_in(page, site)
        page.locator(".sidebar-new").click()
        page.wait_for_url("**/chat/ag_*/")
        yield page


def say(page: Page, text: str) -> None:
    rounds = page.locator("article[data-run]")
    number = rounds.count()
    box = page.locator("#composer textarea[name=input]")
    box.fill(text)
    box.press("Enter")
    expect(rounds).to_have_count(number + 1)
    expect(rounds.last).to_have_attribute("data-status", "completed")


def test_line_comes_and_moves_without_a_reload(page: Page):
    say(page, "第1轮")
    page.wait_for_url(re.compile("/chat/t/th_"))
    page.evaluate("window.isSamePage = true")
    line = page.locator("#summary-line")
    places = []
    for number in range(2, 13):
        say(page, f"第{number}轮")
        if number in (7, 12):
            expect(line).to_have_attribute("data-upto", str(number - 2))
            places.append(line.evaluate("line => [line.previousElementSibling.dataset.slot, line.nextElementSibling.dataset.slot]"))
    assert places == [["5", "6"], ["10", "11"]]
    line.locator("a").click()
    expect(line).to_contain_text("教师在准备链表的课。")
    assert page.evaluate("window.isSamePage")
    page.reload()
    expect(line).to_have_attribute("data-upto", "10")
    assert line.evaluate("line => line.nextElementSibling.dataset.slot") == "11"
