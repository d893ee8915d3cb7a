"""The memory panel as people meet it: by keyboard alone, with an input method, live, without script, on a phone."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from tests.browser.conftest import OTHER_WORLDS, ROOT, log_in, product
from tests.browser.test_chat import COMPOSE

pytestmark = pytest.mark.browser

LOOKS = [(1280, "light", "zh-CN"), (1280, "dark", "en"), (360, "dark", "zh-CN"), (360, "light", "en")]
# Rows as extraction leaves them; it runs in a process of its own, on the data of the running product.
SEED = """
import json, sys
from datetime import timedelta
from django.contrib.auth.models import User
from django.utils import timezone
from chat.models import Agent, Candidate, CoreEvent, Decision, Fact, Thread
from tests import builders
order = json.loads(sys.argv[-1])
user = User.objects.get(username=order["user"])
agent = Agent.objects.for_user(user).first()
for model in (CoreEvent, Candidate, Fact, Decision):
    model.objects.filter(user=user).delete()
run = builders.run(builders.thread(user, agent), "以后简答题多一些")
for number, text in enumerate(order["texts"]):
    at = timezone.now() - timedelta(days=number / 3)
    row = builders.candidate(user, text, tenant=agent.tenant, agent=agent, thread=run.thread, source_run=run, quote=run.input,
                             reason="长期习惯", confidence=0.9 - number / 1000, created_at=at)
    CoreEvent.objects.create(tenant=agent.tenant, user=user, candidate=row, verb="proposed", after={"text": text})
for text in order["facts"]:
    builders.fact(user, text, tenant=agent.tenant, decision=builders.decision(user, school=agent.tenant))
if order["texts"] and order["facts"]:
    Candidate.objects.filter(user=user, text=order["texts"][0]).update(contradicts=Fact.objects.filter(user=user).first())
"""


class Site:
    """The running product, and what waits in it."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url, self.folder = url, folder

    def seed(self, texts: list[str], facts: tuple[str, ...] = (), user: str = "teacher") -> None:
        environment = {name: value for name, value in os.environ.items() if name not in OTHER_WORLDS}
        environment |= {
            "DATA_DIR": str(self.folder / "data"),
            "DJANGO_SETTINGS_MODULE": "memoryapp.settings",
            "SECRET_KEY": "only-for-tests",
        }
        order = json.dumps({"texts": texts, "facts": facts, "user": user})
        start = "import django; django.setup()\n"
        subprocess.run([sys.executable, "-c", start + SEED, order], cwd=ROOT, env=environment, check=True)


