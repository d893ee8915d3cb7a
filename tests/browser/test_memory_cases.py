"""What waits is noticed and can be worked off, and what is known is learnt once: from outside, with a scripted model.

The cases PR-02 and PR-03 of the public reports.
"""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import log_in, product
from tests.browser.test_memory import press_on_card
from tests.conftest import mock_provider_class

pytestmark = [pytest.mark.browser, pytest.mark.mock]

SETTLED_MS = 30_000
# `wait_for_function` does not wait for promises: it takes one for a yes.
UNTIL_SETTLED = """async ([url, most]) => {
  for (const start = performance.now(); performance.now() - start < most; await new Promise((next) => setTimeout(next, 100)))
    if ((await (await fetch(url)).json()).backlog === 0) return true;
  return false;
}"""
WEEKS = 6
WAITING = [f"第{number}条：备课习惯第{number}种" for number in range(1, 26)]


def found(fact: str, quote: str) -> str:
    return json.dumps([{"fact": fact, "kind": "preference", "confidence": 0.9, "quote": quote, "reason": "长期习惯"}], ensure_ascii=False)


# What the teacher says decides what the extraction finds in it.
SCRIPT = [
    {"purpose": "extraction", "match": "写在最后一页", "reply": found("出卷时答案写在最后一页", "出卷时答案写在最后一页")},
    {"purpose": "extraction", "match": "甲表格", "reply": found("老师喜欢用表格", "我喜欢用表格")},
    {"purpose": "extraction", "match": "乙表格", "reply": found("老师喜欢用表格。", "我喜欢用表格")},
    {"purpose": "extraction", "match": "丙表格", "reply": found("  老师喜欢用表格 ", "我喜欢用表格")},
    {"purpose": "extraction", "match": "丁表格", "reply": found("老师喜欢用表格．", "我喜欢用表格")},
    {"purpose": "extraction", "match": "戊表格", "reply": found("用户偏好表格形式", "我偏好表格形式")},
    {"purpose": "extraction", "match": "", "reply": "NONE"},
    {"match": "", "reply": "好的。"},
]


@pytest.fixture(scope="module")
def model() -> Iterator[Any]:
    with mock_provider_class()(script=SCRIPT) as mock:
        yield mock


