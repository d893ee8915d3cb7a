"""Twenty conversations, the end of their runs, and what recall has of them: `python -m tests.processes.recall_world VERB`.

make ROUNDS      conversations with so many runs each, of which the last is still going
end              ends those last runs, all at the same moment, as the web processes do
workers          forks a worker for each name on its standard input, and writes its process id (no interpreter has to start)
state            what there is in the end, as JSON
"""

import json
import sys
from datetime import timedelta

import django

django.setup()

from django.utils import timezone  # noqa: E402

from chat.memory.recall.entries import reindex  # noqa: E402
from chat.models import Owner, RecallEntry, Run, SearchIndex, Work  # noqa: E402
from tests import builders  # noqa: E402
from tests.processes.forking import end_runs, fork_workers  # noqa: E402

THREADS = 20


def make(rounds: int) -> None:
    user = builders.teacher(name="recalled")
    agent = builders.agent(builders.school_of(user))
    for number in range(THREADS):
        thread = builders.thread(user, agent, title=f"会话{number}")
        for place in range(rounds):
            is_last = place == rounds - 1
            builders.run(thread, f"第{number}会话第{place}问", f"第{place}答", status="running" if is_last else "completed")
        Work.objects.mark("thread", thread.pk)
    Run.objects.update(heartbeat_at=timezone.now() + timedelta(hours=1))  # no process beats for them


def state() -> dict[str, object]:
    entries = list(RecallEntry.objects.values_list("input", "tenant_id", "user_id", "number"))
    index = SearchIndex.objects.first()
    return {
        "inputs": sorted(one[0] for one in entries),
        "numbers": len({one[3] for one in entries}),
        "records": index.records if index else 0,
        "left": Work.objects.count(),
        "is_whole": not entries or reindex(Owner(entries[0][1], entries[0][2])),
    }


if __name__ == "__main__":
    verb, *rest = sys.argv[1:]
    if verb == "make":
        make(int(rest[0]))
    elif verb == "end":
        end_runs()
    elif verb == "workers":
        fork_workers()
    else:
        sys.stdout.write(json.dumps(state()))
