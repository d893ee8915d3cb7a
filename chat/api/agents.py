"""`GET /agents`: the assistants that the caller may use, of all their schools."""

from django.contrib.auth.models import User
from django.http import HttpRequest, JsonResponse

from chat.api.answers import Json, json_answer
from chat.api.authentication import Caller
from chat.api.shapes import agent_json
from chat.models import Agent
from chat.runs.bridge import hop


async def list_agents(request: HttpRequest, caller: Caller) -> JsonResponse:
    return json_answer({"agents": await hop(_agents, caller.user)})


def _agents(user: User) -> list[Json]:
    found = Agent.objects.for_user(user).select_related("tenant", "provider").prefetch_related("modes")
    return [agent_json(agent) for agent in found]
