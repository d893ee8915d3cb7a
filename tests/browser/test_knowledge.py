"""The knowledge base as people meet it: files by chooser and by drag, states that move on, a mark that leads to its passage."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from tests import files
from tests.browser.conftest import OTHER_WORLDS, ROOT, log_in, product

pytestmark = pytest.mark.browser

LOOKS = [(1280, "light", "zh-CN"), (1280, "dark", "en"), (360, "dark", "zh-CN"), (360, "light", "en")]
LECTURE = """第五章 卷积神经网络

感受野是指特征图上的一个点对应到输入图像上的区域大小。层数越深，感受野越大。

池化层对特征图做下采样，用来减少参数。
"""
DROP = """(zone, [name, text]) => {
  const transfer = new DataTransfer();
  transfer.items.add(new File([text], name));
  for (const type of ["dragenter", "dragover", "drop"])
    zone.dispatchEvent(new DragEvent(type, {dataTransfer: transfer, bubbles: true, cancelable: true}));
}"""
# Each state that a document can be in, of a teacher to whom nobody else uploads.
SEED = """
from datetime import timedelta
from django.contrib.auth.models import User
from django.utils import timezone
from chat.models import Agent, Passage
from tests import builders
user, keeper = User.objects.get(username="teacher2"), User.objects.get(username="admin")
school = builders.school_of(user)
agents = list(Agent.objects.for_user(user))
now = timezone.now()
made = builders.document(user, [f"第{n}段：" + "栈是后进先出的线性表。" * 6 for n in range(1, 48)], name="数据结构讲义.pdf", agents=agents,
                         version=2, replaces=builders.document(user, ["旧"], name="数据结构讲义（初稿）.pdf", is_current=False))
Passage.objects.filter(document=made).update(page=7, heading="第三章 栈与队列 > 3.1 栈")
for name, fields in {
    "高二（3）班月考成绩分析与讲评要点——信息技术学科组备课用.docx": {"state": "waiting"},
    "操作系统.pdf": {"state": "reading", "parts_done": 37, "parts_total": 200},
    "扫描的教材.pdf": {"state": "failed", "error_code": "scanned"},
    "慢.docx": {"state": "failed", "error_code": "too_slow"},
}.items():
    builders.document(user, name=name, agents=agents[:1], created_at=now - timedelta(days=1), **fields)
builders.document(None, ["第十周期中考试。"], tenant=school, uploaded_by=keeper, name="校历.docx", agents=agents)
thread = builders.thread(user, agents[0], title="栈的定义")
cited = [*made.passages.order_by("position").values_list("pk", flat=True)[:2], "psg_gone"]
builders.run(thread, "栈是什么", "后进先出 [1]，见 [2] 与 [3]。", citations=cited)
print(made.pk, made.passages.get(position=30).pk, thread.pk)
"""


class Site:
    """The running product; `document`, `passage` and `thread` are those of SEED."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        environment = {name: value for name, value in os.environ.items() if name not in OTHER_WORLDS}
        environment |= {
            "DATA_DIR": str(folder / "data"),
            "DJANGO_SETTINGS_MODULE": "memoryapp.settings",
            "SECRET_KEY": "only-for-tests",
        }
        start = "import django; django.setup()\n"
        done = subprocess.run(
            [sys.executable, "-c", start + SEED], cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True
        )
        self.document, self.passage, self.thread = done.stdout.split()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("knowledge")
    with product(folder) as url:
        yield Site(url, folder)


@pytest.fixture
def page(context: BrowserContext, site: Site) -> Iterator[Page]:
    """A teacher's page of the knowledge base, in a browser that complains of nothing."""
    complaints: list[str] = []
    page = context.new_page()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    log_in(page, site.url)
    page.goto(f"{site.url}/knowledge/")
    yield page
    assert complaints == []


def row(page: Page, name: str) -> Locator:
    return page.locator(".document", has=page.get_by_role("heading", name=name, exact=True))


def outcome(page: Page, name: str) -> Locator:
    return page.locator(".outcome", has=page.get_by_text(name, exact=True)).first


def upload(page: Page, *given: tuple[str, bytes]) -> None:
    page.locator("#upload-file").set_input_files([{"name": name, "mimeType": "", "buffer": data} for name, data in given])
    page.locator("[data-action=upload]").click()


