"""The description is held to what the server does: paths, methods, and the fields of requests and answers."""

import json
import re
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.test import AsyncClient
from django.urls import get_resolver
from jsonschema import Draft202012Validator

from chat.api import urls
from chat.api.openapi import DOCUMENT
from chat.api.runs import FIELDS
from chat.models import Run, WorkerBeat
from chat.providers.base import Delta, StreamBroken, ToolCall
from tests import builders
from tests.api.cases import ApiCase
from tests.api.test_stream import parsed
from tests.fakes import ScriptedProvider, scripted

SPEC = json.loads(DOCUMENT)
METHODS = ("get", "post", "put", "patch", "delete")


def operations() -> list[tuple[str, str]]:
    return [(path, method) for path, item in SPEC["paths"].items() for method in METHODS if method in item]


def check(schema: dict[str, Any], value: object) -> None:
    """Raises ValidationError when the value has a field too many or too few, or of another type."""
    Draft202012Validator(schema | {"components": SPEC["components"]}).validate(value)


def response_schema(path: str, method: str, status: int) -> dict[str, Any]:
    response = SPEC["paths"][path][method]["responses"][str(status)]
    if "$ref" in response:
        response = SPEC["components"]["responses"][response["$ref"].rsplit("/", 1)[1]]
    return response["content"]["application/json"]["schema"]


class PathTests(ApiCase):
    def test_paths_are_those_of_the_resolver(self) -> None:
        served = {re.sub(r"<slug:(\w+)>", r"{\1}", "/" + str(one.pattern)) for one in urls.urlpatterns if one.name != "api-unknown"}
        assert served == set(SPEC["paths"])

    async def test_methods_are_those_of_the_server(self) -> None:
        for path, item in SPEC["paths"].items():
            described = {method for method in METHODS if method in item}
            answered = set()
            for method in METHODS:
                response = await self.http.generic(method.upper(), re.sub(r"{\w+}", "none", path), headers=self.headers)
                if response.status_code != 405:
                    answered.add(method)
            with self.subTest(path):
                assert answered == described

    async def test_every_path_without_log_in_says_so(self) -> None:
        for path, method in operations():
            response = await AsyncClient().generic(method.upper(), re.sub(r"{\w+}", "none", path))
            with self.subTest(path):
                security = SPEC["paths"][path][method].get("security", SPEC["security"])
                assert (response.status_code == 401) == (security == SPEC["security"])

    async def test_document_is_served(self) -> None:
        response = await AsyncClient().get("/openapi.json")
        assert (response["Content-Type"], response.json()) == ("application/json", SPEC)

    def test_schemas_are_schemas_and_all_are_used(self) -> None:
        text = DOCUMENT.decode()
        for name, schema in SPEC["components"]["schemas"].items():
            Draft202012Validator.check_schema(schema)
            assert f'"#/components/schemas/{name}"' in text, name

    def test_security_schemes_name_the_cookie_of_the_session(self) -> None:
        assert SPEC["components"]["securitySchemes"]["session"]["name"] == settings.SESSION_COOKIE_NAME


class RequestTests(ApiCase):
    def test_fields_of_a_run_are_those_that_are_read(self) -> None:
        assert set(SPEC["components"]["schemas"]["RunRequest"]["properties"]) == set(FIELDS)

    async def test_description_and_server_refuse_the_same_bodies(self) -> None:
        schema = {"$ref": "#/components/schemas/RunRequest"} | {"components": SPEC["components"]}
        bodies: list[Any] = [
            {},
            {"input": 1},
            {"input": "出题", "thread_id": ""},
            {"input": "出题", "thread_id": 1},
            {"input": "出题", "mode": []},
            {"input": "出题", "incognito": None},
            {"input": "出题", "context": []},
            {"input": "出题", "context": {"run": "x"}},
            {"input": "出题", "stream": True},
            {"input": "出题", "thread_id": None, "mode": None, "context": None, "incognito": False},
            {"input": "出题", "mode": "", "context": {"run_id": None}},
        ]
        with scripted(ScriptedProvider()):
            for body in bodies:
                with self.subTest(body):
                    response = await self.post(f"/agents/{self.agent.pk}/run", body)
                    assert (response.status_code == 200) == Draft202012Validator(schema).is_valid(body)