@pytest.fixture(scope="module")
def site(model: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("cases")
    with product(folder, OPENAI_BASE_URL=f"{model.url}/v1", OPENAI_MODEL="scripted", RUNS_PER_MINUTE="1000") as url:
        yield url


def say(page: Page, site: str, text: str) -> None:
    """One round in a new conversation."""
    page.goto(f"{site}/")
    page.locator(".sidebar-new").click()
    page.wait_for_url("**/chat/ag_*/")
    page.locator("#composer textarea[name=input]").fill(text)
    page.locator("#composer textarea[name=input]").press("Enter")
    expect(page.locator("article[data-run]").last).to_have_attribute("data-status", "completed", timeout=20_000)


def prompt(model: Any) -> str:
    """What the last answer was made from."""
    answers = [one["body"] for one in model.requests if {k.lower(): v for k, v in one["headers"].items()}.get("x-purpose") == "answer"]
    return "\n".join(message["content"] for message in answers[-1]["messages"])


def settled(page: Page, site: str) -> None:
    """Waits until the background has nothing to do."""
    assert page.evaluate(UNTIL_SETTLED, [f"{site}/readyz", SETTLED_MS]), "the background did not come to an end"


def file_of(texts: list[str]) -> dict[str, Any]:
    now = datetime.now(UTC)
    ages = [timedelta(weeks=WEEKS) * number / len(texts) for number in range(1, len(texts) + 1)]
    candidates = [
        {"text": text, "confidence": 0.9 - number / 100, "created_at": (now - age).isoformat()}
        for number, (text, age) in enumerate(zip(texts, ages, strict=True))
    ]
    content = json.dumps({"format": "core-memory", "version": 1, "candidates": candidates}, ensure_ascii=False)
    return {"name": "memory.json", "mimeType": "application/json", "buffer": content.encode()}


def shown(page: Page, words: str) -> int:
    return int(re.search(rf"{words} (\d+)", page.locator("#memory-shelves").inner_text())[1])


def test_waiting_candidates_are_noticed_and_can_be_worked_off(context: BrowserContext, site: str, model: Any):
    page, elsewhere = context.new_page(), context.new_page()
    log_in(page, site)
    page.goto(f"{site}/memory/")
    page.locator(".memory-add summary").last.click()
    page.locator("#import-file").set_input_files(file_of(WAITING))
    page.locator("[data-action=import]").click()
    elsewhere.goto(f"{site}/settings/")
    badge = elsewhere.locator("#memory-badge")
    expect(badge).to_have_attribute("data-count", "25")
    expect(badge).to_contain_text("6 周前")

    say(page, site, "出卷时答案写在最后一页")
    settled(page, site)
    expect(badge).to_have_attribute("data-count", "26", timeout=5_000)
    assert not any(text in prompt(model) for text in WAITING)

    page.goto(f"{site}/memory/")
    card = page.locator("#pending-list [data-candidate]").first
    expect(card).to_contain_text("把握 90%")
    learnt = page.locator("#pending-list [data-candidate]", has_text="出卷时答案写在最后一页")
    expect(learnt.locator("a", has_text="到会话中查看")).to_have_attribute("href", re.compile(r"^/chat/t/th_\w+/#run_\w+$"))
    page.keyboard.press("j")
    for key in ["Enter"] * 15 + ["x"] * 3:
        press_on_card(page, key)
    for number in (1, 2):
        page.keyboard.press("e")
        box = page.locator("#pending textarea[name=text]")
        expect(box).to_be_focused()
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type(f"改写后的第{number}句")
        page.keyboard.press("Enter")
        expect(box).to_have_count(0)
        expect(page.locator("#confirmed")).to_contain_text(f"改写后的第{number}句")
    expect(page.locator("#memory-badge")).to_have_attribute("data-count", "6")

    confirmed = page.locator("#confirmed .memory-text").all_inner_texts()
    waiting = page.locator("#pending-list .memory-text").all_inner_texts()
    say(page, site, "今天上什么课")
    sent = prompt(model)
    assert len(confirmed) == 17 and len(waiting) == 6
    assert [text for text in confirmed if text not in sent] == [] and [text for text in waiting if text in sent] == []
    expect(page.locator("[data-action=memories]").last).to_have_text("用了 17 条记忆")

    page.goto(f"{site}/memory/")
    page.locator("[popovertarget=user-menu]").click()
    page.locator("#user-menu form button").click()
    log_in(page, site)
    page.goto(f"{site}/memory/")
    expect(page.locator("#confirmed")).to_have_attribute("data-count", "17")
    expect(page.locator("#pending-head")).to_have_attribute("data-count", "6")
    assert shown(page, "不要记的") == 3


def test_same_thing_learnt_again_is_learnt_once(context: BrowserContext, site: str):
    page = context.new_page()
    log_in(page, site, "teacher2")

    def learn(*words: str) -> None:
        for word in words:
            say(page, site, f"{word}表格：{'我偏好表格形式' if word == '戊' else '我喜欢用表格'}")
            settled(page, site)
        page.goto(f"{site}/memory/")

    learn(*"甲乙丙丁戊")
    cards = page.locator("#pending-list [data-candidate]")
    expect(cards).to_have_count(2)
    first, paraphrase = (cards.filter(has_text=text) for text in ("出现 4 次", "我偏好表格形式"))
    expect(first.locator("h3")).to_have_text("老师喜欢用表格")
    expect(paraphrase.locator(".twins")).to_contain_text("老师喜欢用表格")

    first.locator("[data-action=confirm]").click()
    expect(page.locator("#confirmed .memory-text")).to_have_text(["老师喜欢用表格"])
    learn("甲")
    expect(page.locator("#confirmed .memory-text")).to_have_text(["老师喜欢用表格"])
    expect(cards).to_have_count(1)

    paraphrase.locator("[data-action=reject]").click()
    expect(cards).to_have_count(0)
    page.locator("#confirmed [data-action=delete]").click()
    expect(page.locator("#confirmed [data-fact]")).to_have_count(0)
    learn("戊", "甲", "戊", "甲")
    expect(cards).to_have_count(0)
    expect(page.locator("#confirmed [data-fact]")).to_have_count(0)

    page.goto(f"{site}/memory/?list=rejected")
    page.locator("[data-action=allow]").click()
    expect(page.locator(".shelf-row")).to_have_count(0)
    page.goto(f"{site}/memory/")
    expect(cards).to_have_count(1)
    page.goto(f"{site}/memory/?list=deleted")
    expect(page.locator(".shelf-row")).to_have_count(1)
