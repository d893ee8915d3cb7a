"""The pictures of the README: the running product with the demo schools, in Chromium. `make screenshots`."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from tests.browser.conftest import FLAGS, chromium, log_in, product

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
RANKS = ROOT / os.environ.get("DATA_DIR", "data") / "tiktoken"
MAX_BYTES = 300_000
PAPER = "出一份数据结构试卷，只要两道简答题"
CHANGE = "简答题换两道"
LONG_PAPER = "出一份数据结构试卷，60 分钟，满分 100 分"
ABOUT_ME = "我教高二信息技术。我喜欢先讲例题再给练习。以后请把答案放在最后。"
LEDGER = "[data-segment=thread]"


def main() -> None:
    DOCS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, site_in(Path(folder)) as site, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS.split())
        with page_of(browser, site, width=1600, height=900, scale=0.8) as page:
            light(page)
            conversation = page.url
        with page_of(browser, site, width=1280, height=900, color_scheme="dark") as page:
            dark(page)
        with page_of(browser, site, width=360, height=740, scale=2, is_mobile=True, has_touch=True) as page:
            phone(page, conversation)
        with page_of(browser, site, width=1280, height=800) as page:
            memory(page)
        with page_of(browser, site, width=360, height=740, scale=2, is_mobile=True, locale="en", color_scheme="dark") as page:
            page.goto(f"{site}/memory/")
            shoot(page, "memory-phone")
        with page_of(browser, site, width=1280, height=1000, locale="en") as page:
            page.goto(f"{site}/settings/")
            shoot(page, "settings")
        browser.close()


@contextmanager
def site_in(folder: Path) -> Iterator[str]:
    """The product with its data in `folder`, counting tokens exactly where `make setup` has fetched the ranks."""
    if RANKS.is_dir():
        shutil.copytree(RANKS, folder / "data" / "tiktoken")
    with product(folder) as url:
        yield url


@contextmanager
def page_of(browser: Browser, site: str, *, width: int, height: int, scale: float = 1, **look: Any) -> Iterator[Page]:
    """The page of a teacher who has logged in. Nothing moves, so that no caret is in one picture and gone from the next."""
    context = browser.new_context(
        viewport={"width": width, "height": height},
        device_scale_factor=scale,
        reduced_motion="reduce",
        **({"locale": "zh-CN"} | look),
    )
    page = context.new_page()
    log_in(page, site)
    yield page
    context.close()


def light(page: Page) -> None:
    """Both messages, and what the model saw of the first when it answered the second."""
    ask(page, PAPER)
    second = ask(page, CHANGE)
    second.locator("[data-action=ledger]").click()
    second.locator(f"{LEDGER} summary").click()
    expect(second.locator(f"{LEDGER} .exact")).to_contain_text(PAPER)
    page.set_viewport_size({"width": 1600, "height": page.evaluate("document.documentElement.scrollHeight")})
    shoot(page, "chat-light")


def dark(page: Page) -> None:
    page.locator(".sidebar-new").click()
    page.wait_for_url("**/chat/ag_*/")
    ask(page, LONG_PAPER)
    page.evaluate("scrollTo(0, 0)")
    shoot(page, "chat-dark")


def phone(page: Page, conversation: str) -> None:
    page.goto(conversation)
    page.locator("article[data-run]").last.evaluate("round => round.scrollIntoView()")
    shoot(page, "chat-phone")


def memory(page: Page) -> None:
    """What waits after a teacher has told of themselves, and the one thing that they have confirmed."""
    page.locator(".sidebar-new").click()
    page.wait_for_url("**/chat/ag_*/")
    ask(page, ABOUT_ME)
    expect(page.locator("#memory-badge")).to_have_attribute("data-count", "3", timeout=20_000)
    page.goto(page.url.partition("/chat/")[0] + "/memory/")
    page.locator("#pending button[data-action=confirm]").first.click()
    expect(page.locator("#confirmed [data-fact]")).to_have_count(1)
    shoot(page, "memory")


def ask(page: Page, text: str) -> Locator:
    """Sends a message and returns its round when it is answered."""
    rounds = page.locator("article[data-run]").count()
    page.locator("#composer-input").fill(text)
    page.locator("#composer-input").press("Enter")
    article = page.locator("article[data-run]").nth(rounds)
    expect(article).to_have_attribute("data-status", "completed", timeout=60_000)
    return article


def shoot(page: Page, name: str) -> None:
    path = DOCS / f"{name}.png"
    page.mouse.move(0, 0)
    page.screenshot(path=path, animations="disabled", caret="hide")
    if path.stat().st_size > MAX_BYTES:
        raise SystemExit(f"{path.name} has {path.stat().st_size:,} bytes, more than {MAX_BYTES:,}: show less in it.")


if __name__ == "__main__":
    main()
