"""What a memory backend outside remembers, as people meet it: by keyboard, without script, on a phone, while it is slow and away."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import OTHER_WORLDS, ROOT, log_in, product
from tests.openviking_server.in_force import KEY_VARIABLE, configuration
from tests.openviking_server.server import Server

pytestmark = pytest.mark.browser

MEMORY, BACKEND, FORGET = "/memory/", "/memory/backend/", "/memory/forget/"
LOOKS = [(1280, "light", "zh-CN"), (1280, "dark", "en"), (360, "dark", "zh-CN"), (360, "light", "en")]
ITEM, FOUND = "#backend [data-item]", "#backend-found"
LISTS, SLOW = "fs/tree", 4
# What was said, of a teacher who has agreed; it runs in a process of its own, on the data of the running product.
SEED = """
import json, sys
from django.contrib.auth.models import User
from django.utils import timezone
from chat.memory.external import permission
from chat.models import Agent, Owner, RemoteScope, Work
from tests import builders
order = json.loads(sys.argv[-1])
user = User.objects.get(username=order["user"])
agent = Agent.objects.for_user(user).first()
permission.answer(Owner(agent.tenant_id, user.pk, agent.pk), "openviking", is_agreed=order.get("agrees", True))
for text in order.get("facts", []):
    builders.fact(user, text, tenant=agent.tenant)
if order.get("said"):
    thread = builders.thread(user, agent, title="备课")
    for text in order["said"]:
        builders.run(thread, text, "好的。", backend="openviking", created_at=timezone.now(), finished_at=timezone.now())
    Work.objects.mark("thread", thread.pk)
"""


class Site:
    """The running product, and the memory server that it talks to."""

    def __init__(self, url: str, folder: Path, server: Server, variables: dict[str, str]) -> None:
        self.url, self.folder, self.server, self.variables = url, folder, server, variables

    def seed(self, user: str = "teacher", **order: Any) -> None:
        """What the teacher `said`, and confirmed `facts`."""
        environment = {name: value for name, value in os.environ.items() if name not in OTHER_WORLDS} | self.variables
        environment |= {
            "DATA_DIR": str(self.folder / "data"),
            "DJANGO_SETTINGS_MODULE": "memoryapp.settings",
            "SECRET_KEY": "only-for-tests",
        }
        command = [sys.executable, "-c", "import django; django.setup()\n" + SEED, json.dumps(order | {"user": user})]
        subprocess.run(command, cwd=ROOT, env=environment, check=True)

    def remembers(self, *texts: str, user: str = "teacher") -> None:
        """Until the server has made memories of the sentences that the teacher said."""
        self.seed(user, said=texts)
        wait_until(lambda: all(self.knows(text) for text in texts))

    def knows(self, text: str) -> bool:
        return any(text in one for one in self.server.state.memories())


def wait_until(is_so: Callable[[], bool], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.1)


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
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


@pytest.fixture(autouse=True)
def well(outside: Site) -> Iterator[None]:
    yield
    outside.server.faults.clear()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page in a browser that complains of nothing."""
    complaints: list[str] = []
    with browser.new_context(viewport={"width": 1280, "height": 800}, locale="zh-CN") as context:
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        yield page
    assert complaints == []


def opened(page: Page, site: Site, path: str = MEMORY, user: str = "teacher") -> Page:
    log_in(page, site.url, user)
    page.goto(site.url + path)
    return page


def shown(page: Page, name: str) -> None:
    """A picture, where somebody wants to look (SHOTS is a folder)."""
    if os.environ.get("SHOTS"):
        page.screenshot(path=f"{os.environ['SHOTS']}/external-{name}.png", full_page=True)


