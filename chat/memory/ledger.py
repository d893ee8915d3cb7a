"""The ledger: all segments of a request, equal byte for byte to what was sent (DESIGN §4)."""

import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Q, TextField
from django.db.models.functions import Cast

from chat.memory.base import Segment, SegmentName
from chat.models import Owner, RunLedger
from chat.providers.base import Message
from chat.text.tokens import is_exact

ERASED = "「已删除」"
IDS_AT_ONCE = 50


@dataclass(slots=True)
class Ledger:
    """The segments in the order of the prompt, the memory's shared budget, and the names of the tools offered."""

    segments: list[Segment]
    shared_budget_tokens: int
    tools: list[str] = field(default_factory=list)

    @property
    def total_tokens(self) -> int:
        return sum(segment.tokens for segment in self.segments)

    @property
    def shared_tokens(self) -> int:
        """What the segments of memory take of their shared budget."""
        return sum(segment.tokens for segment in self.segments if segment.priority)

    def sources_of(self, name: SegmentName) -> list[str]:
        """The ids of the rows that a segment was made from; none when there is no such segment."""
        return [source_id for segment in self.segments if segment.name == name for source_id in segment.source_ids]

    def messages(self) -> list[Message]:
        """One system and one user message; the text of a role's segments is joined by a line break."""
        return [
            {"role": role, "content": "\n".join(one.text for one in self.segments if one.role == role and one.text)}
            for role in ("system", "user")
        ]


def to_row(run_id: str, ledger: Ledger) -> RunLedger:
    """The row that stores the ledger; not saved yet."""
    return RunLedger(
        run_id=run_id,
        segments=[asdict(segment) for segment in ledger.segments],
        tools=ledger.tools,
        total_tokens=ledger.total_tokens,
        shared_tokens=ledger.shared_tokens,
        shared_budget_tokens=ledger.shared_budget_tokens,
        is_estimate=not is_exact(),
    )


def from_row(row: RunLedger) -> Ledger:
    return Ledger([Segment(**one) for one in row.segments], row.shared_budget_tokens, list(row.tools))


def blank(user_id: int, source_ids: Collection[str], *, within: Collection[SegmentName] = ()) -> int:
    """Puts ERASED in place of what the ledgers of the teacher tell of these rows; ids stay. Returns how many were changed.

    Facts stand a line each in the order of `source_ids` of their segment, so only their lines go; of any other segment
    the whole text goes when one of its sources does. `within` names the segments that can tell of such rows (empty: any);
    ledgers without them are passed over quickly. To be called inside the transaction that erases the rows.
    """
    changed = 0
    ids = sorted(set(source_ids))
    for start in range(0, len(ids), IDS_AT_ONCE):
        some = set(ids[start : start + IDS_AT_ONCE])
        named = Q()
        for one in some:  # ids of a memory backend can hold any character, which SQLite and PostgreSQL write in different ways
            for written in {json.dumps(one), json.dumps(one, ensure_ascii=False)}:
                named |= Q(as_text__contains=written)
        can_tell = Q()
        for name in within:
            can_tell |= Q(as_text__contains=f'"name": "{name}"')
        rows = RunLedger.objects.filter(run__user_id=user_id).annotate(as_text=Cast("segments", TextField())).filter(can_tell, named)
        changed += sum(_blank(key, some) for key in list(rows.values_list("pk", flat=True)))
    return changed


def blank_external(owner: Owner, *, most: int | None = None) -> int:
    """Puts ERASED in place of all that a memory backend has told for the owner; without an assistant, for all of them.
    Returns how many ledgers were changed. For forgetting a whole scope: of the `most` newest answers when it is asked for,
    and of all of them in the work that follows. Only ledgers with such a segment are read."""
    rows = RunLedger.objects.filter(run__tenant_id=owner.tenant_id, run__user_id=owner.user_id).exclude(run__backend="")
    if owner.agent_id:
        rows = rows.filter(run__agent_id=owner.agent_id)
    telling = rows.annotate(as_text=Cast("segments", TextField())).filter(as_text__contains='"name": "external"')
    keys = list(telling.order_by("-created_at", "-pk").values_list("pk", flat=True)[:most])
    return sum(rewrite(key, _without_external) for key in keys)


def telling_of(tenant_id: str, user_id: int | None, document_ids: Collection[str], *, since: datetime | None = None) -> list[str]:
    """The keys of the ledgers that tell of these documents of a teacher, or of the school itself, whose teachers all see them.

    The notes of a knowledge segment name the documents: one look through the ledgers, however many passages there are.
    """
    rows = RunLedger.objects.filter(run__tenant_id=tenant_id)
    if user_id is not None:
        rows = rows.filter(run__user_id=user_id)
    if since is not None:
        rows = rows.filter(created_at__gte=since)
    named = Q()
    for one in document_ids:
        named |= Q(as_text__contains=f'"{one}"')
    return list(rows.annotate(as_text=Cast("segments", TextField())).filter(named).values_list("pk", flat=True)) if document_ids else []


def blank_rows(keys: Iterable[str], source_ids: Collection[str]) -> int:
    """As `blank`, for ledgers that are known already. Returns how many were changed."""
    ids = set(source_ids)
    return sum(_blank(key, ids) for key in dict.fromkeys(keys))


def _blank(key: str, ids: set[str]) -> bool:
    return rewrite(key, lambda segments: [_without(segment, ids) for segment in segments])


def rewrite(key: str, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> bool:
    """Changes what one ledger tells, by conditional update: something else of it may be erased at the same time."""
    while (segments := RunLedger.objects.filter(pk=key).values_list("segments", flat=True).first()) is not None:
        changed = change(segments)
        if changed == segments:
            return False
        if RunLedger.objects.filter(pk=key, segments=segments).update(segments=changed):
            return True
    return False


def _without_external(segments: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [one | {"text": ERASED, "notes": []} if one["name"] == "external" and one["text"] else one for one in segments]


def _without(segment: dict[str, Any], ids: set[str]) -> dict[str, Any]:
    sources = segment["source_ids"]
    # The assistant's own prompt and the question are no memory: their sources are erased with the run itself.
    if not segment["priority"] or not ids.intersection(sources) or not segment["text"]:
        return segment
    lines = segment["text"].split("\n")
    if segment["name"] != "core" or len(lines) != len(sources) + 2:
        return segment | {"text": ERASED, "notes": []}
    for i, source in enumerate(sources, start=1):
        if source in ids:
            lines[i] = ERASED
    return segment | {"text": "\n".join(lines)}
