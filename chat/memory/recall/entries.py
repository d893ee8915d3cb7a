"""Entries and their places in the owner's search index, always written together (DESIGN §5 L3).

All functions that write are to be called inside a transaction which has taken the thread's row first.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from chat.models import Owner, RecallEntry, Run, SearchIndex, Thread
from chat.search.index import Record, Writer, build, record_of, writing
from chat.text.outline import cut_before, units
from chat.text.redlines import head_of

INPUT_CHARS: Final = 2_000
HEAD_CHARS: Final = 800
KEY_CHARS: Final = 800
SEEN_CHARS: Final = 30_000  # of an answer, for its key lines
KIND: Final = SearchIndex.Kind.RECALL


@dataclass(frozen=True, slots=True)
class Parts:
    """What is kept of a run's texts, after the filter."""

    input: str
    head: str
    keywords: str


def parts_of(said: str, answer: str, redacted: Callable[[str], str]) -> Parts:
    """The beginning of both, and the headings of the answer. Filtered before anything is cut, as half a number is not recognised."""
    question = redacted(head_of(said.strip(), 4 * INPUT_CHARS))
    text = redacted(head_of(answer.strip(), SEEN_CHARS))
    head_end = cut_before(text, HEAD_CHARS)
    headings = (text[unit.start : unit.end].strip().strip("#*_ ：:") for unit in units(text) if unit.level and unit.start >= head_end)
    keywords = "\n".join(dict.fromkeys(headings))
    return Parts(question[:INPUT_CHARS], text[:head_end].rstrip(), keywords[:KEY_CHARS])


def record(entry: RecallEntry) -> Record:
    """What an entry is found by. Its day is that of the server's time zone, the same whoever writes it."""
    text = "\n".join((entry.title, entry.input, entry.head, entry.keywords))
    return record_of(text, entry.thread_id or "", timezone.localtime(entry.at, timezone.get_default_timezone()).date())


def add(owner: Owner, entries: Sequence[RecallEntry]) -> int:
    """Stores those entries of the owner of which there is none of the same source; returns how many."""
    with writing(owner.tenant_id, owner.user_id, KIND) as writer:
        kept = RecallEntry.objects.filter(tenant_id=owner.tenant_id, user_id=owner.user_id)
        known = set(kept.filter(source__in=[entry.source for entry in entries]).values_list("source", flat=True))
        new = [entry for entry in entries if entry.source not in known]
        for entry in new:
            entry.number = writer.add(record(entry))
        RecallEntry.objects.bulk_create(new)
    return len(new)


def are_kept(owner: Owner, names: Collection[str]) -> bool:
    """Whether the entries of these names are all still there; none of them goes before the transaction ends.

    Takes the owner's index first, as whatever drops entries does.
    """
    SearchIndex.objects.filter(tenant_id=owner.tenant_id, user_id=owner.user_id, kind=KIND).update(records=F("records"))
    entries = RecallEntry.objects.filter(Q(run__in=names) | Q(pk__in=names), tenant_id=owner.tenant_id, user_id=owner.user_id)
    return entries.count() == len(names)


def entry_of(run: Run, thread: Thread, parts: Parts) -> RecallEntry:
    """The entry of a run; not saved yet."""
    return RecallEntry(
        tenant_id=run.tenant_id,
        user_id=run.user_id,
        agent_id=run.agent_id,
        thread_id=run.thread_id,
        run_id=run.pk,
        provider=run.provider,
        host=run.provider.host if run.provider else "",
        source=run.pk,
        title=thread.title,
        input=parts.input,
        head=parts.head,
        keywords=parts.keywords,
        at=run.created_at,
    )


def name_of(entry: RecallEntry) -> str:
    """What ledgers call an entry: its run, as a thread that is deleted takes its words out of them by that; else its own id."""
    return entry.run_id or entry.pk


def drop(owner: Owner, entries: Iterable[RecallEntry]) -> None:
    """Erases entries of the owner."""
    gone = list(entries)
    if not gone:
        return
    with writing(owner.tenant_id, owner.user_id, KIND) as writer:
        _remove(writer, gone)


def _remove(writer: Writer, entries: list[RecallEntry]) -> None:
    for entry in entries:
        writer.remove(entry.number, record(entry))
    RecallEntry.objects.filter(pk__in=[entry.pk for entry in entries]).delete()


def forget_thread(user_id: int, thread_id: str) -> None:
    """Erases all entries of a thread that is about to be deleted."""
    entries = list(RecallEntry.objects.filter(user_id=user_id, thread_id=thread_id))
    if entries:
        drop(Owner(entries[0].tenant_id, user_id), entries)


def retitle(thread: Thread) -> None:
    """Lets the entries of the thread be found and shown by its new title."""
    entries = list(RecallEntry.objects.filter(thread=thread).exclude(title=thread.title))
    if not entries:
        return
    with writing(thread.tenant_id, thread.user_id, KIND) as writer:
        for entry in entries:
            before = record(entry)
            entry.title = thread.title
            writer.put(entry.number, record(entry), before)
        RecallEntry.objects.bulk_update(entries, ["title"])


def reindex(owner: Owner) -> bool:
    """Builds the owner's index anew; returns whether it was as it should be."""
    with transaction.atomic():
        entries = RecallEntry.objects.filter(tenant_id=owner.tenant_id, user_id=owner.user_id)
        return build(owner.tenant_id, owner.user_id, KIND, [(entry.number, record(entry)) for entry in entries.order_by("number")])
