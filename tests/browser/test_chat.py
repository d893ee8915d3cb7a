"""The conversation in a real browser, with a scripted model: streams, tabs, reloads, input methods, formulas, failures."""

import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from chat.demo_assistants import ASSISTANTS
from tests.browser.conftest import PASSWORD, log_in, product
from tests.conftest import mock_provider_class

pytestmark = [pytest.mark.browser, pytest.mark.mock]

COUNTED = "".join(f"【{number:03}】" for number in range(1, 201))
FORMULAS = (
    "解：设 $x_1$ 与 \\(\\frac{a}{b}\\) 已知。价格是 $5 和 $6。\n\n- 首项 $a_1 = \\sqrt{2}$\n- 公比 \\(q\\)\n\n"
    "$$\\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix}$$\n\n| 量 | 值 |\n|---|---|\n| 分数 | $\\frac{1}{2}$ |\n\n"
    "\\[\\mathrm{2H_2 + O_2 = 2H_2O}\\]\n\n```sh\necho $HOME\n```\n\n完。"
)
SCRIPT = [
    {"match": "数到二百", "reply": COUNTED, "options": {"delay": 10}},
    {"match": "写公式", "reply": FORMULAS, "options": {"delay": 15}},
    {"match": "断在中间", "reply": "一二三四五六七八九十", "options": {"fault": "drop", "at": 5}},
    {"match": "", "reply": "好的。"},
]
# What an input method does when Enter confirms a word; "late" browsers end the composition before they report the key.
COMPOSE = """(box, order) => {
  const key = (type, more) => box.dispatchEvent(new KeyboardEvent(type, {bubbles: true, cancelable: true, key: "Enter", ...more}));
  const composition = (type) => box.dispatchEvent(new CompositionEvent(type, {bubbles: true, data: "测试"}));
  box.focus();
  composition("compositionstart");
  box.value = "测试";
  box.dispatchEvent(new InputEvent("input", {bubbles: true, isComposing: true}));
  if (order === "early") key("keydown", {keyCode: 229, isComposing: true});
  composition("compositionend");
  if (order === "late") key("keydown", {keyCode: 229});
  key("keyup", {keyCode: 13});
}"""


@pytest.fixture(scope="module")
def model() -> Iterator[Any]:
    with mock_provider_class()(script=SCRIPT) as mock:
        yield mock


@pytest.fixture(scope="module")
def chat_site(model: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("chat")
    with product(folder, OPENAI_BASE_URL=f"{model.url}/v1", OPENAI_MODEL="scripted", RUNS_PER_MINUTE="1000") as url:
        yield url


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(
        viewport={"width": 1280, "height": 800}, locale="zh-CN", permissions=["clipboard-read", "clipboard-write"]
    )
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext, chat_site: str) -> Iterator[Page]:
    """A teacher's page with a new conversation, in a browser that complains of nothing."""
    complaints: list[str] = []
    page = context.new_page()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if "Security Policy" in message.text else None)
    log_in(page, chat_site)
    page.locator(".sidebar-new").click()
    page.wait_for_url("**/chat/ag_*/")
    yield page
    assert complaints == []


def box(page: Page) -> Locator:
    return page.locator("#composer textarea[name=input]")


def say(page: Page, text: str) -> Locator:
    """Sends a message with Enter and returns its round."""
    rounds = page.locator("article[data-run]").count()
    box(page).fill(text)
    box(page).press("Enter")
    article = page.locator("article[data-run]").nth(rounds)
    article.wait_for()
    return article


def ended(page: Page, status: str = "completed") -> Locator:
    article = page.locator("article[data-run]").last
    expect(article).to_have_attribute("data-status", status, timeout=20_000)
    return article


def asked(model: Any, question: str) -> list[dict[str, Any]]:
    """The messages of the newest call that asks the question; calls of the worker come in between."""
    calls = [call["messages"] for call in model.chats]
    return next(messages for messages in reversed(calls) if messages[-1]["content"].endswith(question))


def words(page: Page) -> str:
    return page.locator("article[data-run]").last.locator("[data-part=output]").inner_text()


def counted(page: Page) -> list[str]:
    return re.findall(r"【\d{3}】", words(page))


def until(is_so: Callable[[], bool], seconds: float = 10) -> bool:
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def test_second_message_knows_the_first(page: Page, model: Any):
    say(page, "出一份数据结构试卷")
    ended(page)
    expect(box(page)).to_be_focused()
    say(page, "简答题换两道")
    ended(page)
    prompt = asked(model, "简答题换两道")[-1]["content"]
    assert "‹用户› 出一份数据结构试卷" in prompt and prompt.endswith("简答题换两道")
    expect(page.locator("#threads a[data-thread]").first).to_have_text("出一份数据结构试卷")


