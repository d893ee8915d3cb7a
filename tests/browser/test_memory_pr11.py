"""Sensitive data about pupils is stopped before it is stored: what the teacher and the administrator see of it (PR-11)."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import log_in, product
from tests.browser.test_memory_cases import found, say, settled, shown
from tests.conftest import mock_provider_class
from tests.core_cases.test_pr11 import HARMLESS, PIECES, SENSITIVE

pytestmark = [pytest.mark.browser, pytest.mark.mock]

PROPOSED = [json.loads(found(text, text))[0] for text in (*SENSITIVE, *HARMLESS)]
SCRIPT = [
    {"purpose": "extraction", "match": "", "reply": json.dumps(PROPOSED, ensure_ascii=False)},
    {"match": "", "reply": "好的。"},
]


@pytest.fixture(scope="module")
def model() -> Iterator[Any]:
    with mock_provider_class()(script=SCRIPT) as mock:
        yield mock


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pr11")


@pytest.fixture(scope="module")
def site(model: Any, folder: Path) -> Iterator[str]:
    with product(folder, OPENAI_BASE_URL=f"{model.url}/v1", OPENAI_MODEL="scripted") as url:
        yield url


def opened(browser: Browser, site: str, name: str) -> Page:
    page = browser.new_context(viewport={"width": 1280, "height": 800}, locale="zh-CN").new_page()
    log_in(page, site, name)
    return page


def left(text: str) -> list[str]:
    return [piece for piece in PIECES if piece in text]


def text_of(page: Page) -> str:
    return page.locator("main").inner_text()


def test_nobody_meets_the_numbers_again_and_everybody_is_told_the_rule(browser: Browser, site: str, model: Any, folder: Path):
    page = opened(browser, site, "teacher")
    say(page, site, "；".join((*SENSITIVE, *HARMLESS)))
    settled(page, site)

    page.goto(f"{site}/memory/")
    expect(page.locator("#pending-list [data-candidate]")).to_have_count(len(HARMLESS))
    assert sorted(page.locator("#pending-list .memory-text").all_inner_texts()) == sorted(HARMLESS)
    with page.expect_download() as download:
        page.locator(".memory-add summary").last.click()
        page.locator("[data-action=export]").click()
    assert left(text_of(page) + download.value.path().read_text()) == []

    page.goto(f"{site}/memory/?list=stopped")
    rows = page.locator(".shelf-row")
    stopped = rows.count()
    assert stopped >= len(SENSITIVE)
    for rule in ("18 位身份证号", "15 位身份证号", "某人的分数", "某人的疾病", "手机号码", "“卡号”“账户”等字样旁的号码"):
        expect(rows.filter(has_text=rule).first).to_contain_text("█")
    assert left(text_of(page)) == []

    page.goto(f"{site}/memory/")
    page.locator(".memory-add summary").first.click()
    page.locator("#add-text").fill("记住身份证号11010119900307109X")
    page.locator("#add-text").press("Enter")
    expect(page.locator("#add-error")).to_contain_text("18 位身份证号")
    content = json.dumps({"format": "core-memory", "version": 1, "facts": [{"text": "家长手机13812345678"}]}).encode()
    page.goto(f"{site}/memory/")
    page.locator(".memory-add summary").last.click()
    page.locator("#import-file").set_input_files({"name": "m.json", "mimeType": "application/json", "buffer": content})
    page.locator("[data-action=import]").click()
    expect(page.locator("main")).to_contain_text("规则：手机号码")
    expect(page.locator("#confirmed [data-fact]")).to_have_count(0)
    total = shown(page, "已拦下")
    assert total >= stopped + 2

    counts = opened(browser, site, "admin")
    counts.goto(f"{site}/admin/")
    counts.locator("a[href$='/redlinerecord/counts/']").click()
    table = counts.get_by_role("table", name="次数")
    for rule in ("18 位身份证号", "手机号码"):
        expect(table).to_contain_text(rule)
    assert left(counts.locator("body").inner_text()) == []
    sums = table.locator("tbody td:nth-child(5)").all_inner_texts()
    assert sum(map(int, sums)) == total

    asked = [one["body"] for one in model.requests if {k.lower(): v for k, v in one["headers"].items()}.get("x-purpose") == "extraction"]
    assert asked and all("不得记录" in body["messages"][0]["content"] for body in asked)
    assert left((folder / "log").read_text()) == []
