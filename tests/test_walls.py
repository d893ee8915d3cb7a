"""Every address and every model, tried by nobody, by another teacher and by another school (DESIGN §7).

What is somebody else's answers like what does not exist, and nothing changes. The rules are in tests/walls.py.
"""

import json
import re
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.testing import WebsocketCommunicator
from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import AsyncClient, TestCase, TransactionTestCase

from chat.models import Membership, Tenant
from chat.routing import websocket_urlpatterns
from chat.runs import launch, live
from chat.runs.beat import shutdown
from memoryapp.asgi import application
from tests import walls
from tests.fakes import ScriptedProvider, scripted
from tests.walls import MODELS, NotPersonal, OfSchool, Personal, Route, World

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
FORM = {"input": "改掉", "title": "改掉", "name": "改掉", "key": "k1", "language": "en", "theme": "dark", "time_zone": ""}


class ModelTests(TestCase):
    def setUp(self) -> None:
        self.world = World()
        self.models = walls.chat_models()

    def test_every_model_has_a_rule(self) -> None:
        assert set(MODELS) == set(self.models)

    def test_models_of_other_apps_are_known(self) -> None:
        assert {model._meta.app_label for model in apps.get_models()} - {"chat"} == walls.OTHER_APPS

    def test_rows_of_nobody_point_at_nobody(self) -> None:
        for name, rule in MODELS.items():
            if isinstance(rule, NotPersonal):
                assert rule.why and not [field.name for field in self.models[name]._meta.get_fields() if field.is_relation], name

    def test_rules_lead_to_the_owner_and_the_world_has_rows_of_each(self) -> None:
        for name, rule in MODELS.items():
            if isinstance(rule, Personal):
                assert self.models[name]._default_manager.filter(**rule.of(self.world.owner)).exists(), name
            elif isinstance(rule, OfSchool):
                assert self.models[name]._default_manager.filter(**{rule.tenant: self.world.agent.tenant_id}).exists(), name

    def test_every_owned_model_is_guarded_or_says_who_reads_it(self) -> None:
        for name, rule in MODELS.items():
            if isinstance(rule, Personal) and rule.is_key:  # leads to no row
                assert rule.alone and not walls.has_for_user(self.models[name]), name
            elif not isinstance(rule, NotPersonal):
                first = (rule.owner if isinstance(rule, Personal) else rule.tenant).split("__")[0]
                through = None if first == "pk" else self.models[name]._meta.get_field(first).related_model
                is_guarded = walls.has_for_user(self.models[name]) or (through not in (None, User, Tenant) and walls.has_for_user(through))
                assert is_guarded != bool(rule.alone), name

    def test_for_user_gives_nobody_elses_rows(self) -> None:
        for name, rule in MODELS.items():
            if not walls.has_for_user(self.models[name]):
                continue
            found = self.models[name]._default_manager.all()
            is_own = {rule.owner: self.world.owner} if isinstance(rule, Personal) else {rule.tenant: self.world.agent.tenant_id}
            others = [self.world.stranger] + ([self.world.colleague] if isinstance(rule, Personal) else [])
            assert found.for_user(self.world.owner).filter(**is_own).exists(), name
            assert not any(found.for_user(other).filter(**is_own).exists() for other in others), name

    def test_who_leaves_a_school_leaves_its_rows(self) -> None:
        Membership.objects.filter(user=self.world.owner).delete()
        for name, model in self.models.items():
            if walls.has_for_user(model) and name != "ApiToken":  # a token is the person's, whatever school they are at
                assert not model._default_manager.all().for_user(self.world.owner).exists(), name


