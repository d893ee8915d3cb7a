"""What is kept of memory backends outside: ids, states and times, never a text. To be read only."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from chat.admin.base import RecordAdmin
from chat.models import RemoteGap, RemoteScope, RemoteSession


@admin.register(RemoteScope)
class RemoteScopeAdmin(RecordAdmin):
    school_path = "tenant_key"
    ordering = ["-created_at"]
    list_display = ["id", "backend", "tenant_key", "user_key", "agent_key", "forget_asked_at", "forgotten_at", "created_at"]
    list_filter = ["backend"]
    search_fields = ["id", "=user_key", "=agent_key"]
    date_hierarchy = "created_at"
    fields = ["id", "backend", ("tenant_key", "user_key", "agent_key"), ("forget_asked_at", "forgotten_at"), "created_at"]


@admin.register(RemoteSession)
class RemoteSessionAdmin(RecordAdmin):
    school_path = "scope__tenant_key"
    ordering = ["-updated_at"]
    list_display = ["id", "backend", "school", "teacher", "thread_key", "pending_tasks", "forget_asked_at", "updated_at"]
    list_filter = ["scope__backend"]
    list_select_related = ["scope"]
    search_fields = ["id", "thread_key", "=scope__user_key"]
    date_hierarchy = "updated_at"
    fields = [
        "id",
        ("backend", "scope"),
        ("school", "teacher"),
        "thread_key",
        ("pending_tasks", "last_task"),
        "forget_asked_at",
        "updated_at",
    ]
    readonly_fields = ["backend", "school", "teacher"]

    @admin.display(description=_("memory backend"), ordering="scope__backend")
    def backend(self, session: RemoteSession) -> str:
        return session.scope.backend

    @admin.display(description=_("school"), ordering="scope__tenant_key")
    def school(self, session: RemoteSession) -> str:
        return session.scope.tenant_key

    @admin.display(description=_("teacher"), ordering="scope__user_key")
    def teacher(self, session: RemoteSession) -> str:
        return session.scope.user_key


@admin.register(RemoteGap)
class RemoteGapAdmin(RecordAdmin):
    school_path = "session__scope__tenant_key"
    ordering = ["-created_at"]
    list_display = ["id", "session", "run_key", "outcome", "is_seen", "created_at"]
    list_filter = ["outcome", "is_seen"]
    list_select_related = ["session"]
    search_fields = ["id", "run_key", "=session__scope__user_key"]
    date_hierarchy = "created_at"
    fields = ["id", "session", "run_key", ("outcome", "is_seen"), "created_at"]
