"""Keys and clicks that come faster than the answers: none is lost, and none meets another card than the one that has the focus."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.browser.conftest import product
from tests.browser.test_memory import Site, count, opened, texts

pytestmark = pytest.mark.browser

# A key in the very moment in which an answer is put in its place.
PRESS_ON_SWAP = """key => new MutationObserver((changes, observer) => {
  observer.disconnect();
  document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
}).observe(document.querySelector(".memory-live"), {childList: true, subtree: true})"""


class Line:
    """The way to the panel's addresses: held, requests wait in the browser until they are let go or cut."""

    def __init__(self, page: Page) -> None:
        self.waiting: list[Route] = []
        self.is_held = False
        self.is_first_cut = False
        page.route("**/memory/**", self._pass)

    def _pass(self, route: Route) -> None:
        if self.is_first_cut:
            self.is_first_cut = False
            route.abort()
        elif self.is_held:
            self.waiting.append(route)
        else:
            route.continue_()

    def hold(self) -> None:
        self.is_held = True

    def let_go(self) -> None:
        self.is_held = False
        while self.waiting:
            self.waiting.pop(0).continue_()

    def cut(self) -> None:
        """The request that is held, or is still on its way here, gets no answer."""
        self.is_held = False
        self.is_first_cut = not self.waiting
        while self.waiting:
            self.waiting.pop(0).abort()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("keys")
    with product(folder) as url:
        yield Site(url, folder)


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page that is never left by a key or click."""
    page = context.new_page()
    yield page
    assert page.evaluate("window.isSamePage")


def at(page: Page, site: Site, path: str = "/memory/") -> Line:
    opened(page, site, path)
    page.evaluate("window.isSamePage = true")
    return Line(page)


def press(page: Page, keys: str) -> None:
    for key in keys.split():
        page.keyboard.press(key)


def expect_waiting(page: Page, wordings: list[str]) -> None:
    expect(page.locator("#pending-list .memory-text")).to_have_text(wordings)
    expect(count(page)).to_have_attribute("data-count", str(len(wordings)))


def test_keys_pressed_before_the_answer_are_done_one_after_another(page: Page, site: Site):
    site.seed(texts(6))
    line = at(page, site)
    line.hold()
    press(page, "j Enter Enter x u l x")
    line.let_go()
    expect_waiting(page, [texts(6)[number] for number in (2, 5, 3)])
    expect(page.locator("#confirmed")).to_have_attribute("data-count", "2")
    expect(page.locator("#memory-notice")).to_contain_text("不再提出")


@pytest.mark.parametrize(("first", "then"), [("x", "x"), ("x", "u"), ("u", "u"), ("l", "Enter")])
def test_a_key_in_the_moment_of_the_swap_is_done(page: Page, site: Site, first: str, then: str):
    site.seed(texts(5))
    at(page, site)
    press(page, "j x")
    expect(count(page)).to_have_attribute("data-count", "4")
    press(page, "x")
    expect(count(page)).to_have_attribute("data-count", "3")
    page.evaluate(PRESS_ON_SWAP, then)
    press(page, first)
    left = {"xx": "1", "xu": "3", "uu": "5", "lEnter": "2"}[first + then]
    expect(count(page)).to_have_attribute("data-count", left)
    expect(page.locator("#pending-list [data-candidate]")).to_have_count(int(left))


def test_what_is_typed_before_the_box_is_there_stands_in_it(page: Page, site: Site):
    site.seed(texts(3))
    line = at(page, site)
    line.hold()
    press(page, "j x e")
    page.keyboard.type(" exj")
    line.let_go()
    box = page.locator("#pending textarea[name=text]")
    expect(box).to_have_value(f"{texts(3)[1]} exj")
    line.hold()
    press(page, "Enter x")
    line.let_go()
    expect(count(page)).to_have_attribute("data-count", "0")
    expect(page.locator("#confirmed .memory-text")).to_have_text([f"{texts(3)[1]} exj"])


def test_a_refusal_ends_the_row_of_keys(page: Page, site: Site):
    site.seed(["身份证号11010119900307109X", *texts(2)])
    line = at(page, site)
    line.hold()
    press(page, "j Enter Enter x")
    line.let_go()
    box = page.locator("#pending textarea[name=text]")
    expect(box).to_be_focused()
    expect(box).to_have_attribute("aria-invalid", "true")
    press(page, "Escape")
    expect(box).to_have_count(0)
    expect_waiting(page, ["身份证号11010119900307109X", *texts(2)])


def test_an_answer_that_does_not_come_ends_the_row_of_keys(page: Page, site: Site):
    site.seed(texts(3))
    line = at(page, site)
    line.hold()
    press(page, "j x x x")
    line.cut()
    expect(page.locator("#memory-notice")).to_contain_text("没有")
    expect(page.locator("#pending-list [data-candidate]").first).to_be_focused()
    press(page, "x")
    expect_waiting(page, texts(3)[1:])


def test_a_key_on_the_last_card_waits_for_the_rest_of_the_list(page: Page, site: Site):
    site.seed(texts(32))
    line = at(page, site)
    press(page, " ".join("j" * 30))
    line.hold()
    press(page, "j x j x")
    line.let_go()
    expect_waiting(page, texts(30))


def test_clicks_on_several_cards_of_the_drawer_are_all_done(page: Page, site: Site):
    site.seed(texts(4))
    line = at(page, site, "/")
    page.locator("#drawer > summary").click()
    cards = page.locator("#memory-drawer [data-candidate]")
    expect(cards).to_have_count(4)
    line.hold()
    cards.nth(0).locator("[data-action=reject]").dblclick()
    cards.nth(1).locator("select").select_option("shared")
    cards.nth(1).locator("[data-action=confirm]").click()
    cards.nth(3).locator("[data-action=reject]").click()
    line.let_go()
    expect(cards).to_have_count(1)
    expect(cards).to_contain_text(texts(3)[2])
    page.unroute_all()
    page.goto(f"{site.url}/memory/")
    page.evaluate("window.isSamePage = true")
    expect(page.locator("#scope-shared")).to_contain_text("1/30")


def test_a_key_meets_its_card_while_the_drawer_is_told_anew(page: Page, context: BrowserContext, site: Site):
    site.seed(texts(4))
    line = at(page, site, "/")
    page.locator("#drawer > summary").click()
    cards = page.locator("#memory-drawer [data-candidate]")
    expect(cards).to_have_count(4)
    press(page, "j j")
    line.hold()
    other = context.new_page()
    other.goto(f"{site.url}/memory/")
    with page.expect_request("**/memory/drawer/"):
        other.locator("#pending-list [data-action=reject]").first.click()
    press(page, "x")
    line.let_go()
    expect(cards).to_have_count(2)
    expect(cards.locator(".memory-text")).to_have_text([texts(4)[2], texts(4)[3]])


def test_undo_by_key_needs_a_notice_that_is_seen(page: Page, site: Site):
    site.seed(texts(2))
    at(page, site)
    press(page, "j x")
    expect(count(page)).to_have_attribute("data-count", "1")
    page.goto(site.url)
    page.evaluate("window.isSamePage = true")
    page.locator("#drawer > summary").click()
    expect(page.locator("#memory-drawer [data-candidate]")).to_have_count(1)
    page.locator("#memory-drawer [data-action=reject]").click()
    expect(page.locator("#memory-drawer [data-candidate]")).to_have_count(0)
    page.locator("#drawer > summary").click()
    press(page, "u")
    page.locator("#drawer > summary").click()
    press(page, "u")
    expect(page.locator("#memory-drawer [data-candidate]")).to_have_count(1)
