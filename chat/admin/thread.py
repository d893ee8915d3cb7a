from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from chat.admin.base import RecordAdmin
from chat.models import Summary, Thread
from chat.runs.delete import erase_any


@admin.register(Thread)
class ThreadAdmin(RecordAdmin):
    content_fields = ["title", "rolling_summary"]
    content_search_fields = ["title"]
    ordering = ["-updated_at"]
    list_display = ["id", "title", "tenant", "agent", "user", "status", "is_incognito", "last_position", "updated_at"]
    list_filter = ["status", "is_incognito", ("tenant", admin.RelatedOnlyFieldListFilter), ("agent", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["tenant", "agent", "user"]
    search_fields = ["id", "user__username"]
    date_hierarchy = "updated_at"
    fields = [
        "id",
        "tenant",
        "agent",
        "user",
        "title",
        "status",
        "is_incognito",
        "rolling_summary",
        "summary_upto_at",
        "summary_upto_slot",
        "last_position",
        "created_at",
        "updated_at",
    ]

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """A superuser may delete a whole conversation, with all its runs."""
        return request.user.is_superuser

    def delete_model(self, request: HttpRequest, obj: Thread) -> None:
        erase_any(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Thread]) -> None:
        for thread in queryset:
            erase_any(thread)


@admin.register(Summary)
class SummaryAdmin(RecordAdmin):
    school_path = "thread__tenant"
    content_fields = ["text"]
    ordering = ["-created_at"]
    list_display = ["id", "thread", "upto_slot", "origin", "created_at"]
    list_filter = ["origin"]
    list_select_related = ["thread"]
    search_fields = ["thread__id"]
    date_hierarchy = "created_at"
    fields = ["id", "thread", "upto_slot", "upto_at", "origin", "text", "created_at"]