class WallCase(TransactionTestCase):
    def setUp(self) -> None:
        self.world = World()
        self.callers: list[User | None] = [None, self.world.colleague, self.world.stranger]

    async def client_of(self, caller: User | None) -> AsyncClient:
        client = AsyncClient()
        if caller is not None:
            await client.aforce_login(caller)
        return client

    async def call(self, client: AsyncClient, method: str, route: Route, ids: dict[str, str], **more: Any) -> HttpResponse:
        """One call with a body that would be good for the caller's own things."""
        query, headers, extra = more.get("query", ""), more.get("headers", {}), more.get("body", {})
        path = route.path(ids) + query
        if method == "GET":
            return await client.get(path, headers=headers)
        if route.is_api:
            body = ({"input": "改掉"} if "/run" in route.template and "agents" in route.template else {}) | extra
            return await client.generic(method, path, json.dumps(body), content_type="application/json", headers=headers)
        form = "&".join(f"{name}={value}" for name, value in (FORM | {"verb": walls.VERBS.get(route.name, "")} | extra).items())
        return await client.generic(method, path, form, content_type="application/x-www-form-urlencoded", headers=headers)


def shape(response: HttpResponse, ids: dict[str, str]) -> tuple[int, str, str, str]:
    """What a caller can tell answers apart by, without the ids of the call and the form tokens."""
    text = response.content.decode()
    place = response.headers.get("Location", "")
    for value in ids.values():
        text, place = text.replace(value, "ID"), place.replace(value, "ID")
    return response.status_code, response.headers.get("Content-Type", ""), place, re.sub(r"[A-Za-z0-9]{64}", "TOKEN", text)


