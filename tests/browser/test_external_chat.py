"""A memory backend in the chat, as people meet it: asked first, told what it remembers, and an answer that went without."""

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
from tests.openviking_server.in_force import KEY_VARIABLE, configuration
from tests.openviking_server.server import Server

pytestmark = pytest.mark.browser

LOOKS = [(1280, "light", "zh-CN"), (1280, "dark", "en"), (360, "dark", "zh-CN"), (360, "light", "en")]
FORGET_ANSWERS = "from chat.models import Consent; Consent.objects.all().delete()"
LIKES = "我喜欢出简答题"


class Site:
    """The running product, with a memory server beside it."""

    def __init__(self, url: str, folder: Path, server: Server, variables: dict[str, str]) -> None:
        self.url, self.folder, self.server, self.variables = url, folder, server, variables

    def ask_anew(self) -> None:
        given = {name: value for name, value in os.environ.items() if name not in OTHER_WORLDS}
        environment = given | self.variables | {"DATA_DIR": str(self.folder / "data"), "SECRET_KEY": ""}
        subprocess.run([sys.executable, "manage.py", "shell", "-c", FORGET_ANSWERS], check=True, env=environment, cwd=ROOT)
        self.server.faults.clear()


@pytest.fixture(scope="module")
def remembering(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("external")
    with Server() as server:
        (folder / "memory.json").write_text(json.dumps(configuration(server)))
        variables = {
            "MEMORY_MANAGER": "openviking",
            "MEMORY_BACKEND_CONFIG": str(folder / "memory.json"),
            KEY_VARIABLE: server.key,
        }
        with product(folder, **variables) as url:
            yield Site(url, folder, server, variables)


@pytest.fixture
def context(remembering: Site, browser: Browser) -> Iterator[BrowserContext]:
    remembering.ask_anew()
    context = browser.new_context(locale="zh-CN")
    log_in(context.new_page(), remembering.url)
    yield context
    context.close()


def new_conversation(page: Page, site: Site) -> None:
    page.goto(site.url)
    agent = page.locator("#composer").get_attribute("action") or ""
    page.goto(f"{site.url}/chat/{agent.split('/')[2]}/")


def card(page: Page) -> Locator:
    return page.locator("#consent-card form[data-purpose=memory]")


def ask(page: Page, text: str) -> Locator:
    """Sends a message and gives its round when it is answered."""
    before = page.locator("#messages article").count()
    page.locator("#composer textarea").fill(text)
    page.keyboard.press("Enter")
    expect(page.locator("#messages article")).to_have_count(before + 1)
    last = page.locator("#messages article").last
    expect(last).to_have_attribute("data-status", "completed")
    return last


def recover(page: Page, site: Site) -> None:
    """Lets the backend answer again before it has failed so often that it is left alone, which would trouble other tests."""
    site.server.faults.clear()
    expect(ask(page, "再出一道").locator("[data-part=memory-missed]")).to_have_count(0)


def tab_to(page: Page, wanted: Locator) -> None:
    for _ in range(60):
        page.keyboard.press("Tab")
        if wanted.evaluate("one => one === document.activeElement"):
            return
    raise AssertionError("the keyboard does not lead there")


def wait_for_memory(page: Page, site: Site) -> None:
    """The worker sends what was said, and the server makes something of it."""
    for _ in range(150):
        if any(LIKES in str(one) for one in site.server.state.memories()):
            return
        page.wait_for_timeout(200)
    raise AssertionError("nothing was remembered")


def looks_well(page: Page, name: str) -> None:
    if folder := os.environ.get("SHOTS"):
        page.screenshot(path=f"{folder}/external-{name}.png")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    found = Axe().run(page).response["violations"]
    assert not found, json.dumps([(one["id"], [node["html"] for node in one["nodes"]]) for one in found], ensure_ascii=False)


def test_nothing_is_sent_before_the_teacher_has_agreed_and_nothing_after_a_refusal(context, remembering):
    page, seen = context.pages[0], len(remembering.server.seen)
    new_conversation(page, remembering)
    expect(card(page)).to_contain_text("OpenViking")
    round_ = ask(page, f"{LIKES}，出一道")
    expect(round_).to_contain_text("未离开本校")
    tab_to(page, card(page).locator("button[value=decline]"))
    page.keyboard.press("Enter")
    expect(card(page)).to_have_count(0)
    expect(page.locator("#consent-card [role=status]")).to_be_focused()
    expect(ask(page, "再出一道").locator("[data-part=memory-missed]")).to_have_count(0)
    page.wait_for_timeout(1_500)  # the worker has passed over both by then
    expect(page.locator("#consent-card [role=status]")).to_be_visible()
    asked = [one for one in remembering.server.seen[seen:] if one.path.startswith("/api/")]
    assert not asked


def test_the_later_answer_of_two_tabs_holds(context, remembering):
    first, second = context.pages[0], context.new_page()
    for tab in (first, second):
        new_conversation(tab, remembering)
        expect(card(tab)).to_be_visible()
    card(first).locator("button[value=agree]").click()
    expect(card(first)).to_have_count(0)
    card(second).locator("button[value=decline]").click()
    expect(card(second)).to_have_count(0)
    expect(ask(second, "出一道题")).to_contain_text("未离开本校")
    expect(ask(first, "出一道题")).to_contain_text("未离开本校")


def test_what_was_said_is_remembered_in_another_conversation_and_shown_in_the_ledger(context, remembering):
    page = context.pages[0]
    new_conversation(page, remembering)
    card(page).locator("button[value=agree]").click()
    expect(card(page)).to_have_count(0)
    expect(ask(page, f"{LIKES}。")).to_contain_text("所说的内容也会交给 OpenViking")
    wait_for_memory(page, remembering)
    new_conversation(page, remembering)
    expect(page.locator("#composer-privacy")).to_contain_text("OpenViking")
    round_ = ask(page, "出简答题，我喜欢的那种")
    round_.locator("[data-action=ledger]").click()
    segment = round_.locator("[data-segment=external]")
    expect(segment).to_contain_text("相关历史（来自记忆服务）")
    segment.locator("summary").click()
    expect(segment.locator("pre")).to_contain_text(LIKES)
    expect(segment).to_contain_text("ov_")
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 800})
        segment.locator(".sources").scroll_into_view_if_needed()
        looks_well(page, f"ledger-{width}")
    expect(round_.locator("[data-part=memory-missed]")).to_have_count(0)