def test_files_go_up_by_themselves_and_become_ready(page: Page):
    upload(page, ("栈与队列.txt", files.gbk_text()), ("成绩.xlsx", b"PK"), ("空的.md", b""), ("讲义.pdf", files.pdf_in_chinese()))
    expect(outcome(page, "成绩.xlsx")).to_contain_text("不支持这种格式")
    expect(outcome(page, "空的.md")).to_contain_text("文件是空的")
    for name in ("栈与队列.txt", "讲义.pdf"):
        expect(row(page, name)).to_have_attribute("data-state", "ready")
        expect(outcome(page, name)).to_contain_text("可以使用")
        expect(row(page, name)).to_contain_text("命题助手")
    expect(page.locator("#documents-said")).to_contain_text("可以使用")
    expect(page.locator("#documents")).not_to_have_attribute("data-going", "")


def test_dropped_file_goes_up_at_once_for_the_chosen_assistants(page: Page):
    page.get_by_role("checkbox", name="备课助手").check()
    zone = page.locator("[data-drop]")
    zone.evaluate(DROP, ["拖来的.txt", "光合作用把光能变成化学能。"])
    expect(outcome(page, "拖来的.txt")).to_contain_text(re.compile("已上传|可以使用"))
    expect(row(page, "拖来的.txt")).to_contain_text("备课助手")
    expect(zone).not_to_have_attribute("data-over", "")


def test_files_that_cannot_be_read_say_why_and_what_to_do(page: Page):
    upload(page, ("加密.pdf", files.encrypted_pdf()), ("程序.pdf", files.renamed_exe()), ("扫描.pdf", files.image_only_pdf()))
    expect(row(page, "加密.pdf")).to_contain_text("请另存一份不带密码的文件再上传")
    expect(row(page, "程序.pdf")).to_contain_text("文件内容与扩展名不符")
    expect(row(page, "扫描.pdf")).to_contain_text("OCR")
    row(page, "加密.pdf").get_by_role("link", name="换一个文件").click()
    page.locator("#new-file").set_input_files({"name": "不加密.txt", "mimeType": "", "buffer": "递归要有终止条件。".encode()})
    page.locator("[data-form=replace] button").click()
    expect(page.locator("#notices")).to_contain_text("正在读取这个文件")
    expect(page.locator(".note")).to_contain_text("第 1 版")


def test_file_over_the_limit_is_not_even_sent(page: Page):
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    upload(page, ("大.txt", b"x" * (21 * 1024 * 1024)))
    expect(outcome(page, "大.txt")).to_contain_text("20 MB")
    assert sent == []


def test_mark_in_an_answer_leads_to_its_passage_until_the_document_is_deleted(page: Page, site: Site):
    upload(page, ("第五章.txt", LECTURE.encode()))
    expect(row(page, "第五章.txt")).to_have_attribute("data-state", "ready")
    page.goto(site.url)
    page.get_by_role("link", name="新建会话").click()
    page.locator("#composer textarea[name=input]").fill("感受野是指什么？")
    page.keyboard.press("Enter")
    answer = page.locator("article[data-status=completed]")
    expect(answer.locator("[data-part=sources]")).to_contain_text("第五章.txt")
    expect(answer).to_contain_text("段资料")
    thread = page.url
    answer.locator("[data-action=sources]").click()
    expect(answer.locator("[data-panel]")).to_contain_text("第五章.txt")
    answer.locator("[data-part=output] a.cite").first.click()
    found = page.locator(".passage-found")
    expect(found).to_contain_text("感受野是指特征图上的一个点")
    expect(found).to_be_in_viewport()
    expect(found).to_be_focused()
    page.locator("[data-action=delete-document]").click()
    expect(page.locator("main")).to_contain_text("出处显示为“已删除”")
    page.locator("[data-action=delete-for-good]").click()
    expect(page.locator("#notices")).to_contain_text("已删除《第五章.txt》")
    page.goto(thread)
    expect(page.locator("[data-part=sources]")).to_contain_text("已删除")
    expect(page.locator("a.cite")).to_have_count(0)


def test_everything_can_be_done_by_keyboard(page: Page):
    page.locator("#upload-file").focus()
    with page.expect_file_chooser() as chosen:
        page.keyboard.press("Space")
    chosen.value.set_files({"name": "键盘.txt", "mimeType": "", "buffer": "等差数列的通项公式。".encode()})
    for _ in range(8):
        page.keyboard.press("Tab")
        if page.locator("[data-action=upload]").evaluate("button => button === document.activeElement"):
            break
    page.keyboard.press("Enter")
    expect(row(page, "键盘.txt")).to_have_attribute("data-state", "ready")
    button = row(page, "键盘.txt").locator("[data-action=document-menu]")
    button.focus()
    page.keyboard.press("Enter")
    menu = row(page, "键盘.txt").locator("[popover]")
    expect(menu).to_be_visible()
    page.keyboard.press("Escape")
    expect(menu).to_be_hidden()
    expect(button).to_be_focused()
    page.keyboard.press("Enter")
    for _ in range(5):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/delete/")
    page.locator("[data-action=delete-for-good]").press("Enter")
    expect(page.locator("#notices")).to_contain_text("键盘.txt")


