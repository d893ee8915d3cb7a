"""The question before text goes to another vendor, as people meet it: by keyboard, without script, in two tabs, on a phone."""

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

pytestmark = pytest.mark.browser

LOOKS = [(1280, "light", "zh-CN"), (1280, "dark", "en"), (360, "dark", "zh-CN"), (360, "light", "en")]
# In a process of its own, on the data of the running product: the school chooses an embedder elsewhere, and nobody has answered.
SEED = """
from django.contrib.auth.models import User
from chat.models import Agent, Consent, Provider, Tenant
Consent.objects.all().delete()
school = Agent.objects.for_user(User.objects.get(username="teacher")).first().tenant
service, _ = Provider.objects.get_or_create(
    tenant=school, name="远方向量服务", defaults={"kind": "openai", "base_url": "https://embed.example.com/v1", "is_local": False}
)
Tenant.objects.filter(pk=school.pk).update(embedder=service, embedding_model="bge-m3")
"""


class Site:
    """The running product, and what it asks."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url, self.folder = url, folder

    def ask_anew(self) -> None:
        given = {name: value for name, value in os.environ.items() if name not in OTHER_WORLDS}
        environment = given | {"DATA_DIR": str(self.folder / "data"), "SECRET_KEY": ""}
        subprocess.run([sys.executable, "manage.py", "shell", "-c", SEED], check=True, env=environment, cwd=ROOT)


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("consents")
    with product(folder) as url:
        yield Site(url, folder)


@pytest.fixture
def context(asking: Site, browser: Browser) -> Iterator[BrowserContext]:
    asking.ask_anew()
    context = browser.new_context(locale="zh-CN")
    log_in(context.new_page(), asking.url)
    yield context
    context.close()


def page_of(context: BrowserContext, asking: Site) -> Page:
    page = context.pages[0]
    page.goto(asking.url)
    return page


def card(page: Page) -> Locator:
    return page.locator("#consent-card form")


def tab_to(page: Page, wanted: Locator) -> None:
    for _ in range(60):
        page.keyboard.press("Tab")
        if wanted.evaluate("one => one === document.activeElement"):
            return
    raise AssertionError("the keyboard does not lead there")


def test_it_is_answered_by_keyboard_and_does_not_come_again(context, asking):
    page = page_of(context, asking)
    tab_to(page, card(page).locator("button[value=agree]"))
    page.keyboard.press("Enter")
    expect(card(page)).to_have_count(0)
    expect(page.locator("#consent-card [role=status]")).to_be_focused()
    page.reload()
    expect(page.locator("#composer")).to_be_visible()
    expect(card(page)).to_have_count(0)


def test_a_message_can_be_written_without_answering(context, asking):
    page = page_of(context, asking)
    expect(card(page)).to_be_visible()
    page.locator("#composer textarea").fill("出一道题")
    page.keyboard.press("Enter")
    expect(page.locator("#messages article[data-status=completed]").last).to_be_visible()


def test_the_other_tab_asks_no_more(context, asking):
    page = page_of(context, asking)
    other = context.new_page()
    other.goto(asking.url)
    expect(card(other)).to_be_visible()
    card(page).locator("button[value=decline]").click()
    expect(card(other)).to_have_count(0)


def test_what_was_agreed_to_is_withdrawn_in_the_settings(context, asking):
    page = page_of(context, asking)
    card(page).locator("button[value=agree]").click()
    expect(card(page)).to_have_count(0)
    page.goto(f"{asking.url}/settings/")
    said = page.locator("#consents .consent-said")
    expect(said).to_have_attribute("data-agreed", "yes")
    said.locator("button[value=decline]").click()
    expect(page.locator("#consents .consent-said")).to_have_attribute("data-agreed", "no")
    expect(page.locator("#consents [role=status]")).to_be_focused()


def test_it_is_answered_without_script(asking, browser):
    asking.ask_anew()
    context = browser.new_context(locale="zh-CN", java_script_enabled=False)
    page = context.new_page()
    log_in(page, asking.url)
    page.goto(asking.url)
    where = page.url
    card(page).locator("button[value=decline]").click()
    expect(card(page)).to_have_count(0)
    assert page.url == where
    page.goto(f"{asking.url}/settings/")
    page.locator("#consents button[value=agree]").click()
    expect(page.locator("#consents .consent-said")).to_have_attribute("data-agreed", "yes")
    context.close()


@pytest.mark.parametrize(("width", "scheme", "locale"), LOOKS)
def test_it_fits_and_can_be_used_by_everybody(asking, browser, width, scheme, locale):
    asking.ask_anew()
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme, locale=locale)
    page = context.new_page()
    log_in(page, asking.url)
    page.goto(asking.url)
    for path, shown in (("/", card(page)), ("/settings/", page.locator("#consents"))):
        page.goto(f"{asking.url}{path}")
        expect(shown).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        found = Axe().run(page).response["violations"]
        assert not found, json.dumps([(one["id"], [node["html"] for node in one["nodes"]]) for one in found], ensure_ascii=False)
        if folder := os.environ.get("SHOTS"):
            page.screenshot(path=f"{folder}/consent-{path.strip('/') or 'chat'}-{width}-{scheme}.png")
    context.close()
