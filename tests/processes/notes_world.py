"""A teacher's notes, written by several processes: `python -m tests.processes.notes_world VERB`.

make                          a teacher with an assistant
write NAME COUNT [SECONDS]    so many changes of entries of its own (0: as many as the seconds allow), then what came of it, as JSON
add NAME COUNT                adds so many entries, then what came of it, as JSON
writers                       forks a writer for each name on its standard input; a writer tells each change that was done on a line
state                         what there is in the end, as JSON
"""

import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import NoReturn

import django

django.setup()

from django.contrib.auth.models import User  # noqa: E402
from django.db import connection  # noqa: E402

from chat.memory.notes import store  # noqa: E402
from chat.memory.notes.base import Author, Place, Write  # noqa: E402
from chat.models import Agent, NoteOp, NoteTarget, Owner  # noqa: E402
from chat.text import threats  # noqa: E402
from tests import builders  # noqa: E402
from tests.memory.notes.world import replayed  # noqa: E402

OWN_MOST = 8  # entries of one writer; all of them stay within the budget
AUTHOR = Author(NoteOp.Origin.TOOL)


def place() -> Place:
    agent = Agent.objects.get()
    return Place(Owner(agent.tenant_id, User.objects.get().pk, agent.pk), NoteTarget.MEMORY)


def additions(name: str, count: int) -> Iterator[Write]:
    for number in range(count):
        yield Write("add", content=f"{name}-{number}")


def changes(name: str) -> Iterator[Write]:
    """Adds, changes and removes entries that nobody else touches."""
    own: list[str] = []
    for number in range(10**9):
        entry = f"{name}-{number}"
        if len(own) >= OWN_MOST:
            yield Write("remove", old_text=own.pop(0))
        elif own and number % 3 == 2:
            old, own[-1] = own[-1], entry
            yield Write("replace", content=entry, old_text=old)
        else:
            own.append(entry)
            yield Write("add", content=entry)


def do(where: Place, asked: Write) -> tuple[int, float]:
    """Does it, however often it has to wait; how often that was, and how long the longest try took."""
    busy, slowest = 0, 0.0
    while True:
        began = time.monotonic()
        result = store.write(where, asked, AUTHOR)
        slowest = max(slowest, time.monotonic() - began)
        if result.is_done:
            assert result.payload["changed"]
            return busy, slowest
        assert result.code == "busy", result
        busy += 1


def write(work: Iterator[Write], count: int = 0, seconds: float = 0.0) -> dict[str, object]:
    where, figures = place(), Counter[str]()
    kept: list[str] = []
    slowest, end = 0.0, time.monotonic() + seconds
    for asked in work:
        if (count and figures["done"] >= count) or (seconds and time.monotonic() >= end):
            break
        busy, took = do(where, asked)
        slowest = max(slowest, took)
        figures.update(done=1, busy=busy)
        kept = [one for one in kept if one != asked.old_text] + ([asked.content] if asked.content else [])
    return {"kept": kept, "slowest": round(slowest, 3), "done": figures["done"], "busy": figures["busy"]}


def writers() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the killed
    connection.close()
    for line in sys.stdin:
        child = os.fork()
        if not child:
            write_for_ever(line.strip())
        tell(child)


def write_for_ever(name: str) -> NoReturn:
    where = place()
    for asked in changes(name):
        do(where, asked)
        tell({"old": asked.old_text, "new": asked.content})
    os._exit(0)


def tell(what: object) -> None:
    """A line at once and whole, also when several processes write to the same pipe."""
    os.write(sys.stdout.fileno(), f"{json.dumps(what)}\n".encode())


def state() -> dict[str, object]:
    where = place()
    result = store.write(where, Write("add", content="最后一条"), AUTHOR)
    entries = list(store.look(where).entries)
    ops = list(NoteOp.objects.order_by("created_at", "pk"))
    return {"entries": entries, "ops": len(ops), "is_free": result.is_done, "log": replayed(ops) == entries}


if __name__ == "__main__":
    verb, *rest = sys.argv[1:]
    threats.warm_up()  # as every process of the product does; a forked writer has it from its parent
    if verb == "make":
        builders.agent(builders.school_of(builders.teacher(name="noted")))
    elif verb == "write":
        tell(write(changes(rest[0]), int(rest[1]), float(rest[2]) if rest[2:] else 0.0))
    elif verb == "add":
        tell(write(additions(rest[0], int(rest[1]))))
    elif verb == "writers":
        writers()
    else:
        tell(state())
