"""What people do with documents: add, replace, choose assistants, read again, delete (DESIGN §5 L4).

Each function is for the person of `owner`: their own documents, and as an administrator of the school those of the
school. Anything else is `not_found`, as if it did not exist. What is refused changes nothing.
"""

import hashlib
import unicodedata
from collections.abc import Collection, Mapping
from pathlib import PurePosixPath
from typing import Final

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import F, Q, QuerySet, Sum

from chat.documents.base import FORMATS
from chat.memory.knowledge.erasing import erase
from chat.models import Agent, Document, DocumentFile, Membership, Owner, Tenant, Work
from chat.text.storable import storable

NAME_CHARS: Final = 200
MB: Final = 1024 * 1024
UNFINISHED: Final = (Document.State.WAITING, Document.State.READING)


class DocumentRefused(Exception):
    """A change of the knowledge base that is not done. `code` says why; `values` are what the words of a page need.

    not_found           there is no such document for this person
    not_administrator   only administrators of the school write its documents
    agent_unknown       an assistant that the person cannot use, or of another school
    name_invalid        no file name
    unsupported         {formats}: the name does not end like one of them
    empty               no bytes
    too_large           {limit_mb}
    same_file           {document_id, name}: the owner has these bytes already
    too_many_documents  {limit}
    school_full         {limit_mb}: all documents of the school together
    not_current         only the version that counts can be replaced
    not_failed          only what could not be read is read again
    """

    def __init__(self, code: str, **values: str | int) -> None:
        super().__init__(code)
        self.code = code
        self.values: Mapping[str, str | int] = values


def add_document(owner: Owner, *, name: str, data: bytes, agent_ids: Collection[str] = (), is_school: bool = False) -> Document:
    """Stores a new document, which the worker reads; with `is_school` one of the school. Raises DocumentRefused."""
    _check_member(owner, must_be_administrator=is_school)
    name = _checked(name, data)
    agents = _agents(owner, agent_ids)
    user_id = None if is_school else owner.user_id
    with transaction.atomic():
        _take_school(owner.tenant_id)
        _check_room(owner.tenant_id, user_id, data)
        document = _store(Document(tenant_id=owner.tenant_id, user_id=user_id, uploaded_by_id=owner.user_id), name, data)
        document.agents.set(agents)
    return document


def replace_document(owner: Owner, document_id: str, *, name: str, data: bytes) -> Document:
    """Stores a new version for the same assistants; the one before answers until it is ready. Raises DocumentRefused.

    A newer version that is not ready, because it waits or could not be read, gives way to this one.
    """
    name = _checked(name, data)
    with transaction.atomic():
        _take_school(owner.tenant_id)
        before = writable(owner, document_id)
        if not Document.objects.filter(pk=before.pk, is_current=True).update(is_current=True):  # taken: no version becomes ready now
            raise DocumentRefused("not_current")
        erase(Document.objects.filter(replaces=before))
        _check_room(before.tenant_id, before.user_id, data, is_new=False)
        document = Document(
            tenant_id=before.tenant_id,
            user_id=before.user_id,
            uploaded_by_id=owner.user_id,
            replaces=before,
            version=before.version + 1,
            is_current=False,
        )
        _store(document, name, data)
        document.agents.set(before.agents.all())
    return document


def set_agents(owner: Owner, document_id: str, agent_ids: Collection[str]) -> None:
    """Chooses the assistants that use the document; those that the person cannot see stay as they are. Raises DocumentRefused."""
    with transaction.atomic():
        document = writable(owner, document_id)
        hidden = document.agents.exclude(pk__in=_usable(owner).values("pk"))
        kept = [*_agents(owner, agent_ids), *hidden]
        for version in Document.objects.filter(Q(pk=document.pk) | Q(replaces=document)):
            version.agents.set(kept)


def retry_document(owner: Owner, document_id: str) -> None:
    """Has a document that could not be read read again. Raises DocumentRefused."""
    with transaction.atomic():
        document = writable(owner, document_id)
        failed = Document.objects.filter(pk=document.pk, state=Document.State.FAILED)
        if not failed.update(state=Document.State.WAITING, error_code="", tries=0, parts_done=0, parts_total=0):
            raise DocumentRefused("not_failed")
        Work.objects.mark(Work.Kind.DOCUMENT, document.pk)


def delete_document(owner: Owner, document_id: str) -> None:
    """Deletes a document at once: file, passages, its places in the index, and its words in ledgers. Raises DocumentRefused.

    With the version that counts all others go; another version goes alone.
    """
    document = writable(owner, document_id)
    erase(versions(document) if document.is_current else Document.objects.filter(pk=document.pk))


