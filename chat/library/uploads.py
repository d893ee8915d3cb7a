"""Files that come in by a form: each is kept or refused by itself, and the others go on."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.library.cards import refusal_words
from chat.memory.knowledge.keep import DocumentRefused, add_document, replace_document
from chat.models import Document, Owner

UPLOADS_PER_MINUTE = 60
NAME_SHOWN_CHARS = 200

Keep = Callable[[str, bytes], Document]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one file. `document_id` is "" for a refused one, `code` for a kept one."""

    name: str
    words: str
    document_id: str = ""
    code: str = ""

    @property
    def is_kept(self) -> bool:
        return bool(self.document_id)


def receive(owner: Owner, files: Iterable[UploadedFile], *, agent_ids: Collection[str], is_school: bool) -> list[Outcome]:
    """Takes each file as a new document of the user, or of the school."""
    return [
        _take(owner, file, lambda name, data: add_document(owner, name=name, data=data, agent_ids=agent_ids, is_school=is_school))
        for file in files
    ]


def receive_version(owner: Owner, document_id: str, file: UploadedFile) -> Outcome:
    """Takes a file as the next version of a document."""
    return _take(owner, file, lambda name, data: replace_document(owner, document_id, name=name, data=data))


def _take(owner: Owner, file: UploadedFile, keep: Keep) -> Outcome:
    name = (file.name or "")[:NAME_SHOWN_CHARS]
    try:
        if (file.size or 0) > settings.DOCUMENT_MAX_MB * 1024 * 1024:
            raise DocumentRefused("too_large", limit_mb=settings.DOCUMENT_MAX_MB)
        if _is_fast(owner):
            raise DocumentRefused("too_fast")
        document = keep(name, file.read())
    except DocumentRefused as refused:
        return Outcome(name, refusal_words(refused.code, refused.values), code=refused.code)
    return Outcome(document.name, _("Uploaded. It is read in the background and can be used after that."), document.pk)


def _is_fast(owner: Owner) -> bool:
    since = timezone.now() - timedelta(minutes=1)
    return Document.objects.filter(uploaded_by_id=owner.user_id, created_at__gt=since).count() >= UPLOADS_PER_MINUTE