class AddressTests(WallCase):
    def test_every_address_has_a_rule(self) -> None:
        for route in walls.routes():
            if route.ids:
                assert set(route.ids) <= set(walls.FOREIGN), f"{route.template}: say in tests/walls.py whose its ids are"
            else:
                assert route.name in walls.OPEN | walls.OWN, f"{route.template}: say in tests/walls.py who may see it"

    async def test_what_is_somebody_elses_answers_like_what_does_not_exist(self) -> None:
        before = await sync_to_async(walls.all_rows)()
        for caller in self.callers:
            client = await self.client_of(caller)
            for route in walls.routes():
                if not route.ids:
                    continue
                foreign, missing = self.world.foreign(route, caller or self.world.stranger), self.world.missing(route)
                for method in METHODS:
                    with self.subTest(caller=str(caller), route=route.template, method=method):
                        theirs = await self.call(client, method, route, foreign)
                        self.assertIn(theirs.status_code, {302, 401, 405} if caller is None else {404, 405})
                        self.assertEqual([one for one in self.world.secrets if one in shape(theirs, foreign)[3]], [])
                        if theirs.status_code != 405:
                            nobodys = await self.call(client, method, route, missing)
                            self.assertEqual(shape(theirs, foreign), shape(nobodys, missing))
        self.assertEqual(await sync_to_async(walls.all_rows)(), before)

    async def test_nobody_sees_nothing_but_the_open_pages(self) -> None:
        before = await sync_to_async(walls.all_rows)()
        client = await self.client_of(None)
        for route in walls.routes():
            if route.name not in walls.OWN:
                continue
            for method in METHODS:
                with self.subTest(route=route.template, method=method):
                    response = await self.call(client, method, route, {})
                    self.assertIn(response.status_code, {302, 401, 405})
                    if response.status_code == 302:
                        self.assertTrue(response.headers["Location"].startswith(settings.LOGIN_URL))
        self.assertEqual(await sync_to_async(walls.all_rows)(), before)

    @pytest.mark.slow
    async def test_forged_values_show_and_change_nothing_of_others(self) -> None:
        world = self.world
        before = await sync_to_async(walls.rows_of)(world.owner)
        forged = {
            "user": world.owner.pk, "user_id": world.owner.pk, "username": world.owner.username, "owner": world.owner.pk,
            "tenant_id": world.agent.tenant_id, "agent_id": world.agent.pk, "agent": world.agent.pk, "scope": world.owner.pk,
            "thread": world.thread.pk, "run": world.run.pk, "run_id": world.run.pk, "replaces": world.run.pk, "before": "9", "open": "x",
            "op_id": world.waiting_op.pk, "store": "memory",
            "id": world.candidate.pk, "candidate": world.candidate.pk, "fact": world.fact.pk, "decision": world.fact.decision_id,
        }  # fmt: skip
        query = "?" + "&".join(f"{name}={value}" for name, value in forged.items())
        headers = {f"X-{name.replace('_', '-')}": str(value) for name, value in forged.items()}
        calls: list[tuple[str, dict[str, Any]]] = [("GET", {}), ("POST", {}), ("POST", forged)]
        with scripted(ScriptedProvider()):
            for caller in (world.colleague, world.stranger):
                for route in sorted(walls.routes(), key=lambda one: one.name == "thread-delete"):  # last, for it takes the thread away
                    client = await self.client_of(caller)  # anew: some addresses end the session
                    ids = {name: world.own[caller.pk][name] for name in route.ids}
                    for method, body in calls:
                        with self.subTest(caller=caller.username, route=route.template, method=method):
                            response = await self.call(client, method, route, ids, query=query, headers=headers, body=body)
                            text = await self._text(response)
                            self.assertLess(response.status_code, 500)
                            self.assertEqual([one for one in world.secrets if one in text.replace(query, "")], [])
            await self._settle()
        self.assertEqual(await sync_to_async(walls.rows_of)(world.owner), before)

    async def _text(self, response: HttpResponse) -> str:
        if response.streaming:
            return b"".join([part async for part in response]).decode()
        return response.content.decode()

    async def _settle(self) -> None:
        for going in live.own_runs():
            await launch.wait(going.run_id)

    async def test_ids_of_memory_in_forms_are_walls_too(self) -> None:
        world = self.world
        before = await sync_to_async(walls.rows_of)(world.owner)
        routes = {route.name: route for route in walls.routes()}
        for caller in (world.colleague, world.stranger):
            client = await self.client_of(caller)
            own = world.own[caller.pk]
            for name, field, foreign, missing in (
                ("memory-bulk", "id", world.candidate.pk, "cand_" + "a" * 20),
                ("memory-bulk", "id", world.waiting_op.pk, "nop_" + "a" * 20),
                ("memory-undo", "decision", world.fact.decision_id, "dec_" + "a" * 20),
                ("memory-candidate", "replaces", world.fact.pk, "fact_" + "a" * 20),
                ("thread-delete", "fact", world.fact.pk, "fact_" + "a" * 20),
            ):
                with self.subTest(caller=caller.username, route=name):
                    theirs = await self.call(client, "POST", routes[name], own, body={field: foreign})
                    nobodys = await self.call(client, "POST", routes[name], own, body={field: missing})
                    self.assertIn(theirs.status_code, {200, 302, 303, 404})
                    self.assertEqual([one for one in world.secrets if one in shape(theirs, {field: foreign})[3]], [])
                    if name in ("memory-bulk", "memory-undo"):
                        self.assertEqual(shape(theirs, {field: foreign}), shape(nobodys, {field: missing}))
        self.assertEqual(await sync_to_async(walls.rows_of)(world.owner), before)

    async def test_ids_in_bodies_are_walls_too(self) -> None:
        world = self.world
        before = await sync_to_async(walls.all_rows)()
        routes = {route.name: route for route in walls.routes()}
        for caller in (world.colleague, world.stranger):
            client = await self.client_of(caller)
            own = {"agent_id": world.own[caller.pk]["agent_id"]}
            school = world.strange_agent.tenant_id if caller == world.colleague else world.agent.tenant_id
            for name, field, foreign, missing in (
                ("chat-send", "thread_id", world.thread.pk, "th_" + "a" * 20),
                ("api-run", "thread_id", world.thread.pk, "th_" + "a" * 20),
                ("api-run-stream", "thread_id", world.thread.pk, "th_" + "a" * 20),
                ("tenant-switch", "tenant", school, "tn_" + "a" * 20),
            ):
                with self.subTest(caller=caller.username, route=name):
                    theirs = await self.call(client, "POST", routes[name], own, body={field: foreign})
                    nobodys = await self.call(client, "POST", routes[name], own, body={field: missing})
                    self.assertEqual(shape(theirs, {field: foreign}), shape(nobodys, {field: missing}))
                    self.assertIn(theirs.status_code, {400, 404})
        self.assertEqual(await sync_to_async(walls.all_rows)(), before)


