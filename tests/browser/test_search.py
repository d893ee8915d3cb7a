"""The search as people meet it: by keyboard alone, with an input method, on a phone, without script."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.conftest import OTHER_WORLDS, ROOT, log_in, product
from tests.browser.test_chat import COMPOSE

pytestmark = pytest.mark.browser

LOOKS = [(1280, "light", "zh-CN"), (1280, "dark", "en"), (360, "dark", "zh-CN"), (360, "light", "en")]
# A long conversation whose only place is far above its newest page, a short one, and many that fill further pages.
SEED = """
from datetime import timedelta
from django.contrib.auth.models import User
from django.utils import timezone
from chat.models import Agent
from tests import builders
user = User.objects.get(username="teacher")
agent = Agent.objects.for_user(user).first()
now = timezone.now()
long = builders.thread(user, agent, title="长会话", updated_at=now - timedelta(days=2))
for number in range(80):
    builders.run(long, "卷积的练习放在哪里了" if number == 5 else f"第{number}问", "好的。\\n\\n" * 8)
short = builders.thread(user, agent, title="<b>短</b>会话", updated_at=now - timedelta(days=1), status="archived")
builders.run(short, "测试一下量子", "卷积 **与** 池化")
builders.run(short, "写长一些", "很长的话。" * 400 + "**末尾**的Ｐython")
for number in range(25):
    builders.thread(user, agent, title=f"教案{number}", updated_at=now - timedelta(days=9, minutes=number))
"""


@pytest.fixture(scope="module")
def search_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("search")
    with product(folder) as url:
        environment = {name: value for name, value in os.environ.items() if name not in OTHER_WORLDS}
        environment |= {"DATA_DIR": str(folder / "data"), "DJANGO_SETTINGS_MODULE": "memoryapp.settings", "SECRET_KEY": "only-for-tests"}
        subprocess.run([sys.executable, "-c", "import django; django.setup()\n" + SEED], cwd=ROOT, env=environment, check=True)
        yield url


@pytest.fixture
def page(context: BrowserContext, search_site: str) -> Iterator[Page]:
    """A teacher's page in a browser that complains of nothing."""
    complaints: list[str] = []
    page = context.new_page()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    log_in(page, search_site)
    page.goto(f"{search_site}/memory/")
    yield page
    assert complaints == []


def marked(page: Page) -> list[str]:
    """The words that stand out in the conversation."""
    return list(page.evaluate("[...(CSS.highlights.get('found') ?? [])].map((range) => range.toString())"))


def test_keys_lead_to_the_box_and_escape_leads_back(page: Page):
    box = page.locator("#sidebar-q")
    link = page.locator(".sidebar-foot a").last
    for key in ("/", "Control+k"):
        link.focus()
        page.keyboard.press(key)
        expect(box).to_be_focused()
        page.keyboard.type("卷")
        page.keyboard.press("Escape")
        expect(link).to_be_focused()
        expect(box).to_have_value("")


def test_keys_are_left_to_whoever_is_typing(page: Page, search_site: str):
    page.goto(search_site)
    message = page.locator("#composer textarea[name=input]")
    message.press("/")
    expect(message).to_be_focused()
    expect(message).to_have_value("/")
    message.press("Control+k")
    expect(message).to_be_focused()
    message.fill("")
    message.press("Control+k")
    expect(page.locator("#sidebar-q")).to_be_focused()


def test_key_that_ends_a_composition_calls_nothing(page: Page):
    page.evaluate(
        "() => document.body.dispatchEvent("
        "new KeyboardEvent('keydown', {bubbles: true, cancelable: true, key: '/', isComposing: true, keyCode: 229}))"
    )
    expect(page.locator("#sidebar-q")).not_to_be_focused()


@pytest.mark.parametrize("order", ["early", "late"])
@pytest.mark.parametrize("name", ["#sidebar-q", "#search-q"])
def test_enter_belongs_to_the_input_method_while_it_composes(page: Page, search_site: str, name: str, order: str):
    page.goto(f"{search_site}/search/")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "q=" in request.url else None)
    box = page.locator(name)
    box.evaluate(COMPOSE, order)
    page.wait_for_timeout(200)
    assert asked == []
    expect(box).to_be_focused()
    expect(box).to_have_value("测试")
    box.press("Enter")
    page.wait_for_url("**/search/?q=**")
    expect(page.locator(".found mark").first).to_have_text("测试")
    assert len(asked) == 1


def test_results_mark_the_words_and_keep_markup_as_text(page: Page):
    page.locator("#sidebar-q").fill("卷积")
    page.locator("#sidebar-q").press("Enter")
    expect(page.locator(".found-thread")).to_have_count(2)
    expect(page.locator(".found-title").first).to_have_text("<b>短</b>会话")
    expect(page.locator(".found-place mark").first).to_have_text("卷积")