def test_what_is_said_is_remembered_shown_and_searched_by_keyboard(page: Page, outside: Site):
    opened(page, outside, "/")
    page.locator("#consent-card button[value=agree]").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#consent-card")).to_contain_text("已同意")
    page.locator("#composer-input").fill("我偏好简答题多一些。我习惯把答案放在最后。")
    page.keyboard.press("Enter")
    expect(page.locator("article[data-status=completed]")).to_have_count(1, timeout=20_000)
    wait_until(lambda: len(outside.server.state.memories()) == 2)
    page.goto(outside.url + MEMORY)
    expect(page.locator(ITEM)).to_have_count(2)
    expect(page.locator("#backend")).to_contain_text("不经你确认就会用在回答里。")
    expect(page.locator(ITEM).first).to_contain_text("偏好与习惯")
    expect(page.locator(ITEM).first).to_contain_text("的会话")
    expect(page.locator("#backend")).not_to_contain_text("viking://")
    page.locator("#backend input[name=q]").focus()
    page.keyboard.type("我偏好简答题多一些")
    page.keyboard.press("Enter")
    expect(page.locator(ITEM).first).to_contain_text("简答题多一些")
    expect(page.locator("#backend input[name=q]")).to_be_focused()
    expect(page.locator("#backend button:not([data-action=search-backend])")).to_have_count(0)


def test_a_slow_backend_delays_nothing_and_one_that_is_away_is_said(page: Page, outside: Site):
    outside.remembers("我习惯先讲例题")
    outside.server.faults.add("delay", LISTS, seconds=SLOW)
    log_in(page, outside.url)
    started = time.monotonic()
    page.goto(outside.url + MEMORY, wait_until="domcontentloaded")
    expect(page.locator("#confirmed")).to_be_visible()
    assert time.monotonic() - started < SLOW
    expect(page.locator(FOUND)).to_have_attribute("aria-busy", "true")
    expect(page.locator(ITEM).first).to_be_visible()
    outside.server.faults.clear()
    outside.server.faults.add("status", LISTS, status=503)
    page.goto(outside.url + MEMORY)
    expect(page.locator(FOUND)).to_contain_text("刚才没有回应")
    shown(page, "trouble")
    outside.server.faults.clear()
    page.locator(f"{FOUND} [data-action=again]").focus()
    page.keyboard.press("Enter")
    expect(page.locator(ITEM).first).to_be_visible()


def test_a_round_that_was_not_captured_leads_to_it(page: Page, outside: Site):
    outside.server.faults.add("task", "commit")
    outside.seed(said=["我偏好小组讨论"])
    opened(page, outside)
    gap = page.locator("#backend-gaps [data-gap]")
    for _ in range(60):
        if gap.count():
            break
        page.wait_for_timeout(500)
        page.reload()
    expect(page.locator("#backend-gaps")).to_contain_text("以下轮次没有记下")
    shown(page, "gap")
    run_id = gap.first.get_attribute("data-gap")
    gap.first.locator("a").click()
    expect(page.locator(f"article[data-run={run_id}]")).to_contain_text("我偏好小组讨论")
    page.goto(outside.url + MEMORY)
    page.locator("#backend-gaps [data-action=put-away]").click()
    expect(page.locator("#backend-gaps")).to_be_hidden()
    page.reload()
    expect(page.locator("#backend-gaps")).to_be_hidden()


def test_everything_is_forgotten_by_keyboard_after_a_second_yes(page: Page, outside: Site):
    outside.remembers("我喜欢红色粉笔", user="teacher2")
    outside.seed("teacher2", facts=["教高二"])
    outside.remembers("我喜欢蓝色粉笔")
    opened(page, outside, user="teacher2")
    expect(page.locator("[data-fact]")).to_have_count(1)
    page.locator("#forget [data-action=forget]").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#forget [data-action=keep-everything]")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#forget [data-action=forget]")).to_be_visible()
    assert outside.knows("我喜欢红色粉笔")
    page.locator("#forget [data-action=forget]").click()
    page.locator("#forget [data-action=forget-everything]").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#forget-title")).to_be_focused()
    expect(page.locator("#forget[data-state=done]")).to_be_visible(timeout=60_000)
    expect(page.locator("#forget")).to_contain_text("已经全部忘记")
    shown(page, "forgotten")
    assert outside.knows("我喜欢蓝色粉笔") and not outside.knows("我喜欢红色粉笔")
    page.locator("#forget a").click()
    expect(page.locator("[data-fact]")).to_have_count(0)
    expect(page.locator(FOUND)).to_contain_text("还没有记住")