def test_reload_and_second_tab_in_mid_answer_lose_and_repeat_nothing(page: Page, context: BrowserContext):
    say(page, "数到二百")
    assert until(lambda: len(counted(page)) >= 40)
    page.reload()
    assert until(lambda: len(counted(page)) >= 80)
    seen = counted(page)
    assert seen == [f"【{number:03}】" for number in range(1, len(seen) + 1)]
    second = context.new_page()
    second.goto(page.url)
    for one in (page, second):
        ended(one)
        assert words(one).strip() == COUNTED
    second.reload()
    assert words(second).strip() == COUNTED


def test_stop_in_the_second_tab_stops_both_and_closes_the_connection(page: Page, context: BrowserContext, model: Any):
    say(page, "数到二百")
    second = context.new_page()
    second.goto(page.url)
    assert until(lambda: len(counted(second)) >= 30)
    second.locator("#composer [data-action=stop]").click()
    for one in (page, second):
        expect(ended(one, "cancelled").locator("[data-part=status]")).to_have_text("已停止")
    # The worker asks the same server in the background, so its latest request need not be the one that was stopped.
    asked = [one for one in model.requests if {k.lower(): v for k, v in one["headers"].items()}.get("x-purpose") == "answer"]
    assert until(lambda: asked[-1]["outcome"] == "client_closed", 2)
    assert 30 <= len(counted(page)) < 200 and counted(page) == counted(second)


def test_coming_back_to_a_thread_in_mid_answer_goes_on(page: Page):
    say(page, "数到二百")
    page.locator(".sidebar-new").click()
    page.wait_for_url("**/chat/ag_*/")
    page.go_back()
    ended(page)
    assert words(page).strip() == COUNTED


@pytest.mark.parametrize("order", ["early", "late"])
def test_enter_belongs_to_the_input_method_while_it_composes(page: Page, order: str):
    box(page).evaluate(COMPOSE, order)
    assert "/chat/ag_" in page.url and box(page).input_value() == "测试"
    box(page).press("Shift+Enter")
    assert box(page).input_value() == "测试\n"
    box(page).press("Enter")
    page.wait_for_url("**/chat/t/**")
    ended(page)
    assert page.locator("article[data-run]").count() == 1

    page.locator("[popovertarget=thread-menu]").click()
    title = page.locator("#rename-title")
    title.evaluate(COMPOSE, order)
    expect(title).to_be_visible()
    title.press("Enter")
    expect(title).to_be_hidden()
    expect(page.locator("#thread-title")).to_have_text("测试")


def test_draft_survives_a_reload_and_goes_when_it_was_sent(page: Page):
    box(page).fill("写到一半的话")
    page.reload()
    expect(box(page)).to_have_value("写到一半的话")
    box(page).press("Enter")
    page.wait_for_url("**/chat/t/**")
    ended(page)
    expect(box(page)).to_have_value("")
    page.locator(".sidebar-new").click()
    page.wait_for_url("**/chat/ag_*/")
    expect(box(page)).to_have_value("")


def test_message_waits_in_the_box_while_an_answer_is_written(page: Page):
    say(page, "数到二百")
    box(page).fill("下一个问题")
    box(page).press("Enter")
    expect(page.locator("#composer-note")).to_be_visible()
    assert page.locator("article[data-run]").count() == 1 and box(page).input_value() == "下一个问题"
    page.locator("#composer [data-action=stop]").click()
    ended(page, "cancelled")


def test_formulas_appear_finished(page: Page):
    article = say(page, "写公式")
    read = """(article) => {
      const copy = article.querySelector("[data-part=output]").cloneNode(true);
      for (const one of copy.querySelectorAll("math, code")) one.remove();
      return copy.textContent;
    }"""
    while article.get_attribute("data-status") != "completed":
        plain = article.evaluate(read).replace("$5", "").replace("$6", "")
        plain = re.sub(r"```.*", "", plain, flags=re.DOTALL)
        assert "\\" not in plain and "$" not in plain, plain
    article = ended(page)
    assert article.locator("math").count() == 7
    expect(article.locator(".code code")).to_have_text("echo $HOME\n")
    assert "价格是 $5 和 $6" in words(page)
    shown = words(page)
    article.locator("[data-action=copy-answer]").click()
    expect(article.locator("[data-action=copy-answer]")).to_have_text("已复制")
    assert page.evaluate("navigator.clipboard.readText()") == FORMULAS
    page.reload()
    assert words(page) == shown


def test_failed_round_says_so_in_words_and_can_be_tried_again(page: Page):
    say(page, "断在中间")
    article = ended(page, "failed")
    expect(article.locator(".trouble")).to_contain_text("问题和已收到的部分都保留了")
    assert words(page).strip().startswith("一二")
    article.locator("[data-action=retry]").click()
    expect(page.locator("article[data-run]")).to_have_count(1)
    expect(page.locator("[data-action=tries]")).to_be_visible(timeout=15_000)
    page.locator("[data-action=tries]").click()
    expect(page.locator("[data-try]")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator("[data-try]")).to_have_count(0)