def test_place_on_an_earlier_page_opens_at_its_round(page: Page, search_site: str):
    page.goto(f"{search_site}/search/?q=放在哪里")
    page.locator(".found-place").click()
    page.wait_for_url("**/chat/t/**")
    found = page.locator(".run-found")
    expect(found).to_contain_text("卷积的练习放在哪里了")
    expect(found.locator(".question")).to_be_in_viewport(ratio=1)
    assert page.locator("article[data-run]").count() == 20
    assert marked(page) == ["放在哪里"]
    address = page.url.split("?")[0] + "#" + str(found.get_attribute("id"))
    page.goto(search_site)
    page.goto(address)  # an address without the question mark comes to the same round
    expect(page.locator(".run-found .question")).to_be_in_viewport(ratio=1)


def test_words_are_marked_and_in_view_where_the_place_leads(page: Page, search_site: str):
    page.goto(f"{search_site}/search/?q=末尾 的PYTHON")
    page.locator(".found-place").click()
    expect(page.locator(".run-found strong")).to_be_in_viewport(ratio=1)
    assert marked(page) == ["末尾", "的Ｐython"]


def test_arrows_go_through_what_was_found(page: Page):
    page.locator("#sidebar-q").fill("卷积")
    page.locator("#sidebar-q").press("Enter")
    box, links = page.locator("#search-q"), page.locator(".found-title a, .found-place")
    expect(box).to_be_focused()
    expect(box).to_have_accessible_description("在 2 段会话里找到。")
    page.keyboard.press("ArrowUp")
    expect(box).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(links.nth(0)).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(links.nth(1)).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(box).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")
    expect(box).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/chat/t/**")


def test_going_back_shows_what_was_found_before(page: Page, search_site: str):
    page.goto(f"{search_site}/search/?q=卷积")
    expect(page).to_have_title("卷积 · 搜索 · 记得")
    page.locator("#search-q").fill("教案")
    page.locator("#search-q").press("Enter")
    expect(page.locator(".found-thread")).to_have_count(20)
    expect(page).to_have_title("教案 · 搜索 · 记得")
    page.go_back()
    expect(page.locator(".found-thread")).to_have_count(2)
    expect(page.locator("#search-q")).to_have_value("卷积")
    expect(page.locator("#sidebar")).to_be_visible()


def test_round_on_the_newest_page_is_shown_and_the_page_stays_live(page: Page, search_site: str):
    page.goto(f"{search_site}/search/?q=第75问")
    page.locator(".found-place").click()
    expect(page.locator(".run-found .question")).to_be_in_viewport(ratio=1)
    expect(page.locator("[data-socket]")).to_have_count(1)
    expect(page).to_have_url(page.url.split("?")[0])


def test_choices_and_further_pages_come_in_place(page: Page, search_site: str):
    page.goto(f"{search_site}/search/?q=教案")
    page.evaluate("window.stays = true")
    expect(page.locator(".found-thread")).to_have_count(20)
    page.locator(".found-more a").click()
    expect(page.locator(".found-thread")).to_have_count(25)
    expect(page.locator(".found-more")).to_have_count(0)
    page.locator("input[name=from]").fill("2100-01-01")
    page.locator("#search-q").press("Enter")
    expect(page.locator(".found-empty")).to_contain_text("教案")
    expect(page.locator("#found-said")).to_contain_text("没有找到")
    assert page.evaluate("window.stays") and "from=2100-01-01" in page.url


def test_search_works_without_script(browser: Browser, search_site: str):
    with browser.new_context(java_script_enabled=False, locale="en") as context:
        page = context.new_page()
        log_in(page, search_site)
        page.locator("#sidebar-q").fill("放在哪里")
        page.locator("#sidebar-q").press("Enter")
        page.locator(".found-place").click()
        expect(page.locator(".run-found .question")).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize(("width", "theme", "language"), LOOKS)
def test_pages_are_accessible_and_fit(browser: Browser, search_site: str, width: int, theme: str, language: str):
    with browser.new_context(viewport={"width": width, "height": 800}, color_scheme=theme, locale=language) as context:
        page = context.new_page()
        log_in(page, search_site)
        for address in ("/search/", "/search/?q=卷积", "/search/?q=没有这个词", "/search/?q=教案&from=2020-01-01"):
            page.goto(search_site + address)
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, address
            found = Axe().run(page).response["violations"]
            assert [(address, one["id"], [node["target"] for node in one["nodes"]]) for one in found] == []


def test_box_is_reached_on_a_phone(browser: Browser, search_site: str):
    with browser.new_context(viewport={"width": 360, "height": 740}, locale="zh-CN") as context:
        page = context.new_page()
        log_in(page, search_site)
        page.locator(".sidebar-toggle").click()
        page.locator("#sidebar-q").fill("卷积")
        page.locator(".sidebar-search button").click()
        expect(page.locator(".found-thread")).to_have_count(2)
        page.locator(".found-count").click()
        page.keyboard.press("Control+k")
        expect(page.locator("#sidebar-q")).to_be_focused()
        page.keyboard.press("Escape")
        expect(page.locator("#sidebar-q")).to_be_hidden()