def test_a_second_tab_may_ask_to_forget_too_and_shows_nothing_that_is_gone(page: Page, outside: Site):
    outside.remembers("我喜欢绿色粉笔", user="teacher2")
    opened(page, outside, user="teacher2")
    other = page.context.new_page()
    other.goto(outside.url + MEMORY)
    for tab in (page, other):
        expect(tab.locator(FOUND)).to_contain_text("绿色粉笔")
        tab.locator("#forget [data-action=forget]").click()
        expect(tab.locator("#forget [data-action=keep-everything]")).to_be_focused()
    page.locator("#forget [data-action=forget-everything]").dblclick()
    other.locator("#forget [data-action=forget-everything]").click()
    for tab in (page, other):
        expect(tab.locator("#forget[data-state=done]")).to_be_visible(timeout=60_000)
    assert not outside.knows("我喜欢绿色粉笔")
    other.goto(outside.url + MEMORY)
    expect(other.locator(FOUND)).to_contain_text("还没有记住")


def test_it_works_without_script(browser: Browser, outside: Site):
    outside.remembers("我喜欢绿色粉笔", user="teacher2")
    with browser.new_context(java_script_enabled=False, locale="en") as context:
        page = opened(context.new_page(), outside, user="teacher2")
        page.locator(f"{FOUND} a").click()
        expect(page.locator(ITEM)).to_contain_text(["我喜欢绿色粉笔"])
        page.locator("#backend input[name=q]").fill("完全无关的量子色动力学")
        page.locator("#backend [data-action=search-backend]").click()
        expect(page.locator(FOUND)).to_contain_text("Nothing that is remembered fits.")
        page.goto(outside.url + MEMORY)
        page.locator("#forget [data-action=forget]").click()
        expect(page.locator("#forget")).to_contain_text("This cannot be undone.")
        page.locator("#forget [data-action=forget-everything]").click()
        expect(page.locator("#notices")).to_contain_text("Everything is being forgotten.")
        wait_until(lambda: not outside.knows("我喜欢绿色粉笔"))


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: "-".join(map(str, look)))
def test_pages_are_accessible_and_fit(browser: Browser, outside: Site, look: tuple[int, str, str]):
    width, theme, language = look
    long = "我喜欢 " + "Prefers short answers with one example each and the source of every number that is given in them, " * 8
    outside.remembers("我习惯用红笔批改", long.strip())
    with browser.new_context(viewport={"width": width, "height": 800}, color_scheme=theme, locale=language) as context:
        page = opened(context.new_page(), outside)
        page.locator(ITEM).first.wait_for()
        page.locator(".backend-more summary").first.click()
        page.locator("#forget [data-action=forget]").click()
        page.locator("#forget-words").wait_for()
        check(page, MEMORY)
        shown(page, f"memory-{width}-{theme}-{language}")
        outside.server.faults.add("status", LISTS, status=503)
        page.goto(outside.url + BACKEND)
        page.locator(".backend-trouble").wait_for()
        check(page, BACKEND)
        shown(page, f"page-{width}-{theme}-{language}")
        page.goto(outside.url + FORGET)
        check(page, FORGET)


def check(page: Page, place: str) -> None:
    """Nothing sticks out, and axe finds nothing."""
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, place
    found = Axe().run(page).response["violations"]
    assert [(place, one["id"], [node["target"] for node in one["nodes"]]) for one in found] == []
