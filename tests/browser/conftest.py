"""The running product and a browser, once for all tests of this folder. They run in `make test-all`."""

import contextlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.processes.databases import migrated
from tests.servers import free_port

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "only-for-this-test"
START_SECONDS = 60
OTHER_WORLDS = {
    "DJANGO_SETTINGS_MODULE",
    "DATABASE_URL",
    "REDIS_URL",
    "OPENAI_BASE_URL",
    "OPENAI_MODEL",
    "OLLAMA_URL",
    "OLLAMA_MODEL",
    "DEMO",
}
_sessions: dict[tuple[str, str], list[Any]] = {}  # what `log_in` knows: cookies by site and user
FLAGS = "--no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update --disable-sync"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the product with the demo schools, their assistants on the demo model, and a log-in that is never paused."""
    with product(tmp_path_factory.mktemp("site")) as url:
        yield url


@contextlib.contextmanager
def product(folder: Path, **variables: str) -> Iterator[str]:
    """Runs the product with its data in `folder`; `variables` go into its environment."""
    environment = {name: value for name, value in os.environ.items() if name not in OTHER_WORLDS}
    environment |= {"DATA_DIR": str(folder / "data"), "DEMO_PASSWORD": PASSWORD, "SECRET_KEY": "", "LOGIN_FAILURE_LIMIT": "1000"}
    migrated().copy(folder / "data")
    url = f"http://127.0.0.1:{(port := free_port())}"
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "up", f"--port={port}"],
            cwd=ROOT,
            env=environment | variables,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        end = time.monotonic() + START_SECONDS
        while not _answers(url):
            assert process.poll() is None and time.monotonic() < end, (folder / "log").read_text()
            time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.wait(30)


def _answers(url: str) -> bool:
    with contextlib.suppress(httpx.HTTPError):
        return httpx.get(f"{url}/healthz", timeout=2).status_code == 200
    return False


def chromium() -> str | None:
    """The browser's program; None where there is none."""
    return os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    program = chromium()
    if program is None:
        if os.environ.get("CI"):
            pytest.fail("Chromium is missing: set CHROMIUM.")
        pytest.skip("needs Chromium (CHROMIUM)")
    expect.set_options(timeout=15_000)  # a busy machine is slow, not wrong
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS.split())
        yield browser
        browser.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A teacher's browser at a desk, in Chinese, that knows nobody yet."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="zh-CN")
    yield context
    context.close()


def log_in(page: Page, site: str, name: str = "teacher") -> None:
    """Logs the user in, by the form at first and then with the session of that: hashing a password takes half a second."""
    if known := _sessions.get((site, name)):
        page.context.add_cookies(known)
        page.goto(f"{site}/")
        if "login" not in page.url:
            return
    page.goto(f"{site}/accounts/login/")
    page.locator("#id_username").fill(name)
    page.locator("#id_password").fill(PASSWORD)
    page.locator("main form.card button").click()
    page.wait_for_url(lambda url: "login" not in url)
    _sessions[site, name] = [one for one in page.context.cookies(site) if one["name"] == "sessionid"]
