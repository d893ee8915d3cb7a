"""No path that a request takes waits on the event loop: neither for a socket nor for a name, nor asleep (seed 002 §15.4)."""

import socket
import time
import urllib.request
from collections.abc import Callable, Iterator
from unittest.mock import patch

import httpx
import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient

from chat.jobs.worker import Worker
from chat.memory.backends.openviking.manager import OpenVikingManager
from chat.memory.external import permission
from chat.models import Owner, Provider, Run
from chat.runs import beat, launch, live
from tests import walls
from tests.blocking import BlockedLoop, never_blocked
from tests.cases.model_server import ModelServer
from tests.cases.world import Case
from tests.openviking_server.in_force import in_force
from tests.openviking_server.server import Server
from tests.test_walls import WallCase

SAID = "I prefer tables with three columns."


class WithMemory(Case):
    """A teacher whose messages go to a memory server, with a model service over HTTP."""

    @pytest.fixture(autouse=True)
    def memory(self) -> Iterator[None]:
        with Server() as self.server, in_force(self.server):
            yield

    def setUp(self) -> None:
        super().setUp()
        permission.answer(Owner(self.school.pk, self.user.pk, self.agent.pk), "openviking", is_agreed=True)

    async def talk(self) -> None:
        """By form, socket and API, as one that remembers: what was said before is at the server."""
        first = await self.send_by_form(SAID)
        await sync_to_async(Worker("w").drain)()
        async with self.socket(first.thread_id) as page:
            await page.send("k1", "Which tables do I prefer?")
        response = await self.post("run", input="Which tables do I prefer?")
        assert response.json()["status"] == "completed"
        response = await self.post("run/stream", input="Which tables do I prefer?")
        assert "completed" in "".join([part.decode() async for part in response.streaming_content])
        await self.get("/memory/backend/?q=tables")
        await self.get("/memory/")

    async def test_no_message_waits_on_the_loop(self) -> None:
        with never_blocked():
            await self.talk()
        assert self.server.state.memories() == ["- " + SAID]
        assert [SAID in call.prompt for call in self.model.of("answer")][-3:] == [True] * 3
        assert not await Run.objects.exclude(backend_code="").aexists()
        assert [one.path for one in self.server.seen if "fs/tree" in one.path or "search/find" in one.path]

    async def test_a_memory_server_that_is_away_is_not_waited_for_on_the_loop(self) -> None:
        self.server.stop()
        with never_blocked():
            await self.send_by_form(SAID)
            await self.get("/memory/backend/?q=tables")
        assert await Run.objects.filter(status="completed").exclude(backend_code="").aexists()

    async def check_is_noticed(self, wait: Callable[[], object]) -> None:
        async def careless(*_: object, **__: object) -> None:
            wait()

        with patch.object(OpenVikingManager, "get_context", careless), pytest.raises(BlockedLoop, match="careless"), never_blocked():
            await self.send_by_form(SAID)
        assert await Run.objects.filter(status="completed").aexists()  # the check alone is what fails

    async def test_a_sleep_on_the_loop_is_noticed(self) -> None:
        await self.check_is_noticed(lambda: time.sleep(0))

    async def test_a_synchronous_client_on_the_loop_is_noticed(self) -> None:
        await self.check_is_noticed(lambda: httpx.get(f"{self.server.base_url}/health", trust_env=False))

    async def test_the_standard_librarys_client_on_the_loop_is_noticed(self) -> None:
        await self.check_is_noticed(lambda: urllib.request.urlopen(f"{self.server.base_url}/health"))  # noqa: S310

    async def test_a_name_that_is_looked_up_on_the_loop_is_noticed(self) -> None:
        await self.check_is_noticed(lambda: socket.getaddrinfo("localhost", 80))


class Addresses(WallCase):
    async def test_no_address_waits_on_the_loop(self) -> None:
        caller = self.world.colleague
        own = self.world.own[caller.pk]
        with Server() as server, in_force(server), ModelServer() as model:
            await Provider.objects.aupdate(base_url=f"http://{model.address}/v1")
            owner = Owner(self.world.agent.tenant_id, caller.pk, self.world.agent.pk)
            await sync_to_async(permission.answer)(owner, "openviking", is_agreed=True)
            with never_blocked():
                for route in sorted(walls.routes(), key=lambda one: one.name == "thread-delete"):  # last: it takes the thread away
                    for method in ("GET", "POST"):
                        client = AsyncClient()  # anew: some addresses end the session
                        await client.aforce_login(caller)
                        with self.subTest(route=route.template, method=method):
                            response = await self.call(client, method, route, {name: own[name] for name in route.ids})
                            if response.streaming:
                                _ = [part async for part in response]
                            assert response.status_code < 500
                for going in live.own_runs():
                    await launch.wait(going.run_id)
                await beat.shutdown()
            assert "/api/v1/fs/tree" in str(server.seen)
