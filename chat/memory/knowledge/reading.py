"""The worker's part: from a file to passages that answer, or to a code that says why not (DESIGN §3.10, §5 L4).

A worker may be killed at any line. Passages are stored some at a time and answer only once the document is ready, which
one transaction says at the end; a reading that is begun again drops what the one before has left. So none is lost or doubled.
"""

import contextlib
import logging
import time
from typing import Final

from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import F
from django.utils import timezone

from chat.documents import DocumentError, Extracted, Limits, extract
from chat.memory import calls
from chat.memory.base import Lease
from chat.memory.catch_up import Later
from chat.memory.knowledge import passages
from chat.models import Document, DocumentFile

log = logging.getLogger(__name__)
State = Document.State
TRIES_MOST: Final = 5  # readings that ended with their worker; then it is the file that is to blame
PROGRESS_SECONDS: Final = 1.0
MB: Final = 1024 * 1024


class Gone(Exception):
    """The document was deleted while it was read, or is not to be read any more."""


def read_document(document_id: str, lease: Lease) -> Later | None:
    """Reads a document that waits, and ends what an earlier reading has left over. Raises LeaseLost and Interrupted.

    A file that cannot be read fails with its code; any other trouble passes to the worker, which comes again later.
    """
    document = Document.objects.select_related("replaces").filter(pk=document_id).first()
    if document is None:
        return None
    with contextlib.suppress(Gone):
        if document.state in (State.WAITING, State.READING):
            _read(document, lease)
        if document.state == State.READY and document.replaces is not None:
            passages.take_out(document.replaces, lease, is_history=True)
    return None


def _read(document: Document, lease: Lease) -> None:
    if document.tries >= TRIES_MOST:
        log.error("Document %s ended its worker %d times", document.pk, document.tries)
        _fail(document, lease, "broken")
        return
    _update(document, state=State.READING, tries=F("tries") + 1, parts_done=0, parts_total=0)
    is_decided = False
    try:
        passages.take_out(document, lease, is_history=False)
        extracted = _extracted(document, lease)
        passages.add(document, extracted.pieces, lease)
        _be_ready(document, extracted, lease)
        is_decided = True
    except DocumentError as error:
        is_decided = True
        log.info("Document %s cannot be read: %s", document.pk, error.code)
        _fail(document, lease, error.code)
    finally:
        if not is_decided:
            with contextlib.suppress(DatabaseError):  # only a reading that ends with its worker counts
                Document.objects.filter(pk=document.pk, tries__gt=0).update(tries=F("tries") - 1)


def _extracted(document: Document, lease: Lease) -> Extracted:
    content = DocumentFile.objects.filter(document=document).values_list("content", flat=True).first()
    if content is None:
        raise Gone
    progress = _Progress(document, lease)
    extracted = extract(document.name, bytes(content), Limits(size=settings.DOCUMENT_MAX_MB * MB), progress)
    if not extracted.pieces:
        raise DocumentError("empty")
    return extracted


class _Progress:
    """Tells the page how far the reading is, about once a second, and ends it when it should not go on."""

    def __init__(self, document: Document, lease: Lease) -> None:
        self._document, self._lease = document, lease
        self._told_at = float("-inf")

    def __call__(self, done: int, total: int) -> None:
        calls.check()
        if time.monotonic() - self._told_at < PROGRESS_SECONDS and done < total:
            return
        self._told_at = time.monotonic()
        self._lease.renew()
        _update(self._document, parts_done=done, parts_total=total)


def _update(document: Document, **values: object) -> None:
    """Changes a document that is still to be read; raises Gone for any other."""
    if not Document.objects.filter(pk=document.pk, state__in=[State.WAITING, State.READING]).update(**values):
        raise Gone


def _be_ready(document: Document, extracted: Extracted, lease: Lease) -> None:
    """The one moment at which the new version answers and the one before no longer does."""
    with transaction.atomic():
        lease.renew()
        if document.replaces_id is not None:
            Document.objects.filter(pk=document.replaces_id).update(is_current=False)
        _update(
            document,
            state=State.READY,
            error_code="",
            tries=0,
            parts_total=F("parts_total") if extracted.pages is None else extracted.pages,
            parts_done=F("parts_total") if extracted.pages is None else extracted.pages,
            characters=extracted.characters,
            passage_count=len(extracted.pieces),
            is_current=True,
            ready_at=timezone.now(),
        )
    document.state = State.READY


def _fail(document: Document, lease: Lease, code: str) -> None:
    passages.take_out(document, lease, is_history=False)
    with transaction.atomic():
        lease.renew()
        _update(document, state=State.FAILED, error_code=code, tries=0)
