from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from chat.admin.base import RecordAdmin
from chat.models import Document


@admin.register(Document)
class DocumentAdmin(RecordAdmin):
    """How the school's documents are doing, without what stands in them; they are written on the pages of the knowledge base.

    Those of a teacher are the teacher's: a school's administrator sees how many there are (memberships), and no more.
    """

    ordering = ["-created_at"]
    list_display = ["id", "name", "tenant", "user", "format", "size", "state", "error_code", "passage_count", "version", "created_at"]
    list_filter = ["state", "error_code", "format", "is_current", ("tenant", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["tenant", "user"]
    search_fields = ["id", "name", "error_code", "uploaded_by__username"]
    date_hierarchy = "created_at"
    fields = [
        "id",
        "name",
        ("tenant", "user", "uploaded_by"),
        ("format", "size"),
        ("state", "error_code"),
        ("parts_done", "parts_total"),
        ("characters", "passage_count"),
        ("version", "is_current", "replaces"),
        "agents",
        ("created_at", "ready_at"),
    ]

    def within(self, request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        return super().within(request, rows).filter(user=None)