def writable(owner: Owner, document_id: str) -> Document:
    """The document, if the person may change it. Raises DocumentRefused."""
    is_administrator = _check_member(owner)
    found = Document.objects.owned_by(owner)
    if is_administrator:
        found = Document.objects.visible_to(owner)
    document = found.filter(pk=document_id).first()
    if document is None:
        raise DocumentRefused("not_found")
    return document


def versions(document: Document) -> QuerySet[Document]:
    """All versions of a document, the newest first."""
    keys, older, newer = [document.pk], document.replaces, Document.objects.filter(replaces=document).first()
    while older is not None:
        keys.append(older.pk)
        older = older.replaces
    while newer is not None:
        keys.append(newer.pk)
        newer = Document.objects.filter(replaces=newer).first()
    return Document.objects.filter(pk__in=keys).order_by("-version")


def _check_member(owner: Owner, *, must_be_administrator: bool = False) -> bool:
    """Whether the person is an administrator of the school; one who is no member of it finds nothing there."""
    role = Membership.objects.filter(tenant_id=owner.tenant_id, user_id=owner.user_id).values_list("role", flat=True).first()
    if role is None:
        raise DocumentRefused("not_found")
    if must_be_administrator and role != Membership.Role.ADMIN:
        raise DocumentRefused("not_administrator")
    return role == Membership.Role.ADMIN


def _checked(name: str, data: bytes) -> str:
    """The name as it is kept; what can be said of a file before it is read."""
    name = unicodedata.normalize("NFC", storable(name)).replace("\\", "/")
    name = "".join(char for char in PurePosixPath(name).name if unicodedata.category(char)[0] != "C").strip()
    stem, dot, ending = name.rpartition(".")
    if not stem.strip():
        raise DocumentRefused("name_invalid" if not name or dot else "unsupported", formats=" ".join(FORMATS))
    if ending.lower() not in FORMATS:
        raise DocumentRefused("unsupported", formats=" ".join(FORMATS))
    if not data:
        raise DocumentRefused("empty")
    if len(data) > settings.DOCUMENT_MAX_MB * MB:
        raise DocumentRefused("too_large", limit_mb=settings.DOCUMENT_MAX_MB)
    return f"{stem[: NAME_CHARS - 1 - len(ending)]}.{ending}"


def _usable(owner: Owner) -> QuerySet[Agent]:
    return Agent.objects.for_user(get_user_model()(pk=owner.user_id)).filter(tenant_id=owner.tenant_id)


def _agents(owner: Owner, agent_ids: Collection[str]) -> list[Agent]:
    wanted = set(agent_ids)
    found = list(_usable(owner).filter(pk__in=wanted)) if wanted else []
    if len(found) != len(wanted):
        raise DocumentRefused("agent_unknown")
    return found


def _take_school(tenant_id: str) -> None:
    """Takes the school's row first, so that of two uploads at once the second one sees the first."""
    Tenant.objects.filter(pk=tenant_id).update(name=F("name"))


def _check_room(tenant_id: str, user_id: int | None, data: bytes, *, is_new: bool = True) -> None:
    kept = Document.objects.of(tenant_id, user_id)
    same = kept.filter(Q(is_current=True) | Q(state__in=UNFINISHED), sha256=_digest(data)).values_list("pk", "name").first()
    if same is not None:
        raise DocumentRefused("same_file", document_id=same[0], name=same[1])
    if is_new and kept.filter(is_current=True).count() >= settings.DOCUMENTS_MAX:
        raise DocumentRefused("too_many_documents", limit=settings.DOCUMENTS_MAX)
    size = Document.objects.filter(tenant_id=tenant_id).aggregate(sum=Sum("size"))["sum"] or 0
    if size + len(data) > settings.SCHOOL_DOCUMENTS_MAX_MB * MB:
        raise DocumentRefused("school_full", limit_mb=settings.SCHOOL_DOCUMENTS_MAX_MB)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _store(document: Document, name: str, data: bytes) -> Document:
    """Writes row, file and the mark for the worker; inside a transaction."""
    document.name = name
    document.format = name.rpartition(".")[2].lower()
    document.size = len(data)
    document.sha256 = _digest(data)
    document.save(force_insert=True)
    DocumentFile.objects.create(document=document, content=data)
    Work.objects.mark(Work.Kind.DOCUMENT, document.pk)
    return document
