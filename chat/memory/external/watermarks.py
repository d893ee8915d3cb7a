"""How far each conversation is at a backend, in the database: shared by all processes (DESIGN §5).

While a scope or a conversation is asked to be forgotten, or once the teacher has withdrawn, no mark is saved that announces a
new batch: so nothing goes out after that.
"""

from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from channels.db import database_sync_to_async
from django.db import transaction
from django.db.models import Exists, QuerySet
from django.utils import timezone

from chat.memory.backends.base import CommitTask, MemoryScope, Sending, Watermark, WatermarkMoved
from chat.models import Consent, RemoteScope, RemoteSession


def sessions_of(backend: str, scope: MemoryScope) -> QuerySet[RemoteSession]:
    """What is kept of the conversations of a scope at a backend."""
    return RemoteSession.objects.filter(
        scope__backend=backend, scope__tenant_key=scope.tenant_id, scope__user_key=scope.user_id, scope__agent_key=scope.agent_id
    )


class Watermarks:
    """A `WatermarkStore` of one backend."""

    def __init__(self, backend: str) -> None:
        self.backend = backend

    async def load(self, scope: MemoryScope, thread_id: str) -> Watermark:
        return await database_sync_to_async(self._load, thread_sensitive=False)(scope, thread_id)

    async def save(self, scope: MemoryScope, thread_id: str, mark: Watermark) -> Watermark:
        return await database_sync_to_async(self._save, thread_sensitive=False)(scope, thread_id, mark)

    def _load(self, scope: MemoryScope, thread_id: str) -> Watermark:
        row = sessions_of(self.backend, scope).filter(thread_key=thread_id).first()
        return from_json(row.mark, row.version) if row else Watermark()

    def _save(self, scope: MemoryScope, thread_id: str, mark: Watermark) -> Watermark:
        fields = {
            "mark": to_json(mark),
            "version": mark.version + 1,
            "pending_tasks": len(mark.tasks),
            "last_task": mark.last_task_id[:80],
            "updated_at": timezone.now(),
        }
        with transaction.atomic():
            if not mark.version:
                whose, _ = RemoteScope.objects.get_or_create(
                    backend=self.backend, tenant_key=scope.tenant_id, user_key=scope.user_id, agent_key=scope.agent_id
                )
                RemoteSession.objects.get_or_create(scope=whose, thread_key=thread_id)
            rows = sessions_of(self.backend, scope).filter(thread_key=thread_id, version=mark.version)
            if mark.sending is not None:
                rows = rows.filter(~Exists(_withdrawn(scope)), forget_asked_at=None, scope__forget_asked_at=None)
            if not rows.update(**fields):
                raise WatermarkMoved
        return replace(mark, version=mark.version + 1)


def _withdrawn(scope: MemoryScope) -> QuerySet[Consent]:
    """The teacher's no, whatever place they were told of. Whether they were asked at all is looked at before (deliver)."""
    own = Consent.objects.filter(tenant_id=scope.tenant_id, user_id=int(scope.user_id), provider=None)
    return own.filter(purpose=Consent.Purpose.MEMORY, is_agreed=False)


def to_json(mark: Watermark) -> dict[str, Any]:
    told = asdict(mark)
    told.pop("version")
    for one in [*told["tasks"], *([told["sending"]] if told["sending"] else [])]:
        one["at"] = one["at"].isoformat()
    return told


def from_json(told: dict[str, Any], version: int) -> Watermark:
    sending = told.get("sending")
    return Watermark(
        version=version,
        submitted=tuple(told.get("submitted", ())),
        committed=tuple(told.get("committed", ())),
        sending=Sending(tuple(sending["message_ids"]), sending["known_total"], _time(sending["at"])) if sending else None,
        tasks=tuple(CommitTask(one["task_id"], tuple(one["message_ids"]), _time(one["at"])) for one in told.get("tasks", ())),
        last_task_id=told.get("last_task_id", ""),
        last_archive=told.get("last_archive", ""),
        passed=passed_of(told),
    )


def passed_of(told: dict[str, Any]) -> tuple[int, int]:
    slot, position = told.get("passed", (0, 0))
    return slot, position


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)
