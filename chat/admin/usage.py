from django.contrib import admin

from chat.admin.base import RecordAdmin
from chat.models import MemoryOp, Thread


@admin.register(MemoryOp)
class MemoryOpAdmin(RecordAdmin):
    ordering = ["-created_at"]
    list_display = [
        "id",
        "kind",
        "outcome",
        "error_code",
        "tenant",
        "agent",
        "user",
        "thread_key",
        "provider",
        "model",
        "input_tokens",
        "output_tokens",
        "is_estimate",
        "cost",
        "created_at",
        "duration_ms",
    ]
    list_filter = ["kind", "outcome", "error_code", ("tenant", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["tenant", "agent", "user", "provider"]
    search_fields = ["id", "thread__id", "user__username", "error_code"]
    date_hierarchy = "created_at"
    fields = [
        "id",
        ("tenant", "agent", "user"),
        "thread",
        ("kind", "outcome", "error_code"),
        ("provider", "model"),
        ("input_tokens", "output_tokens", "is_estimate", "cost"),
        ("created_at", "duration_ms"),
    ]

    @admin.display(description=Thread._meta.verbose_name)
    def thread_key(self, operation: MemoryOp) -> str | None:
        """The thread's id, without loading its texts."""
        return operation.thread_id