@pytest.fixture(scope="module")
def memory_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("memory")
    with product(folder) as url:
        yield Site(url, folder)


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page in a browser that complains of nothing."""
    complaints: list[str] = []
    page = context.new_page()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    yield page
    assert complaints == []


def opened(page: Page, site: Site, path: str = "/memory/") -> Page:
    log_in(page, site.url)
    page.goto(site.url + path)
    return page


def texts(number: int) -> list[str]:
    return [f"第{one}条：课堂练习第{one}种做法" for one in range(1, number + 1)]


def count(page: Page) -> Locator:
    return page.locator("#memory-badge")


def press_on_card(page: Page, key: str) -> None:
    """Presses a key on the card that has the focus; the focus goes on to another card."""
    card = page.evaluate("document.activeElement.dataset.candidate")
    assert card, "no card has the focus"
    page.keyboard.press(key)
    page.wait_for_function("was => (document.activeElement.dataset.candidate ?? was) !== was", arg=card, timeout=10_000)


def test_a_hundred_candidates_are_worked_off_by_keyboard(page: Page, memory_site: Site):
    memory_site.seed(texts(101))
    opened(page, memory_site)
    page.evaluate("window.mice = 0; for (const kind of ['mousedown', 'pointerdown']) addEventListener(kind, () => window.mice++, true)")
    page.keyboard.press("j")
    for number in range(100):
        press_on_card(page, "Enter" if number % 4 else "x")
    expect(count(page)).to_have_attribute("data-count", "1")
    expect(page.locator("#pending-list [data-candidate]")).to_have_count(1)
    expect(page.locator("#confirmed")).to_have_attribute("data-count", "30")
    assert page.evaluate("window.mice") == 0
    page.reload()
    expect(page.locator("#memory-shelves")).to_contain_text("不要记的 25")


def test_keys_reword_put_off_undo_and_help(page: Page, memory_site: Site):
    memory_site.seed(texts(4))
    opened(page, memory_site)
    page.keyboard.press("j")
    page.keyboard.press("e")
    box = page.locator("#pending textarea[name=text]")
    expect(box).to_be_focused()
    page.keyboard.press("Escape")
    expect(box).to_have_count(0)
    expect(page.locator("#pending-list [data-candidate]").first).to_be_focused()
    page.keyboard.press("e")
    expect(box).to_be_focused()
    box.fill("第一条改过了")
    page.keyboard.press("Enter")
    expect(page.locator("#confirmed")).to_contain_text("第一条改过了")
    expect(page.locator("#pending-list [data-candidate]").first).to_be_focused()
    press_on_card(page, "l")
    expect(page.locator("#pending-list [data-candidate]").last).to_have_attribute("data-later", "")
    press_on_card(page, "x")
    expect(count(page)).to_have_attribute("data-count", "2")
    page.keyboard.press("u")
    expect(count(page)).to_have_attribute("data-count", "3")
    expect(page.locator("#memory-notice")).to_contain_text("已撤销")
    page.keyboard.press("?")
    expect(page.locator("#memory-keys")).to_be_visible()


@pytest.mark.parametrize("order", ["early", "late"])
def test_enter_belongs_to_the_input_method_while_it_composes(page: Page, memory_site: Site, order: str):
    memory_site.seed(texts(2), facts=("我教高二数据结构",))
    opened(page, memory_site)
    for place, button in (("#pending", "#pending-list [data-action=edit]"), ("#confirmed", "#confirmed [data-action=edit]")):
        page.locator(button).last.click()
        box = page.locator(f"{place} textarea[name=text]")
        expect(box).to_be_focused()
        box.evaluate(COMPOSE, order)
        expect(box).to_have_value("测试")
        box.press("End")
        box.press("Shift+Enter")
        expect(box).to_have_value("测试\n")
        page.wait_for_timeout(100)
        expect(box).to_be_focused()
        box.fill(f"{place}测试")
        box.press("Enter")
        expect(box).to_have_count(0)
        expect(page.locator("#confirmed")).to_contain_text(f"{place}测试")


def test_contradiction_is_replaced_by_one_key(page: Page, memory_site: Site):
    memory_site.seed(["出卷时简答题多一些"], facts=("出卷时选择题多一些",))
    opened(page, memory_site)
    card = page.locator("#pending-list [data-candidate]").first
    expect(card.locator("del")).to_have_text("选择")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("#confirmed .memory-text")).to_have_text(["出卷时简答题多一些"])
    expect(page.locator("#memory-notice")).to_contain_text("已替换")


def test_badge_follows_on_every_page_and_the_drawer_works_beside_a_conversation(page: Page, context: BrowserContext, memory_site: Site):
    memory_site.seed(texts(3))
    opened(page, memory_site, "/")
    settings = context.new_page()
    settings.goto(f"{memory_site.url}/settings/")
    for one in (page, settings):
        expect(count(one)).to_have_attribute("data-count", "3")
    page.locator("#drawer > summary").click()
    page.locator("#memory-drawer [data-action=confirm]").first.click()
    expect(page.locator("#memory-drawer [data-candidate]")).to_have_count(2)
    for one in (page, settings):
        expect(count(one)).to_have_attribute("data-count", "2", timeout=5_000)
    page.keyboard.press("Escape")
    expect(page.locator("#memory-drawer")).to_be_hidden()


def test_what_was_decided_elsewhere_is_said(page: Page, context: BrowserContext, memory_site: Site):
    memory_site.seed(texts(2))
    opened(page, memory_site)
    other = context.new_page()
    other.goto(f"{memory_site.url}/memory/")
    other.locator("#pending-list [data-action=reject]").first.click()
    expect(count(other)).to_have_attribute("data-count", "1")
    expect(page.locator("#memory-news")).to_be_visible(timeout=5_000)
    page.locator("#pending-list [data-action=confirm]").first.click()
    expect(page.locator("#memory-notice")).to_contain_text("已在这里或另一个窗口被拒绝")


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: "-".join(map(str, look)))
def test_pages_are_accessible_and_fit(browser: Browser, memory_site: Site, look: tuple[int, str, str]):
    width, theme, language = look
    memory_site.seed(["出卷时简答题多一些", *texts(3)], facts=("出卷时选择题多一些", "Prefers short answers with one example each"))
    with browser.new_context(viewport={"width": width, "height": 800}, color_scheme=theme, locale=language) as context:
        page = opened(context.new_page(), memory_site)
        page.locator("#pending-list [data-action=edit]").last.click()
        page.locator("#pending textarea").wait_for()
        page.locator("#confirmed .fact-more summary").first.click()
        expect(page.locator("#confirmed .fact-more[open]")).to_contain_text("没有保留历史" if language == "zh-CN" else "No history is kept")
        for path in ("", "/memory/?list=archived", "/memory/?list=stopped", "/"):
            if path:
                page.goto(memory_site.url + path)
            if path == "/":
                page.locator("#drawer > summary").click()
                page.locator("#memory-drawer [data-candidate]").first.wait_for()
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, path
            found = Axe().run(page).response["violations"]
            assert [(path, one["id"], [node["target"] for node in one["nodes"]]) for one in found] == []


def test_panel_works_without_script(browser: Browser, memory_site: Site):
    memory_site.seed(texts(3))
    with browser.new_context(java_script_enabled=False, locale="en") as context:
        page = opened(context.new_page(), memory_site)
        page.locator("#pending-list [data-action=confirm]").first.click()
        expect(page.locator("#notices")).to_contain_text("Remembered.")
        page.locator("#pending-list [data-action=edit]").first.click()
        page.locator("textarea[name=text]").fill("改过的一条")
        page.locator("[data-action=confirm]").click()
        expect(page.locator("#confirmed")).to_contain_text("改过的一条")
        page.locator("#pending-list input[name=id]").first.check()
        page.locator("#bulk button[value=reject]").click()
        expect(page.locator("#pending-list [data-candidate]")).to_have_count(0)
        page.locator("[data-action=undo]").click()
        expect(page.locator("#pending-list [data-candidate]")).to_have_count(1)
