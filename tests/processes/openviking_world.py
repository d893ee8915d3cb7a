"""Teachers whose conversations go to a memory server, among killed processes: `python -m tests.processes.openviking_world VERB`.

make COUNT      so many teachers of one school with an assistant, who have agreed; prints their tokens and the assistant, as JSON
end ACCOUNT     does all that is left, whenever it had been put off to; prints what there is then, as JSON: each conversation,
                what it is called at the server, and what was said in it
"""

import json
import sys
import time

import django

django.setup()

from django.utils import timezone  # noqa: E402

from chat.jobs.worker import Worker  # noqa: E402
from chat.memory.backends.openviking import scope  # noqa: E402
from chat.memory.external import permission  # noqa: E402
from chat.memory.external.forgetting import scope_of  # noqa: E402
from chat.models import ApiToken, LayerState, Owner, RemoteGap, RemoteSession, Run, Thread, Work  # noqa: E402
from tests import builders  # noqa: E402

BACKEND = "openviking"
SETTLE_SECONDS = 60.0


def make(count: int) -> dict[str, object]:
    school = builders.tenant()
    agent = builders.agent(school)
    tokens = []
    for number in range(count):
        user = builders.teacher(school, f"remembered{number}")
        permission.answer(Owner(school.pk, user.pk, agent.pk), BACKEND, is_agreed=True)
        tokens.append(ApiToken.objects.issue(user, "test")[1])
    return {"agent": agent.pk, "tokens": tokens}


def settle() -> None:
    end = time.monotonic() + SETTLE_SECONDS
    while time.monotonic() < end:
        LayerState.objects.update(retry_at=timezone.now())
        Work.objects.update(due_at=timezone.now())
        Worker("last").drain()
        if not Work.objects.exists() and not RemoteSession.objects.filter(pending_tasks__gt=0).exists():
            return
        time.sleep(0.1)


def state(account: str) -> dict[str, object]:
    told = []
    for thread in Thread.objects.order_by("pk"):
        owned = scope_of(Owner(thread.tenant_id, thread.user_id, thread.agent_id))
        runs = Run.objects.filter(thread=thread, backend=BACKEND, status="completed").order_by("position")
        told.append(
            {
                "user": scope.identity_of(account, owned).user,
                "session": scope.session_of(account, owned, thread.pk),
                "said": [text for run in runs for text in (run.input, run.output) if text.strip()],
            }
        )
    left = list(Work.objects.values("kind", "attempts", "error_code"))
    return {"threads": told, "left": left, "gaps": RemoteGap.objects.count(), "runs": Run.objects.count()}


if __name__ == "__main__":
    verb, *rest = sys.argv[1:]
    if verb == "end":
        settle()
    sys.stdout.write(json.dumps(make(int(rest[0])) if verb == "make" else state(rest[0])))
