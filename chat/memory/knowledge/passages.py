"""Passages and their places in the owner's search index, always written together.

Terms are counted before a transaction begins and a transaction takes some passages at a time, so that the lock of SQLite
is never held for long while chats are written.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from django.db import transaction

from chat.documents.base import Piece
from chat.memory import calls
from chat.memory.base import Lease
from chat.models import Document, Passage, SearchIndex
from chat.search.index import Record, Writer, build, record_of, writing

KIND: Final = SearchIndex.Kind.KNOWLEDGE
HEADING_CHARS: Final = 300
AT_ONCE: Final = 25  # a tenth of a second under the lock
REST_SECONDS_MOST: Final = 0.5


def record(document: Document, heading: str, text: str) -> Record:
    """What a passage is found by: its words, the headings above it and the name of the file."""
    name = document.name.rpartition(".")[0]
    return record_of(f"{name}\n{heading}\n{text}", document.pk)


def add(document: Document, pieces: Sequence[Piece], lease: Lease) -> None:
    """Stores the pieces as the document's passages, in order. They do not answer before the document is ready."""
    for start in range(0, len(pieces), AT_ONCE):
        some = pieces[start : start + AT_ONCE]
        passages = [
            Passage(document=document, position=position, heading=piece.heading[:HEADING_CHARS], page=piece.page, text=piece.text)
            for position, piece in enumerate(some, start=start + 1)
        ]
        records = [record(document, passage.heading, passage.text) for passage in passages]
        with _turn():
            lease.renew()
            if not Document.objects.filter(pk=document.pk, state=Document.State.READING).update(passage_count=start + len(some)):
                return  # deleted meanwhile
            with writing(document.tenant_id, document.user_id, KIND) as writer:
                for passage, one in zip(passages, records, strict=True):
                    passage.index, passage.number = writer.index, writer.add(one)
                Passage.objects.bulk_create(passages)


def take_out(document: Document, lease: Lease, *, is_history: bool) -> None:
    """Takes the document's passages out of the index; they stay as rows when they are history."""
    while some := list(Passage.objects.filter(document=document, index__isnull=False).order_by("position")[:AT_ONCE]):
        records = [record(document, passage.heading, passage.text) for passage in some]
        with _turn():
            lease.renew()
            _remove(document, zip(some, records, strict=True))
            rows = Passage.objects.filter(pk__in=[passage.pk for passage in some])
            if is_history:
                rows.update(index=None, number=None)
            else:
                rows.delete()


@contextmanager
def _turn() -> Iterator[None]:
    """A transaction, and then as long a rest: whoever waits for the lock of SQLite looks only now and then whether it is free."""
    began_at = time.monotonic()
    with transaction.atomic():
        yield
    time.sleep(min(REST_SECONDS_MOST, time.monotonic() - began_at))
    calls.check()


def counted(document: Document) -> list[tuple[Passage, Record]]:
    """The document's passages in the index with what they are found by; to be asked before the transaction that removes them."""
    passages = Passage.objects.filter(document=document, index__isnull=False).order_by("position")
    return [(passage, record(document, passage.heading, passage.text)) for passage in passages]


def remove(document: Document, known: Sequence[tuple[Passage, Record]]) -> None:
    """Takes all passages of a document out of the index; inside a transaction, which deletes the rows."""
    there = set(Passage.objects.filter(document=document, index__isnull=False).values_list("pk", flat=True))
    fresh = there.difference(passage.pk for passage, _ in known)
    late = [(one, record(document, one.heading, one.text)) for one in Passage.objects.filter(pk__in=fresh)] if fresh else []
    wanted = [*((passage, one) for passage, one in known if passage.pk in there), *late]
    if wanted:
        _remove(document, wanted)


def _remove(document: Document, known: Iterable[tuple[Passage, Record]]) -> None:
    with writing(document.tenant_id, document.user_id, KIND) as writer:
        writer.remove_all({passage.number: one for passage, one in known if passage.number is not None})


def _number_lost(writer: Writer, tenant_id: str, user_id: int | None) -> int:
    """Gives passages that should answer a place when their index was deleted; returns how many."""
    answering = Document.objects.of(tenant_id, user_id).filter(is_current=True, state=Document.State.READY)
    lost = Passage.objects.filter(document__in=answering, index=None).select_related("document").order_by("document_id", "position")
    for passage in lost:
        passage.index = writer.index
        passage.number = writer.add(record(passage.document, passage.heading, passage.text))
        passage.save(update_fields=["index", "number"])
    return len(lost)


def reindex(tenant_id: str, user_id: int | None) -> bool:
    """Builds the knowledge index of a teacher, or of the school, anew; returns whether it was as it should be."""
    with transaction.atomic():
        with writing(tenant_id, user_id, KIND) as writer:  # taken before anything is read
            lost = _number_lost(writer, tenant_id, user_id)
        passages = Passage.objects.filter(document__in=Document.objects.of(tenant_id, user_id), index__isnull=False)
        numbered = passages.select_related("document").order_by("number")
        records = [(one.number or 0, record(one.document, one.heading, one.text)) for one in numbered]
        return build(tenant_id, user_id, KIND, records) and not lost