def test_row_that_somebody_is_in_keeps_the_focus_while_its_state_moves_on(page: Page):
    upload(page, ("焦点.txt", "二叉树的遍历。".encode()))
    link = row(page, "焦点.txt").get_by_role("link", name="焦点.txt")
    link.focus()
    expect(row(page, "焦点.txt")).to_contain_text("可以使用")
    expect(link).to_be_focused()


def test_hidden_page_asks_for_nothing(browser: Browser, site: Site):
    with browser.new_context(locale="zh-CN") as context:
        page = context.new_page()
        log_in(page, site.url, "teacher2")
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url) if "/news/" in request.url else None)
        page.goto(f"{site.url}/knowledge/")
        with page.expect_response(lambda response: "/news/" in response.url) as answer:
            pass
        assert answer.value.status == 204
        page.evaluate(
            "Object.defineProperty(document, 'hidden', {value: true, configurable: true});"
            "document.dispatchEvent(new Event('visibilitychange'))"
        )
        page.wait_for_timeout(300)
        asked.clear()
        page.wait_for_timeout(4500)
        assert asked == []


def test_works_without_script(browser: Browser, site: Site):
    with browser.new_context(java_script_enabled=False, locale="en") as context:
        page = context.new_page()
        log_in(page, site.url)
        page.goto(f"{site.url}/knowledge/")
        upload(page, ("Plain.txt", b"A queue is first in, first out."), ("table.xlsx", b"PK"))
        expect(page.locator("#notices")).to_contain_text("1 file was uploaded")
        expect(page.locator("#notices")).to_contain_text("table.xlsx: Files of this kind cannot be read.")
        row(page, "Plain.txt").locator("[data-action=document-menu]").click()
        row(page, "Plain.txt").get_by_role("link", name="Choose assistants").click()
        page.locator("[data-form=agents] input").last.check()
        page.get_by_role("button", name="Save the choice").click()
        expect(page.locator("#notices")).to_contain_text("assistants use “Plain.txt”")
        with page.expect_download() as saved:
            page.locator("[data-action=download]").click()
        assert saved.value.suggested_filename == "Plain.txt"
        page.locator("[data-action=delete-document]").click()
        page.locator("[data-action=delete-for-good]").click()
        expect(page.locator("#notices")).to_contain_text("Deleted: “Plain.txt”")


def test_administrator_uploads_for_the_school_and_teachers_read(browser: Browser, site: Site, page: Page):
    with browser.new_context(locale="zh-CN") as context:
        keeper = context.new_page()
        log_in(keeper, site.url, "admin")
        keeper.goto(f"{site.url}/knowledge/")
        keeper.get_by_role("radio", name="给全校").check()
        upload(keeper, ("作息时间.md", "# 作息\n\n早读七点半开始。".encode()))
        expect(keeper.locator("#shelf-school")).to_contain_text("作息时间.md")
    page.reload()
    shared = row(page, "作息时间.md")
    expect(shared).to_contain_text("admin")
    shared.locator("[data-action=document-menu]").click()
    expect(shared.locator("[popover] a")).to_have_count(2)


@pytest.mark.parametrize(("width", "theme", "language"), LOOKS)
def test_pages_are_accessible_and_fit(browser: Browser, site: Site, width: int, theme: str, language: str):
    with browser.new_context(viewport={"width": width, "height": 800}, color_scheme=theme, locale=language) as context:
        page = context.new_page()
        log_in(page, site.url, "teacher2")
        addresses = ["/knowledge/", "/knowledge/?q=nothing", f"/knowledge/{site.document}/", f"/knowledge/{site.document}/delete/"]
        for address in (*addresses, f"/knowledge/p/{site.passage}/", f"/chat/t/{site.thread}/"):
            page.goto(site.url + address)
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, address
            found = Axe().run(page).response["violations"]
            assert [(address, one["id"], [node["target"] for node in one["nodes"]]) for one in found] == []