def test_an_answer_without_memory_says_so_and_comes_all_the_same(context, remembering):
    page = context.pages[0]
    new_conversation(page, remembering)
    card(page).locator("button[value=agree]").click()
    expect(card(page)).to_have_count(0)
    remembering.server.faults.add("status", "search/find", status=500)
    round_ = ask(page, "出一道题")
    expect(round_.locator("[data-part=memory-missed]")).to_contain_text("这次没有用上记忆")
    page.reload()
    expect(page.locator("[data-part=memory-missed]")).to_have_count(1)
    recover(page, remembering)


def test_it_is_answered_and_seen_without_script(remembering, browser):
    remembering.ask_anew()
    context = browser.new_context(locale="zh-CN", java_script_enabled=False)
    page = context.new_page()
    log_in(page, remembering.url)
    new_conversation(page, remembering)
    where = page.url
    card(page).locator("button[value=agree]").click()
    expect(card(page)).to_have_count(0)
    assert page.url == where
    remembering.server.faults.add("status", "search/find", status=500)
    page.locator("#composer textarea").fill("出一道题")
    page.locator("#composer button[data-action=send]").click()
    for _ in range(50):
        if page.locator("#messages article[data-status=completed]").count():
            break
        page.wait_for_timeout(200)
        page.reload()
    expect(page.locator("[data-part=memory-missed]")).to_be_visible()
    remembering.server.faults.clear()
    page.goto(f"{remembering.url}/settings/")
    said = page.locator("#consents .consent-said[data-purpose=memory]")
    expect(said).to_have_attribute("data-agreed", "yes")
    said.locator("button[value=decline]").click()
    expect(page.locator("#consents .consent-said[data-purpose=memory]")).to_have_attribute("data-agreed", "no")
    context.close()


@pytest.mark.parametrize(("width", "scheme", "locale"), LOOKS)
def test_it_fits_and_can_be_used_by_everybody(remembering, browser, width, scheme, locale):
    remembering.ask_anew()
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme, locale=locale)
    page = context.new_page()
    log_in(page, remembering.url)
    new_conversation(page, remembering)
    expect(card(page)).to_be_visible()
    looks_well(page, f"card-{width}-{scheme}")
    card(page).locator("button[value=agree]").click()
    expect(card(page)).to_have_count(0)
    remembering.server.faults.add("status", "search/find", status=500)
    round_ = ask(page, "出一道题")
    expect(round_.locator("[data-part=memory-missed]")).to_be_visible()
    looks_well(page, f"missed-{width}-{scheme}")
    recover(page, remembering)
    page.goto(f"{remembering.url}/settings/")
    expect(page.locator("#consents .consent-said[data-purpose=memory]")).to_be_visible()
    looks_well(page, f"settings-{width}-{scheme}")
    context.close()
