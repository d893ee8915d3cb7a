from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from chat.admin.base import RecordAdmin
from chat.models import Run, RunLedger


@admin.register(Run)
class RunAdmin(RecordAdmin):
    content_fields = ["input", "output", "reasoning", "tool_calls"]
    content_search_fields = ["input", "output"]
    ordering = ["-created_at"]
    list_display = [
        "id",
        "status",
        "error_code",
        "tenant",
        "agent",
        "user",
        "model",
        "input_tokens",
        "output_tokens",
        "is_estimate",
        "cost",
        "created_at",
    ]
    list_filter = [
        "status",
        "error_code",
        "is_latest",
        ("tenant", admin.RelatedOnlyFieldListFilter),
        ("agent", admin.RelatedOnlyFieldListFilter),
    ]
    list_select_related = ["tenant", "agent", "user"]
    search_fields = ["id", "thread__id", "user__username", "error_code"]
    date_hierarchy = "created_at"
    fields = [
        "id",
        ("tenant", "agent", "user"),
        ("thread", "position", "slot", "is_latest", "replaces"),
        ("mode", "status", "error_code"),
        "input",
        "output",
        "reasoning",
        "tool_calls",
        ("provider", "model"),
        ("input_tokens", "output_tokens", "is_estimate", "cost"),
        ("created_at", "first_token_at", "finished_at"),
        ("heartbeat_at", "stop_requested_at", "key"),
    ]


@admin.register(RunLedger)
class RunLedgerAdmin(RecordAdmin):
    school_path = "run__tenant"
    content_fields = ["segments"]
    labels = {"tools": _("tools"), "segments": _("segments")}
    ordering = ["-created_at"]
    list_display = ["run", "total_tokens", "shared_tokens", "shared_budget_tokens", "is_estimate", "created_at"]
    list_filter = ["is_estimate"]
    list_select_related = ["run"]
    search_fields = ["run__id", "run__thread__id"]
    date_hierarchy = "created_at"
    fields = ["run", "total_tokens", "shared_tokens", "shared_budget_tokens", "is_estimate", "tools", "segments", "created_at"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Without the texts of the runs; a ledger's own text is big too and is loaded by its page alone."""
        return super().get_queryset(request).defer("segments", "run__input", "run__output", "run__reasoning", "run__tool_calls")
