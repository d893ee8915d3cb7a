"""How long a read of knowledge takes, and what reading and deleting hold the lock for: `python -m tests.bench.knowledge [PASSAGES]`.

A teacher and a school with so many passages each (default 5000) in documents of 50, all used by one assistant, in a database of
its own. DATABASE_URL chooses the database.
"""

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryapp.settings")
os.environ.setdefault("DATA_DIR", tempfile.mkdtemp(prefix="knowledge-"))
os.environ.setdefault("SECRET_KEY", "only-for-measuring")
django.setup()

from django.core.management import call_command
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from chat.documents import Piece
from chat.memory.base import Turn
from chat.memory.knowledge import passages
from chat.memory.knowledge.keep import add_document, delete_document
from chat.memory.knowledge.shelf import documents_of
from chat.memory.layers.knowledge import KnowledgeLayer
from chat.models import Document, Owner
from tests import builders
from tests.bench.recall import measure, text

PASSAGES_A_DOCUMENT = 50
CHARS = 450
TIMES = 200


class Free:
    def renew(self) -> None:
        """Nobody else is there."""


@contextmanager
def longest_lock() -> Iterator[list[float]]:
    """Seconds of the transactions inside, from the first statement to the commit."""
    spent: list[float] = []

    @contextmanager
    def timed() -> Iterator[None]:
        began = time.process_time()
        with transaction.atomic():
            yield
        spent.append(time.process_time() - began)

    passages.transaction = SimpleNamespace(atomic=timed)
    try:
        yield spent
    finally:
        passages.transaction = transaction


def store(owner: Owner, agent_id: str, number: int, count: int, *, is_school: bool) -> Document:
    name = f"资料{number}.md"
    document = add_document(owner, name=name, data=f"{number} {is_school}".encode(), agent_ids=[agent_id], is_school=is_school)
    Document.objects.filter(pk=document.pk).update(state=Document.State.READING)
    passages.add(document, [Piece(text(CHARS), "第一章 > 第一节", page) for page in range(1, count + 1)], Free())
    Document.objects.filter(pk=document.pk).update(state=Document.State.READY)
    return document


def main(count: int) -> None:
    call_command("migrate", verbosity=0)
    school = builders.tenant()
    user, agent = builders.teacher(school, name=f"reader{os.getpid()}", role="admin"), builders.agent(school)
    owner = Owner(school.pk, user.pk, agent.pk)
    passages.REST_SECONDS_MOST = 0.0
    began = time.process_time()
    with longest_lock() as locks:
        for number in range(count // PASSAGES_A_DOCUMENT):
            for is_school in (False, True):
                store(owner, agent.pk, number, PASSAGES_A_DOCUMENT, is_school=is_school)
    told = f"stored {2 * count} passages in {len(locks)} steps, {(time.process_time() - began) / count / 2 * 1_000:.1f} ms of CPU each"
    print(f"{told}; a step holds the lock for {sorted(locks)[len(locks) // 2] * 1_000:.0f} ms, at most {max(locks) * 1_000:.0f} ms of CPU")
    layer, questions = KnowledgeLayer(), [text(20) for _ in range(TIMES)]
    turns = [Turn(owner, agent, None, None, [], 0, question, documents=documents_of(owner)) for question in questions]
    layer.read(turns[0], 2_000)
    with CaptureQueriesContext(connection) as queries:
        layer.read(turns[1], 2_000)
    waiting = iter(turns)
    print(f"a read of {2 * count} passages: {len(queries)} queries, {measure(lambda: layer.read(next(waiting), 2_000), TIMES)} ms")
    long = store(owner, agent.pk, count, 3_000, is_school=False)
    began = time.process_time()
    delete_document(owner, long.pk)
    print(f"deleted a document of 3000 passages in {time.process_time() - began:.2f} s of CPU")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5_000)
