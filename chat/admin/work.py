from typing import Any

from django.contrib import admin
from django.db.models import CharField, Model, Q, QuerySet
from django.db.models.functions import Cast
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from chat.admin.base import RecordAdmin, SuperuserOnly, administrated_schools
from chat.models import Document, LayerState, NoteReview, RemoteScope, RemoteSession, SearchIndex, Thread, Work, WorkerBeat


@admin.register(Work)
class WorkAdmin(RecordAdmin):
    labels = {"marks": _("marks"), "lease": _("lease")}
    ordering = ["-created_at"]
    list_display = ["id", "kind", "subject_id", "due_at", "lease_until", "attempts", "error_code", "created_at"]
    list_filter = ["kind", "error_code"]
    search_fields = ["id", "subject_id", "error_code"]
    date_hierarchy = "created_at"
    fields = ["id", "kind", "subject_id", "marks", "due_at", "lease", "lease_until", "attempts", "error_code", "created_at"]

    def within(self, request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        schools = administrated_schools(request.user)
        threads = Thread.objects.filter(tenant__in=schools)
        indexes = SearchIndex.objects.filter(tenant__in=schools).annotate(key=Cast("pk", CharField()))
        return rows.filter(
            Q(kind=Work.Kind.THREAD, subject_id__in=threads.values("pk"))
            | Q(kind=Work.Kind.DOCUMENT, subject_id__in=Document.objects.filter(tenant__in=schools).values("pk"))
            | Q(kind=Work.Kind.REVIEW, subject_id__in=NoteReview.objects.filter(tenant__in=schools).values("pk"))
            | Q(kind=Work.Kind.VECTORS, subject_id__in=indexes.values("key"))
            | Q(kind=Work.Kind.REMOTE, subject_id__in=RemoteSession.objects.filter(scope__tenant_key__in=schools).values("pk"))
            | Q(kind=Work.Kind.FORGET, subject_id__in=RemoteScope.objects.filter(tenant_key__in=schools).values("pk"))
        )


@admin.register(LayerState)
class LayerStateAdmin(RecordAdmin):
    school_path = "thread__tenant"
    labels = {"thread": _("thread"), "upto_slot": _("done up to round")}
    ordering = ["-updated_at"]
    list_display = ["thread", "layer", "upto_slot", "attempts", "error_code", "retry_at", "updated_at"]
    list_filter = ["layer", "error_code"]
    list_select_related = ["thread"]
    search_fields = ["thread__id", "error_code"]
    date_hierarchy = "updated_at"
    fields = ["thread", "layer", "upto_slot", "attempts", "error_code", "retry_at", "updated_at"]


@admin.register(WorkerBeat)
class WorkerBeatAdmin(SuperuserOnly, admin.ModelAdmin):
    ordering = ["-beat_at"]
    list_display = ["worker", "beat_at"]
    search_fields = ["worker"]
    date_hierarchy = "beat_at"
    fields = ["worker", "beat_at"]

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False
