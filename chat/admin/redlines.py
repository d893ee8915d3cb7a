from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Max, Model
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from chat.admin.base import RecordAdmin, administrated_schools, is_school_administrator
from chat.models import RedlineRecord
from chat.panel.rules import kind_words, layer_words, rule_words
from chat.text.redlines import find, redact

SENTENCES_CHARS = 4_000


@dataclass(frozen=True, slots=True)
class Tried:
    """What the filter makes of a text that was only tried."""

    text: str
    hits: list[dict[str, str]]
    redacted: str


@admin.register(RedlineRecord)
class RedlineRecordAdmin(RecordAdmin):
    """The records one by one are for superusers, and their excerpts for nobody but their owners.

    A school's administrators have a page of counts, with a box to try sentences.
    """

    ordering = ["-created_at"]
    list_display = ["id", "kind_name", "rule_name", "layer_name", "tenant", "user", "created_at"]
    list_filter = ["kind", "layer", "rule", ("tenant", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["tenant", "user"]
    search_fields = ["id", "user__username", "source_id", "rule"]
    date_hierarchy = "created_at"
    fields = ["id", ("tenant", "user"), ("layer_name", "kind_name", "rule_name"), "source_id", "created_at"]

    @admin.display(description=gettext_lazy("kind"), ordering="kind")
    def kind_name(self, record: RedlineRecord) -> str:
        return kind_words([record.kind])

    @admin.display(description=gettext_lazy("rule"), ordering="rule")
    def rule_name(self, record: RedlineRecord) -> str:
        return rule_words([record.rule])

    @admin.display(description=gettext_lazy("layer"), ordering="layer")
    def layer_name(self, record: RedlineRecord) -> str:
        return layer_words(record.layer)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return request.user.is_superuser

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return request.user.is_superuser

    def get_urls(self) -> list[URLPattern]:
        return [path("counts/", self.admin_site.admin_view(self.counts), name="chat_redlinerecord_counts"), *super().get_urls()]

    def may_count(self, request: HttpRequest) -> bool:
        user = request.user
        return user.is_superuser or (user.has_perm("chat.view_redlinerecord") and is_school_administrator(request))

    def counts(self, request: HttpRequest) -> HttpResponse:
        """How often each rule has stopped something, never what; and a box in which sentences are tried and not stored."""
        if not self.may_count(request):
            raise PermissionDenied
        records = RedlineRecord.objects.all()
        if not request.user.is_superuser:
            records = records.filter(tenant__in=administrated_schools(request.user))
        rows = records.values("tenant__name", "kind", "rule", "layer").annotate(count=Count("pk"), newest_at=Max("created_at"))
        context: dict[str, Any] = self.admin_site.each_context(request) | {
            "title": _("Red lines"),
            "opts": self.opts,
            "rows": rows.order_by("tenant__name", "kind", "-count", "rule", "layer"),
            "tried": _try(request.POST.get("text", "")) if request.method == "POST" else None,
            "most_chars": SENTENCES_CHARS,
        }
        return TemplateResponse(request, "admin/chat/redlines.html", context)


def _try(text: str) -> Tried:
    text = text.replace("\0", "")[:SENTENCES_CHARS]
    hits = [{"kind": hit.kind, "rule": hit.rule, "text": text[hit.start : hit.end]} for hit in find(text)]
    return Tried(text, hits, redact(text))