class AnswerTests(ApiCase):
    def setUp(self) -> None:
        super().setUp()
        builders.mode(self.agent)
        self.thread = builders.thread(self.user, self.agent)
        first = builders.run(self.thread, status="failed", error_code="stream_broken", mode="exam")
        builders.run(self.thread, replaces=first)
        builders.run(self.thread, status="running")

    def described(self, response: HttpResponse, path: str, method: str) -> None:
        check(response_schema(path, method, response.status_code), response.json())

    async def test_lists_are_as_described(self) -> None:
        self.described(await self.get("/agents"), "/agents", "get")
        self.described(await self.get(f"/agents/{self.agent.pk}/threads"), "/agents/{agent_id}/threads", "get")
        for query in ({}, {"limit": 1}):
            self.described(await self.get(f"/threads/{self.thread.pk}/runs", query), "/threads/{thread_id}/runs", "get")

    async def test_changes_are_as_described(self) -> None:
        run = await Run.objects.afirst()
        self.described(await self.get(f"/threads/{self.thread.pk}"), "/threads/{thread_id}", "get")
        self.described(await self.post(f"/threads/{self.thread.pk}/archive"), "/threads/{thread_id}/archive", "post")
        self.described(await self.post(f"/threads/{self.thread.pk}/unarchive"), "/threads/{thread_id}/unarchive", "post")
        self.described(await self.post(f"/runs/{run.pk}/stop"), "/runs/{run_id}/stop", "post")
        await Run.objects.going().aupdate(status="completed", finished_at=run.created_at)
        self.described(await self.delete(f"/threads/{self.thread.pk}", {"facts": []}), "/threads/{thread_id}", "delete")

    async def test_runs_are_as_described_however_they_end(self) -> None:
        for script in (["一"], ["一", StreamBroken()]):
            self.described(await self.ask(model=ScriptedProvider(script)), "/agents/{agent_id}/run", "post")

    async def test_events_are_as_described(self) -> None:
        events = SPEC["paths"]["/agents/{agent_id}/run/stream"]["post"]["responses"]["200"]["content"]["text/event-stream"]["x-events"]
        call = ToolCall("c1", "thread_read", "{}")
        seen = set()
        for script in ([[Delta(reasoning="想", tool_calls=(call,), finish="tool_calls")], ["一"]], [["一", StreamBroken()]]):
            with scripted(ScriptedProvider(*script)):
                response = await self.post(f"/agents/{self.agent.pk}/run/stream", {"input": "出题"})
                async for one in response:
                    name, data = parsed(one)
                    seen.add(name)
                    check(events[name], data)
        assert seen == set(events) - {"cancelled"}

    async def test_health_is_as_described(self) -> None:
        self.described(await self.get("/healthz"), "/healthz", "get")
        self.described(await self.get("/readyz"), "/readyz", "get")
        await WorkerBeat.objects.acreate(worker="w")
        self.described(await self.get("/readyz"), "/readyz", "get")

    async def test_refusals_are_as_described(self) -> None:
        self.described(await self.get("/threads/th_none/runs"), "/threads/{thread_id}/runs", "get")
        self.described(await self.post(f"/agents/{self.agent.pk}/run", {}), "/agents/{agent_id}/run", "post")
        self.described(await self.get("/agents", Authorization="Bearer x"), "/agents", "get")


def test_resolver_serves_the_api_at_the_root() -> None:
    names = {name for name in get_resolver().reverse_dict if isinstance(name, str)}
    assert {one.name for one in urls.urlpatterns} <= names
