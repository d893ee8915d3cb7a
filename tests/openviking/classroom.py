"""Teachers who talk to assistants by the API, a worker that delivers, and a model that keeps what it was told."""

import json
import time

from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import AsyncClient
from django.utils import timezone

from chat.jobs.worker import Worker
from chat.memory.backends.openviking import scope
from chat.memory.external import chosen, permission
from chat.memory.external.forgetting import scope_of
from chat.models import Agent, ApiToken, LayerState, Membership, Owner, RemoteSession, Run, Tenant, Work
from tests import builders
from tests.fakes import ScriptedProvider

BACKEND = "openviking"
SETTLE_SECONDS = 90.0
LOOK_SECONDS = 0.25


class Classroom:
    """Built inside `in_force(server)` and `scripted(room.model)`."""

    def __init__(self) -> None:
        self.model = ScriptedProvider(["好的。"])
        self._tokens: dict[int, str] = {}

    # Who there is.

    def school(self) -> tuple[Tenant, Agent]:
        school = builders.tenant()
        return school, self.assistant(school)

    def assistant(self, school: Tenant) -> Agent:
        provider = school.providers.first() or builders.provider(school, kind="openai", base_url="http://127.0.0.1:1/v1")
        return builders.agent(school, provider=provider)

    def teacher(self, *schools: Tenant) -> User:
        """A teacher of one school or of several."""
        user = builders.teacher(schools[0])
        for school in schools[1:]:
            Membership.objects.create(tenant=school, user=user)
        return user

    def agree(self, user: User, agent: Agent) -> None:
        permission.answer(self.owner(user, agent), BACKEND, is_agreed=True)

    def owner(self, user: User, agent: Agent) -> Owner:
        return Owner(agent.tenant_id, user.pk, agent.pk)

    # What they do.

    async def ask(self, user: User, agent: Agent, text: str, thread_id: str = "", **more: object) -> Run:
        """A message, and its run when it has ended; without a thread a new one."""
        headers = {"Authorization": f"Bearer {await sync_to_async(self._token)(user)}"}
        body = {"input": text} | ({"thread_id": thread_id} if thread_id else {}) | more
        response = await AsyncClient().post(f"/agents/{agent.pk}/run", json.dumps(body), content_type="application/json", headers=headers)
        assert response.status_code == 200, response.content
        return await Run.objects.aget(pk=response.json()["run_id"])

    def _token(self, user: User) -> str:
        if user.pk not in self._tokens:
            self._tokens[user.pk] = ApiToken.objects.issue(user, "test")[1]
        return self._tokens[user.pk]

    def told(self, at: int = -1) -> str:
        """What the model was told with a question, without the question itself, which stands at the end."""
        asked = [request for request in self.model.requests if request.purpose == "answer"][at]
        return "\n".join(message["content"] for message in asked.messages).rpartition("\n")[0]

    async def work(self) -> None:
        """Lets the worker do all that is there, whenever it had been put off to."""
        await sync_to_async(drain)()

    async def settled(self) -> None:
        """The same until no task is waited for any more."""
        end = time.monotonic() + SETTLE_SECONDS
        while True:
            await self.work()
            if not await Work.objects.aexists() and not await RemoteSession.objects.filter(pending_tasks__gt=0).aexists():
                return
            assert time.monotonic() < end, [row async for row in Work.objects.values()]
            await pause()

    async def remembers(self, user: User, agent: Agent, question: str, word: str) -> Run:
        """Waits until the word can be found (a finished task is not searchable at once), then asks in a new thread."""
        manager, owned = chosen.manager(BACKEND), scope_of(self.owner(user, agent))
        end = time.monotonic() + SETTLE_SECONDS
        while not any(word in item.content for item in await manager.search(owned, question, limit=20)):
            assert time.monotonic() < end, word
            await pause()
        run = await self.ask(user, agent, question)
        assert word in self.told(), (run.backend_code, self.told())
        return run


def drain() -> None:
    now = timezone.now()
    LayerState.objects.update(retry_at=now)
    Work.objects.update(due_at=now)
    Worker("w").drain()


async def pause() -> None:
    """A server has no way to say when it is done."""
    await sync_to_async(time.sleep)(LOOK_SECONDS)


def session_of(account: str, user: User, agent: Agent, thread_id: str) -> tuple[str, str]:
    """How the conversation is called at the server: user and session."""
    owned = scope_of(Owner(agent.tenant_id, user.pk, agent.pk))
    return scope.identity_of(account, owned).user, scope.session_of(account, owned, thread_id)
