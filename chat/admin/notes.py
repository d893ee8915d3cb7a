"""Notes, what was done to them, and the reviews that look for more; all to be read only.

Fields that have no name in the interface get theirs here.
"""

import json
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from chat.admin.base import RecordAdmin, may_view_content
from chat.memory.notes import lost  # noqa: F401  this site is in every process, and whoever is deleted takes their files along
from chat.models import NoteGuard, NoteOp, NoteReview, NoteSnapshot, NoteText, Notice

BY_SCHOOL = ("tenant", admin.RelatedOnlyFieldListFilter)


def _plain(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


@admin.register(NoteText)
class NoteTextAdmin(RecordAdmin):
    content_fields = ["text", "backups"]
    content_search_fields = ["text"]
    ordering = ["-updated_at"]
    list_display = ["id", "tenant", "user", "agent", "target", "updated_at"]
    list_filter = ["target", BY_SCHOOL]
    list_select_related = ["tenant", "user", "agent"]
    search_fields = ["id", "user__username"]
    date_hierarchy = "updated_at"
    fields = ["id", ("tenant", "user", "agent"), "target", "text", "updated_at"]


@admin.register(NoteOp)
class NoteOpAdmin(RecordAdmin):
    content_fields = ["changes", "request", "reason"]
    ordering = ["-created_at"]
    list_display = ["id", "tenant", "user", "agent", "target", "action", "origin", "state", "created_at"]
    list_filter = ["state", "origin", "action", "target", BY_SCHOOL]
    list_select_related = ["tenant", "user", "agent"]
    search_fields = ["id", "user__username", "thread__id", "run__id", "review__id"]
    date_hierarchy = "created_at"
    fields = [
        "id",
        ("tenant", "user", "agent"),
        ("target", "action", "origin", "state"),
        "what_changed",
        "what_was_asked",
        "reason",
        ("thread", "run", "review"),
        ("created_at", "decided_at"),
    ]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:  # noqa: ANN401  as Django's own
        """Both columns are made of content fields, which the columns' names do not say."""
        fields = super().get_fields(request, obj)
        return fields if may_view_content(request) else [name for name in fields if name not in ("what_changed", "what_was_asked")]

    @admin.display(description=_("entries before and after"))
    def what_changed(self, op: NoteOp) -> str:
        return _plain(op.changes)

    @admin.display(description=_("what was asked for"))
    def what_was_asked(self, op: NoteOp) -> str:
        return _plain(op.request)


@admin.register(NoteReview)
class NoteReviewAdmin(RecordAdmin):
    ordering = ["-created_at"]
    list_display = ["id", "tenant", "user", "agent", "thread", "total", "state", "error_code", "steps", "created_at"]
    list_filter = ["state", "error_code", BY_SCHOOL]
    list_select_related = ["tenant", "user", "agent", "thread"]
    search_fields = ["id", "user__username", "thread__id", "error_code"]
    date_hierarchy = "created_at"
    fields = [
        "id",
        ("tenant", "user", "agent"),
        "thread",
        ("total", "rounds"),
        ("state", "error_code", "steps"),
        ("created_at", "started_at", "finished_at"),
    ]

    @admin.display(description=_("rounds looked at"))
    def rounds(self, review: NoteReview) -> str:
        return f"{review.since_slot + 1}–{review.upto_slot}"


@admin.register(NoteGuard)
class NoteGuardAdmin(RecordAdmin):
    school_path = "thread__tenant"
    content_fields = ["last_reason"]
    ordering = ["-created_at"]
    list_display = ["subject", "conversation", "failed_calls", "written", "has_stopped", "made_at"]
    list_filter = ["is_terminal"]
    search_fields = ["subject_id", "thread__id"]
    date_hierarchy = "created_at"
    fields = ["subject", "conversation", ("failed_calls", "written", "has_stopped"), "why", "made_at"]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:  # noqa: ANN401  as Django's own
        fields = super().get_fields(request, obj)
        return fields if may_view_content(request) else [name for name in fields if name != "why"]

    @admin.display(description=_("run or review"), ordering="subject_id")
    def subject(self, guard: NoteGuard) -> str:
        return guard.subject_id

    @admin.display(description=_("thread"))
    def conversation(self, guard: NoteGuard) -> str:
        return guard.thread_id

    @admin.display(description=_("failed calls"), ordering="failures")
    def failed_calls(self, guard: NoteGuard) -> int:
        return guard.failures

    @admin.display(description=_("calls that wrote"), ordering="writes")
    def written(self, guard: NoteGuard) -> int:
        return guard.writes

    @admin.display(description=_("stopped"), boolean=True, ordering="is_terminal")
    def has_stopped(self, guard: NoteGuard) -> bool:
        return guard.is_terminal

    @admin.display(description=_("last reason"))
    def why(self, guard: NoteGuard) -> str:
        return guard.last_reason

    @admin.display(description=_("created at"), ordering="created_at")
    def made_at(self, guard: NoteGuard) -> Any:  # noqa: ANN401  shown by the site as a date is
        return guard.created_at


@admin.register(NoteSnapshot)
class NoteSnapshotAdmin(RecordAdmin):
    school_path = "thread__tenant"
    content_fields = ["text"]
    ordering = ["-created_at"]
    list_display = ["conversation", "has_guide", "is_guide_skipped", "created_at", "refreshed_at"]
    list_filter = ["has_guide"]
    search_fields = ["thread__id", "digest"]
    date_hierarchy = "created_at"
    fields = ["conversation", "text", "digest", ("has_guide", "is_guide_skipped"), ("created_at", "refreshed_at")]

    @admin.display(description=_("thread"), ordering="thread_id")
    def conversation(self, snapshot: NoteSnapshot) -> str:
        return snapshot.thread_id


@admin.register(Notice)
class NoticeAdmin(RecordAdmin):
    ordering = ["-created_at"]
    list_display = ["id", "tenant", "user", "thread", "code", "created_at"]
    list_filter = ["code", BY_SCHOOL]
    list_select_related = ["tenant", "user", "thread"]
    search_fields = ["id", "user__username", "thread__id", "review__id"]
    date_hierarchy = "created_at"
    fields = ["id", ("tenant", "user"), ("thread", "behind"), "code", "created_at"]

    @admin.display(description=_("behind round"), ordering="after_slot")
    def behind(self, notice: Notice) -> int:
        return notice.after_slot
