from typing import Any

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from chat.admin.base import RecordAdmin
from chat.models import Candidate, CoreEvent, Decision, Fact


@admin.register(Fact)
class FactAdmin(RecordAdmin):
    """To be read only: what is confirmed is decided by its owner, on their own page."""

    content_fields = ["text", "normal", "quote"]
    content_search_fields = ["text"]
    labels = {"normal": _("compared as"), "source_run": _("source")}
    ordering = ["-confirmed_at"]
    list_display = ["id", "text", "tenant", "user", "agent", "kind", "status", "is_pinned", "uses", "confirmed_at"]
    list_filter = ["status", "kind", "is_pinned", ("tenant", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["tenant", "user", "agent"]
    search_fields = ["id", "user__username", "source_run__id"]
    date_hierarchy = "created_at"
    fields = [
        "id",
        ("tenant", "user", "agent"),
        "text",
        "normal",
        ("kind", "status", "is_pinned"),
        "decision",
        "source_run",
        "quote",
        ("uses", "last_used_at"),
        ("created_at", "confirmed_at", "updated_at"),
    ]


@admin.register(Candidate)
class CandidateAdmin(RecordAdmin):
    """To be read only, as facts are."""

    content_fields = ["text", "normal", "reason", "quote"]
    content_search_fields = ["text"]
    labels = {
        "normal": _("compared as"),
        "thread": _("thread"),
        "source_run": _("source"),
        "contradicts": _("contradicts"),
        "decision": _("decision"),
        "later_until": _("put off until"),
    }
    ordering = ["-created_at"]
    list_display = ["id", "text", "tenant", "user", "agent", "kind", "status", "origin", "confidence", "seen", "created_at"]
    list_filter = ["status", "origin", "kind", ("tenant", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["tenant", "user", "agent"]
    search_fields = ["id", "user__username", "thread__id", "source_run__id"]
    date_hierarchy = "created_at"
    fields = [
        "id",
        ("tenant", "user", "agent"),
        "text",
        "normal",
        ("kind", "status", "origin", "confidence", "seen"),
        "reason",
        ("thread", "source_run"),
        "quote",
        ("contradicts", "decision"),
        ("created_at", "updated_at", "later_until"),
    ]


@admin.register(Decision)
class DecisionAdmin(RecordAdmin):
    labels = {"undoes": _("takes back")}
    ordering = ["-created_at"]
    list_display = ["id", "verb", "user", "tenant", "created_at"]
    list_filter = ["verb", ("tenant", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["tenant", "user"]
    search_fields = ["id", "user__username"]
    date_hierarchy = "created_at"
    fields = ["id", ("tenant", "user"), "verb", "undoes", "created_at"]


class _ActionFilter(admin.AllValuesFieldListFilter):
    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        self.title = _("action")


@admin.register(CoreEvent)
class CoreEventAdmin(RecordAdmin):
    content_fields = ["before", "after"]
    labels = {
        "tenant": _("school"),
        "user": _("teacher"),
        "verb": _("action"),
        "fact": _("fact"),
        "candidate": _("candidate"),
        "decision": _("decision"),
        "before": _("before"),
        "after": _("after"),
    }
    ordering = ["-created_at", "-pk"]
    list_display = ["id", "verb", "fact", "candidate", "user", "tenant", "created_at"]
    list_filter = [("verb", _ActionFilter), ("tenant", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["tenant", "user", "fact", "candidate"]
    search_fields = ["fact__id", "candidate__id", "user__username"]
    date_hierarchy = "created_at"
    fields = [("tenant", "user"), "verb", ("fact", "candidate"), "decision", "before", "after", "created_at"]
