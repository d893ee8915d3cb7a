"""Erases documents: rows, files, passages, places in the index, and what ledgers tell of them, in one transaction."""

from collections.abc import Iterable

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from chat.memory.knowledge import passages
from chat.memory.ledger import blank_rows, telling_of
from chat.models import Document, Passage, Work


def erase(documents: Iterable[Document]) -> None:
    """Erases the documents. What takes long is looked up before the transaction, and looked at again inside it."""
    gone = list(documents)
    if not gone:
        return
    began_at = timezone.now()
    keys = [document.pk for document in gone]
    known = {document.pk: passages.counted(document) for document in gone}
    ledgers = telling_of(gone[0].tenant_id, gone[0].user_id, keys)
    with transaction.atomic():
        Document.objects.filter(pk__in=keys).update(name=F("name"))  # taken first: a reading of it that goes on has ended its step
        for document in gone:
            passages.remove(document, known[document.pk])
        told = set(Passage.objects.filter(document__in=keys).values_list("pk", flat=True))
        blank_rows([*ledgers, *telling_of(gone[0].tenant_id, gone[0].user_id, keys, since=began_at)], told)
        Work.objects.filter(kind=Work.Kind.DOCUMENT, subject_id__in=keys).delete()
        _close_gaps(keys)


def _close_gaps(keys: list[str]) -> None:
    """Deletes the rows; where one goes out of the middle of its versions, those beside it follow each other."""
    before = dict(Document.objects.filter(pk__in=keys).values_list("pk", "replaces_id"))
    after = list(Document.objects.filter(replaces__in=keys).exclude(pk__in=keys).values_list("pk", "replaces_id"))
    Document.objects.filter(pk__in=keys).delete()
    for key, replaced in after:
        Document.objects.filter(pk=key).update(replaces=before.get(replaced or ""))
