"""Teachers of two schools on the database of a cluster: `python -m tests.openviking.cluster_world VERB`, which prints JSON.

make                     who talks: a teacher of each school, one of both, and one who has not agreed
state ACCOUNT            what there is of each conversation (tests.processes.openviking_world), and how much is still to be done
forget SCHOOL TEACHER    everything of a teacher is asked to be forgotten
told RUN                 what the memory backend told with a question
"""

import json
import sys
from typing import Any

from tests.processes import openviking_world as world  # sets Django up

from chat.memory.backends.openviking import scope  # isort: skip
from chat.memory.external import permission  # isort: skip
from chat.memory.external.forgetting import ask_everything, scope_of  # isort: skip
from chat.models import ApiToken, Membership, Owner, RemoteScope, RemoteSession, RunLedger, Work  # isort: skip
from tests import builders  # isort: skip

WORDS = ["marmot", "badger", "otter", "heron", "lynx"]


def make(account: str) -> list[dict[str, Any]]:
    schools = [builders.tenant(), builders.tenant()]
    agents = [builders.agent(school) for school in schools]
    first, second, both, silent = [builders.teacher(school, f"cluster{at}") for at, school in enumerate([*schools, schools[0], schools[0]])]
    Membership.objects.create(tenant=schools[1], user=both)
    told = []
    for word, (user, at) in zip(WORDS, [(first, 0), (second, 1), (both, 0), (both, 1), (silent, 0)], strict=True):
        owner = Owner(schools[at].pk, user.pk, agents[at].pk)
        if user != silent:
            permission.answer(owner, world.BACKEND, is_agreed=True)
        told.append(
            {
                "word": word,
                "school": schools[at].pk,
                "teacher": user.pk,
                "agent": agents[at].pk,
                "token": ApiToken.objects.issue(user, f"test {at}")[1],
                "user": scope.identity_of(account, scope_of(owner)).user,
                "has_agreed": user != silent,
            }
        )
    return told


def state(account: str) -> dict[str, Any]:
    going = RemoteSession.objects.filter(pending_tasks__gt=0).count() + RemoteScope.objects.filter(forget_asked_at__isnull=False).count()
    return world.state(account) | {"going": going + Work.objects.count()}


def told(run_id: str) -> str:
    segments = RunLedger.objects.get(run=run_id).segments
    return "\n".join(segment["text"] for segment in segments if segment["name"] == "external")


if __name__ == "__main__":
    verb, *rest = sys.argv[1:]
    if verb == "forget":
        ask_everything(rest[0], int(rest[1]))
    sys.stdout.write(json.dumps({"make": make, "state": state, "told": told}[verb](rest[0]) if verb != "forget" else {}))