def test_what_the_model_saw_opens_in_place_and_is_accessible(page: Page):
    say(page, "出一份试卷")
    article = ended(page)
    article.locator("[data-action=ledger]").click()
    question = article.locator("[data-segment=question] details")
    question.locator("summary").click()
    expect(question.locator("pre")).to_contain_text("出一份试卷")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found = Axe().run(page).response["violations"]
        assert [(one["id"], [node["target"] for node in one["nodes"]]) for one in found] == []


def test_phone_shows_the_conversation_without_sideways_scrolling(page: Page):
    page.set_viewport_size({"width": 360, "height": 740})
    say(page, "写公式")
    ended(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.locator(".sidebar-toggle").click()
    expect(page.locator("#threads a[data-thread]").first).to_be_visible()


def test_message_goes_out_by_form_when_there_is_no_socket(page: Page):
    say(page, "出一份试卷")
    ended(page)
    page.route_web_socket("**/ws/**", lambda socket: socket.close())
    page.reload()
    box(page).fill("简答题换两道")
    box(page).press("Enter")
    expect(page.locator("article[data-run]")).to_have_count(2)
    expect(box(page)).to_have_value("")


def test_mode_is_sent_and_kept(page: Page, model: Any):
    option = page.locator("#composer-mode option").nth(1)
    page.locator("#composer-mode").select_option(option.get_attribute("value"))
    say(page, "出一份试卷")
    ended(page)
    prompts = {mode.prompt for assistant in ASSISTANTS for mode in assistant.modes}
    assert any(prompt in asked(model, "出一份试卷")[0]["content"] for prompt in prompts)
    page.reload()
    assert page.locator("#composer-mode").input_value() != ""
    page.locator("#composer-mode").select_option("")
    say(page, "再出一份")
    ended(page)
    assert not any(prompt in asked(model, "再出一份")[0]["content"] for prompt in prompts)


def test_archive_puts_away_and_brings_back_and_the_page_stays_whole(page: Page):
    say(page, "出一份试卷")
    ended(page)
    page.locator("[popovertarget=thread-menu]").click()
    page.locator("[data-action=archive]").click()
    expect(page.locator(".message")).to_be_visible()
    expect(page.locator(".sidebar-foot")).to_be_in_viewport(ratio=1)
    page.locator('.sidebar-foot a[href$="/archived/"]').click()
    page.locator(".archived-thread button").first.click()
    expect(page.locator(".archived-thread a").first).to_be_focused()
    expect(page.locator(".archived-thread").first).to_contain_text("已移回列表")


def test_after_the_log_out_in_another_tab_nothing_is_sent_and_the_text_is_kept(page: Page, context: BrowserContext, chat_site: str):
    say(page, "出一份试卷")
    ended(page)
    expect(page.locator("html[data-live=yes]")).to_have_count(1)
    other = context.new_page()
    other.goto(f"{chat_site}/settings/")
    other.locator("[popovertarget=user-menu]").click()
    other.locator("#user-menu form button").click()
    other.wait_for_url("**/login/**")
    other.close()
    box(page).fill("简答题换两道")
    box(page).press("Enter")
    page.wait_for_url("**/login/?next=/chat/t/**")
    page.locator("#id_username").fill("teacher")
    page.locator("#id_password").fill(PASSWORD)
    page.locator("main form.card button").click()
    expect(box(page)).to_have_value("简答题换两道")
    expect(page.locator("article[data-run]")).to_have_count(1)


def test_first_message_after_the_session_ended_is_in_the_box_after_the_log_in(page: Page, context: BrowserContext):
    context.clear_cookies(name="sessionid")
    box(page).fill("出一份试卷")
    box(page).press("Enter")
    page.wait_for_url("**/login/?next=/chat/ag_*/")
    page.locator("#id_username").fill("teacher")
    page.locator("#id_password").fill(PASSWORD)
    page.locator("main form.card button").click()
    expect(box(page)).to_have_value("出一份试卷")
    expect(page.locator("article[data-run]")).to_have_count(0)


def test_conversation_works_without_script(browser: Browser, chat_site: str):
    context = browser.new_context(java_script_enabled=False, locale="zh-CN")
    page = context.new_page()
    log_in(page, chat_site, "teacher2")
    page.locator(".sidebar-new").click()
    box(page).fill("出一份试卷")
    page.locator("#composer [data-action=send]").click()
    page.wait_for_url("**/chat/t/**")

    def is_done() -> bool:
        page.reload()
        return page.locator("article[data-status=completed]").count() == 1

    assert until(is_done)
    assert words(page).strip() == "好的。"
    page.locator("[data-action=ledger]").click()
    expect(page.locator("[data-segment=question]")).to_be_visible()
    context.close()
