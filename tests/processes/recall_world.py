"""Twenty conversations whose runs end at once, and what recall has of them: `python -m tests.processes.recall_world make|state`."""

import json
import sys

import django

django.setup()

from django.db import transaction  # noqa: E402

from chat.memory.recall.entries import reindex  # noqa: E402
from chat.models import Owner, RecallEntry, SearchIndex, Work  # noqa: E402
from tests import builders  # noqa: E402

THREADS = 20


def make() -> None:
    user = builders.teacher(name="recalled")
    agent = builders.agent(builders.school_of(user))
    with transaction.atomic():
        for number in range(THREADS):
            thread = builders.thread(user, agent, title=f"会话{number}", summary_upto_slot=0)
            builders.run(thread, f"第{number}个问题", f"第{number}个回答")
            Work.objects.mark("thread", thread.pk)


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
    if sys.argv[1] == "make":
        make()
    else:
        sys.stdout.write(json.dumps(state()))
