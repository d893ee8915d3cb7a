"""A teacher, an assistant on the tests' own model server, and the ways in: form, socket and API."""

import html
import json
import logging
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from itertools import count
from typing import Any
from unittest.mock import patch

import pytest
from asgiref.sync import sync_to_async
from channels.testing import WebsocketCommunicator
from django.apps import apps
from django.core import serializers
from django.test import AsyncClient, TransactionTestCase
from django.utils import timezone

from chat.jobs.worker import Worker
from chat.models import ApiToken, LayerState, Run, Work
from chat.providers import registry
from chat.providers.http import Network
from chat.providers.openai import OpenAI
from chat.runs import beat, launch
from memoryapp.asgi import application
from tests import builders
from tests.cases.model_server import ModelServer

ZH, EN = "zh-hans", "en"


class Case(TransactionTestCase):
    """The world of one public report."""

    @pytest.fixture(autouse=True)
    def service(self, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
        """The model server; attempts follow each other at once."""
        caplog.set_level(logging.INFO)
        caplog.set_level(logging.DEBUG, "chat")
        self.log = caplog
        quick = {"openai": lambda: OpenAI(Network(wait_scale=0.001))}
        registry.provider.cache_clear()
        with ModelServer() as self.model, patch.dict(registry._classes(), quick):
            yield
        registry.provider.cache_clear()

    def setUp(self) -> None:
        self.user = builders.teacher()
        self.school = builders.school_of(self.user)
        self.provider = builders.provider(self.school, kind="openai", base_url=f"http://{self.model.address}/v1", is_local=False)
        self.agent = builders.agent(self.school, provider=self.provider, model="stub")
        _row, token = ApiToken.objects.issue(self.user, "test")
        self.headers = {"authorization": f"Bearer {token}", "accept-language": EN}
        self.keys = count(1)
        self._browser: AsyncClient | None = None

    # What the teacher does.

    async def browser(self) -> AsyncClient:
        """The browser in which the teacher is logged in."""
        if self._browser is None:
            self._browser = AsyncClient()
            await self._browser.aforce_login(self.user)
        return self._browser

    async def send_by_form(self, text: str, thread_id: str = "") -> Run:
        """Sends as the page does without script, and waits for the end."""
        form = {"input": text, "thread_id": thread_id, "key": f"form-{next(self.keys)}"}
        response = await (await self.browser()).post(f"/chat/{self.agent.pk}/send", form)
        assert response.status_code == 303, response.content
        return await self.ended(response["location"].partition("#")[2])

    async def retry_by_form(self, run: Run) -> Run:
        response = await (await self.browser()).post(f"/runs/{run.pk}/retry/")
        assert response.status_code == 303, response.content
        return await self.ended(response["location"].partition("#")[2])

    async def ended(self, run_id: str) -> Run:
        await launch.wait(run_id)
        return await Run.objects.aget(pk=run_id)

    @asynccontextmanager
    async def socket(self, thread_id: str, language: str = ZH) -> AsyncIterator["Socket"]:
        """The socket of the thread's page in a browser of the teacher."""
        page = await self.browser()
        cookie = f"sessionid={page.cookies['sessionid'].value}".encode()
        headers = [(b"cookie", cookie), (b"origin", b"http://localhost"), (b"accept-language", language.encode())]
        communicator = WebsocketCommunicator(application, f"/ws/threads/{thread_id}/", headers)
        accepted, _code = await communicator.connect(timeout=5)
        assert accepted
        yield Socket(communicator)
        await communicator.disconnect()

    async def post(self, path: str, language: str = EN, **body: Any) -> Any:
        url = f"/agents/{self.agent.pk}/{path}"
        headers = self.headers | {"accept-language": language}
        return await AsyncClient().post(url, json.dumps(body), content_type="application/json", headers=headers)

    async def get(self, path: str, language: str = ZH) -> str:
        """A page as the teacher gets it."""
        response = await (await self.browser()).get(path, headers={"accept-language": language})
        assert response.status_code == 200, path
        return response.content.decode()

    async def api(self, path: str) -> Any:
        return (await AsyncClient().get(path, headers=self.headers)).json()

    # What goes on behind.

    async def settle(self) -> None:
        """Lets the background do all that is due, whenever it had been put off to."""
        await sync_to_async(self._drain)()

    def _drain(self) -> None:
        now = timezone.now()
        LayerState.objects.update(retry_at=now)
        Work.objects.update(due_at=now)
        Worker("w").drain()

    async def restart(self) -> None:
        """Ends what a web process holds; what follows starts from the database."""
        await beat.shutdown()

    async def stored(self) -> str:
        """Every row of the product but the model services, as text."""
        return await sync_to_async(stored_rows)()


class Socket:
    """A page's side of the socket; `frames` is all that it was told."""

    def __init__(self, communicator: WebsocketCommunicator) -> None:
        self._communicator = communicator
        self.frames: list[dict[str, Any]] = []

    async def send(self, key: str, text: str, **more: str) -> dict[str, Any]:
        """Sends a message and returns the frame that shows its end."""
        await self._communicator.send_json_to({"action": "send", "key": key, "input": text, "mode": ""} | more)
        while True:
            frame = json.loads(await self._communicator.receive_from(timeout=5))
            self.frames.append(frame)
            assert frame["type"] != "error", frame
            if frame["type"] == "run" and not re.search('data-status="(running|queued)"', frame["html"]):
                return frame

    @property
    def text(self) -> str:
        return json.dumps(self.frames, ensure_ascii=False)


def article(page: str, run_id: str) -> str:
    """The article of a run in the HTML of a page or a frame."""
    found = re.search(f'<article [^>]*data-run="{run_id}".*?</article>', page, re.DOTALL)
    assert found, run_id
    return found[0]


def words(markup: str) -> str:
    """What a reader sees of HTML, on one line."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", markup)).split())


def part(markup: str, name: str) -> str:
    """What a reader sees in the first element with that data-part."""
    found = re.search(f'<(\\w+)[^>]*data-part="{name}"[^>]*>(.*?)</\\1>', markup, re.DOTALL)
    return words(found[2]) if found else ""


def stored_rows() -> str:
    models = [model for model in apps.get_app_config("chat").get_models() if model.__name__ != "Provider"]
    fields = {model: [field.name for field in model._meta.fields if field.name != "host"] for model in models}  # hosts tell vendors apart
    return "\n".join(serializers.serialize("json", model.objects.all(), fields=fields[model], ensure_ascii=False) for model in models)
