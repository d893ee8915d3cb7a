"""Many at once on one database; run as a program it makes its own tables, whatever the migrations say.

`tables`                makes them
`tabs`                  31 candidates are confirmed at once, while a worker learns; prints what came of it
`talk THREADS ROUNDS`   conversations in which five things are said again and again
`work NAME`             a worker, until nothing is left or it is killed
`lists`                 prints how long the lists are
"""

import json
import sys
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import django

if __name__ == "__main__":
    django.setup()

from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import connection

from chat.jobs.worker import Worker
from chat.memory.catch_up import settle
from chat.memory.core import decide
from chat.models import Candidate, CoreEvent, Decision, Fact, LayerState, Work
from tests import builders
from tests.fakes import scripted
from tests.memory.answering import FreeLease
from tests.memory.core.talking import Learner, answer, thread

FIVE = ("我教高二物理", "我喜欢用表格", "以后请先讲例题", "我常用教室305", "I teach grade 11")
TABS = 31


def confirm_at_once() -> dict[str, Any]:
    """As many tabs as there are candidates, and a worker: what each was told, and what is there afterwards."""
    talk = thread()
    user = talk.user
    ids = [builders.candidate(user, f"事实{i}").pk for i in range(TABS)]
    for i in range(5):
        builders.run(talk, f"我喜欢表格{i}")
    told: list[Any] = []
    start = threading.Barrier(TABS + 1)

    def tab(key: str) -> None:
        try:
            start.wait(30)
            told.extend(decide.confirm(user, [key]))
        except Exception as error:  # noqa: BLE001
            told.append(repr(error))
        finally:
            connection.close()

    tabs = [threading.Thread(target=tab, args=(key,)) for key in ids]
    for one in tabs:
        one.start()
    start.wait(30)
    with scripted(Learner(lambda said: answer(said, kind="profile"))):
        settle(talk.pk, FreeLease())
    for one in tabs:
        one.join()
    facts = Counter(Fact.objects.values_list("status", flat=True))
    found = {
        "outcomes": dict(Counter(one.outcome if isinstance(one, decide.Result) else one for one in told)),
        "evicted": sum(bool(one.evicted_id) for one in told if isinstance(one, decide.Result)),
        "facts": dict(facts),
        "candidates": dict(Counter(Candidate.objects.values_list("status", flat=True))),
        "by_nobody": Fact.objects.filter(status="confirmed", decision=None).count(),
        "upto": LayerState.objects.get(layer="core").upto_slot,
    }
    [evicting] = [one for one in told if isinstance(one, decide.Result) and one.evicted_id]
    found["undo"] = decide.undo(user, evicting.decision_id).outcome
    found["after"] = dict(Counter(Fact.objects.values_list("status", flat=True)))
    return found


def make_tables() -> None:
    settings.MIGRATION_MODULES = {app.label: None for app in apps.get_app_configs()}
    call_command("migrate", run_syncdb=True, verbosity=0)


def talk_much(threads: str, rounds: str) -> None:
    first = thread()
    talks = [first, *(builders.thread(first.user, first.agent) for _ in range(int(threads) - 1))]
    for number in range(int(rounds)):
        for talk in talks:
            builders.run(talk, FIVE[number % len(FIVE)])
    for talk in talks:
        Work.objects.mark(Work.Kind.THREAD, talk.pk)


def work(name: str) -> None:
    with scripted(Learner(lambda said: answer(said, f"{said}。", f" {said}！", kind="profile"))):
        Worker(name).drain()


def lists() -> dict[str, Any]:
    return {
        "candidates": sorted(Candidate.objects.values_list("text", "seen")),
        "facts": Fact.objects.count(),
        "proposed": CoreEvent.objects.filter(verb="proposed").count(),
        "decisions": Decision.objects.count(),
        "left": Work.objects.count(),
    }


COMMANDS: dict[str, Callable[..., Any]] = {
    "tables": make_tables,
    "tabs": confirm_at_once,
    "talk": talk_much,
    "work": work,
    "lists": lists,
}

if __name__ == "__main__":
    print(json.dumps(COMMANDS[sys.argv[1]](*sys.argv[2:])))  # noqa: T201
