"""Conversations in which a review of notes falls due, and what came of it: `python -m tests.processes.review_world VERB`.

make             two conversations of each teacher, whose tenth message is still going
end              ends those runs, all at the same moment, each twice
workers          forks a worker for each name on its standard input, and writes its process id
state            what there is in the end, as JSON
"""

import json
import sys
from datetime import timedelta
from functools import partial

import django

django.setup()

from django.utils import timezone  # noqa: E402

from chat.memory.notes import store  # noqa: E402
from chat.memory.notes.base import Place  # noqa: E402
from chat.models import LayerState, NoteOp, NoteReview, NoteTarget, Notice, Owner, Run, Thread, Work  # noqa: E402
from tests import builders  # noqa: E402
from tests.processes.forking import end_runs, fork_workers  # noqa: E402

TEACHERS, THREADS_EACH, ROUNDS = 3, 2, 10


def make() -> None:
    school = builders.tenant()
    agent = builders.agent(school, review_write="add")
    for teacher in range(TEACHERS):
        user = builders.teacher(school, f"teacher{teacher}")
        for number in range(THREADS_EACH):
            thread = builders.thread(user, agent, title=f"{teacher}之{number}")
            builders.run(thread, f"以后请附上第{teacher}之{number}号细目表")
            for place in range(2, ROUNDS + 1):
                builders.run(thread, f"第{place}问", status="running" if place == ROUNDS else "completed")
            for layer in ("core", "recall"):  # they have followed; only the review is looked at
                LayerState.objects.create(thread=thread, layer=layer, upto_slot=ROUNDS - 1)
    Run.objects.update(heartbeat_at=timezone.now() + timedelta(hours=1))  # no process beats for them


def state() -> dict[str, object]:
    threads = Thread.objects.order_by("title")
    reviews = NoteReview.objects.order_by("thread__title", "total")
    return {
        "reviews": [
            [one.thread.title, one.total, one.state, one.error_code, one.user_id, one.started_at.timestamp(), one.finished_at.timestamp()]
            for one in reviews.select_related("thread").exclude(finished_at=None)
        ],
        "open": reviews.filter(finished_at=None).count(),
        "totals": list(threads.values_list("review_total", flat=True)),
        "entries": [_entries(thread) for thread in threads],
        "ops": sorted(NoteOp.objects.filter(state="applied").values_list("request__content", flat=True)),
        "waiting": NoteOp.objects.filter(state="staged").count(),
        "notices": sorted(Notice.objects.values_list("thread__title", flat=True)),
        "left": Work.objects.count(),
    }


def _entries(thread: Thread) -> list[str]:
    owner = Owner(thread.tenant_id, thread.user_id, thread.agent_id)
    return list(store.look(Place(owner, NoteTarget.MEMORY)).entries)


if __name__ == "__main__":
    verb = sys.argv[1]
    if verb == "state":
        sys.stdout.write(json.dumps(state()))
    else:
        {"make": make, "end": partial(end_runs, 2), "workers": fork_workers}[verb]()