class SocketTests(WallCase):
    """The live page's socket: the same walls."""

    async def socket(self, caller: User | None, path: str, origin: str = "http://testserver") -> WebsocketCommunicator:
        headers = [(b"origin", origin.encode()), (b"host", b"testserver")]
        if caller is not None:
            client = await self.client_of(caller)
            cookie = f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"
            headers.append((b"cookie", cookie.encode()))
        return WebsocketCommunicator(application, path, headers=headers)

    async def answer(self, caller: User | None, path: str, origin: str = "http://testserver") -> tuple[bool, int | None]:
        """Whether the socket opens, and with which code it closes if not."""
        socket = await self.socket(caller, path, origin)
        opened = await socket.connect()
        await socket.disconnect()
        return opened

    def test_every_socket_has_a_rule(self) -> None:
        assert {str(route.pattern) for route in websocket_urlpatterns} == {r"^ws/threads/(?P<thread_id>[a-z0-9_]{1,40})/$", "ws/"}

    async def test_what_is_somebody_elses_answers_like_what_does_not_exist(self) -> None:
        world = self.world
        for caller in self.callers:
            agent = world.agent if caller == world.stranger else world.strange_agent
            for foreign, missing in (
                (f"/ws/threads/{world.thread.pk}/", f"/ws/threads/th_{'a' * 20}/"),
                (f"/ws/?agent={agent.pk}", f"/ws/?agent=ag_{'a' * 20}"),
            ):
                with self.subTest(caller=str(caller), path=foreign):
                    theirs, nobodys = await self.answer(caller, foreign), await self.answer(caller, missing)
                    self.assertEqual(theirs, nobodys)
                    self.assertFalse(theirs[0])

    async def test_own_thread_opens_and_only_from_our_own_pages(self) -> None:
        path = f"/ws/threads/{self.world.own[self.world.colleague.pk]['thread_id']}/"
        assert (await self.answer(self.world.colleague, path))[0]
        assert not (await self.answer(self.world.colleague, path, origin="https://evil.example"))[0]
        assert not (await self.answer(None, path))[0]

    async def test_frames_reach_nothing_of_others(self) -> None:
        world = self.world
        before = await sync_to_async(walls.all_rows)()
        for caller in (world.colleague, world.stranger):
            query = f"?agent={world.agent.pk}&user={world.owner.pk}&thread_id={world.thread.pk}"
            socket = await self.socket(caller, f"/ws/threads/{world.own[caller.pk]['thread_id']}/{query}")
            assert (await socket.connect())[0]
            for frame in (
                {"action": "stop", "run": world.run.pk},
                {"action": "send", "key": "k1", "input": "改掉", "replaces": world.run.pk},
            ):
                await socket.send_to(text_data=json.dumps(frame))
                said = json.loads(await socket.receive_from(timeout=5))
                while said["type"] == "fragment":  # their own list, which the beat may bring at any moment
                    self.assertEqual([one for one in world.secrets if one in said["html"]], [])
                    said = json.loads(await socket.receive_from(timeout=5))
                self.assertEqual(said["type"], "error", said)
            await socket.send_to(
                text_data=json.dumps({"action": "sync", "first": 1, "after": 0, "open": [world.run.pk], "shown": [world.run.pk]})
            )
            text = await socket.receive_from(timeout=5)
            while not await socket.receive_nothing(timeout=0.05):
                text += await socket.receive_from()
            self.assertEqual([one for one in world.secrets if one in text], [])
            await socket.disconnect()
        await shutdown()
        self.assertEqual(await sync_to_async(walls.all_rows)(), before)
