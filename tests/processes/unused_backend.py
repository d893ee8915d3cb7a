"""A whole turn and the panel with the built-in backend, in a process of its own: prints the modules of other backends, as JSON.

`python -m tests.processes.unused_backend`
"""

import asyncio
import json
import sys

import django

django.setup()

from asgiref.sync import sync_to_async  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.test import AsyncClient  # noqa: E402

from chat.jobs.worker import Worker  # noqa: E402
from chat.models import Agent, Run  # noqa: E402
from chat.runs import beat, launch, live  # noqa: E402
from memoryapp.asgi import application  # noqa: E402
from tests import builders  # noqa: E402

PAGES = ["/", "/memory/", "/memory/backend/", "/settings/", "/search/?q=试卷", "/metrics", "/healthz"]


def world() -> tuple[object, Agent]:
    call_command("migrate", verbosity=0)
    user = builders.teacher()
    return user, builders.agent(builders.school_of(user))


async def turn() -> None:
    user, agent = await sync_to_async(world)()
    browser = AsyncClient()
    await browser.aforce_login(user)
    for text in ("我喜欢简答题。", "我喜欢哪种题？"):
        response = await browser.post(f"/chat/{agent.pk}/send", {"input": text, "key": text})
        assert response.status_code == 303, response.content
        for going in live.own_runs():
            await launch.wait(going.run_id)
        await sync_to_async(Worker("w").drain)()
    for page in PAGES:
        assert (await browser.get(page)).status_code < 500, page
    assert await Run.objects.filter(status="completed").acount() == 2
    await beat.shutdown()


assert application
asyncio.run(turn())
sys.stdout.write(json.dumps(sorted(name for name in sys.modules if name.startswith("chat.memory.backends."))))
