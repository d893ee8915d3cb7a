"""What the tests of the API share: a teacher with a token, an assistant with a scripted model, and a caller."""

import asyncio
import json
from typing import Any

from django.http import HttpResponse
from django.test import AsyncClient, TransactionTestCase

from chat.models import ApiToken
from chat.runs import live
from tests import builders
from tests.fakes import ScriptedProvider, scripted


class ApiCase(TransactionTestCase):
    def setUp(self) -> None:
        self.user = builders.teacher()
        self.school = builders.school_of(self.user)
        self.agent = builders.agent(self.school, provider=builders.provider(self.school, kind="openai", base_url="http://127.0.0.1:1/v1"))
        self.token_row, self.token = ApiToken.objects.issue(self.user, "test")
        # A view that fails answers 500, as it does to a caller.
        self.http = AsyncClient(raise_request_exception=False)
        self.headers = {"Authorization": f"Bearer {self.token}", "Accept-Language": "en"}

    async def get(self, path: str, query: dict[str, Any] | None = None, **headers: str) -> HttpResponse:
        return await self.http.get(path, query or {}, headers=self.headers | headers)

    async def post(self, path: str, body: Any = None, **headers: str) -> HttpResponse:
        """Sends `body` as JSON; bytes as they are; nothing when it is None."""
        raw = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        return await self.http.post(path, raw, content_type="application/json", headers=self.headers | headers)

    async def delete(self, path: str, body: Any = None, **headers: str) -> HttpResponse:
        raw = b"" if body is None else json.dumps(body).encode()
        return await self.http.delete(path, raw, content_type="application/json", headers=self.headers | headers)

    async def ask(
        self, text: str = "出一份数据结构试卷", *, model: ScriptedProvider | None = None, key: str = "", **fields: Any
    ) -> HttpResponse:
        """A whole run over the sync path."""
        with scripted(model or ScriptedProvider()):
            return await self.post(f"/agents/{self.agent.pk}/run", {"input": text} | fields, **({"Idempotency-Key": key} if key else {}))

    async def run_with_text(self) -> str:
        """Waits until a run has its first text; returns its id."""
        while True:
            for going in live.own_runs():
                if going.text:
                    return going.run_id
            await asyncio.sleep(0)

    def error_of(self, response: HttpResponse, status: int) -> str:
        """The code of a refused call, which must be of the one shape that all errors have."""
        self.assertEqual(response.status_code, status, response.content)
        body = response.json()
        self.assertEqual([sorted(body), sorted(body["error"])], [["error"], ["code", "message"]])
        self.assertTrue(body["error"]["message"])
        return body["error"]["code"]
