from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from chat.admin.base import RecordAdmin
from chat.models import RecallEntry


@admin.register(RecallEntry)
class RecallEntryAdmin(RecordAdmin):
    """To be read only: entries follow their conversations."""

    content_fields = ["title", "input", "head", "keywords"]
    content_search_fields = ["title", "input"]
    labels = {"thread": _("thread"), "run": _("run")}
    ordering = ["-at"]
    list_display = ["id", "tenant", "user", "agent", "thread", "at"]
    list_filter = [("tenant", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["tenant", "user", "agent", "thread"]
    search_fields = ["id", "user__username", "thread__id", "source"]
    date_hierarchy = "created_at"
    fields = ["id", ("tenant", "user", "agent"), ("thread", "run", "source"), "title", "input", "head", "keywords", ("at", "created_at")]
