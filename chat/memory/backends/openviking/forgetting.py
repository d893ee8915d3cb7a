"""Everything of a user, or what is kept of a conversation, is deleted at the server.

What a task has found is written up to 10 s later, also when the task was cancelled meanwhile (seen with 0.5.2: four files came
back 7 s after everything was deleted). What has been stopped or has ended just now is found in the server's own list of tasks, so
any process can go on with what another began.
"""

import time
from collections.abc import Sequence
from typing import Final

from chat.memory.backends.openviking.client import OpenVikingClient
from chat.memory.backends.openviking.models import Task
from chat.memory.backends.openviking.scope import Identity

ACTIVE: Final = ("pending", "running", "cancelling")
# The server's batching window of 10 s, and as much again for a server that is busy.
SETTLING_SECONDS: Final = 20.0


async def forget_user(client: OpenVikingClient, identity: Identity) -> bool:
    """True when nothing of the user is left and nothing can come any more; False when it is to be asked again."""
    await _stop_tasks(client, identity)
    for session_id in await client.list_sessions(identity):
        await client.delete_session(identity, session_id)
    await client.delete_memories(identity)
    is_settled = _is_settled(await client.list_tasks(identity))
    return is_settled and not await client.list_sessions(identity) and not await client.list_memories(identity)


async def forget_session(client: OpenVikingClient, identity: Identity, session_id: str) -> bool:
    """True when the conversation is deleted there and nothing is being made of it any more."""
    await _stop_tasks(client, identity, session_id)
    await client.delete_session(identity, session_id)
    return not any(task.is_active for task in await client.list_tasks(identity, session_id))


async def _stop_tasks(client: OpenVikingClient, identity: Identity, session_id: str = "") -> None:
    for status in ACTIVE[:2]:
        for task in await client.list_tasks(identity, session_id, status):
            await client.cancel_task(identity, task.task_id)


def _is_settled(tasks: Sequence[Task]) -> bool:
    return not any(task.is_active or abs(time.time() - task.updated_at) < SETTLING_SECONDS for task in tasks)
