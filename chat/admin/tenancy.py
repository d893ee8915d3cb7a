from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Count, Model, OuterRef, QuerySet, Subquery, Sum
from django.forms import ModelForm
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chat.admin.base import SchoolAdmin, SuperuserOnly
from chat.admin.embedder import DESCRIPTION, FIELDS, SchoolForm, words_for, words_of
from chat.memory.meaning.embedder import embedder_of
from chat.memory.meaning.trial import try_embedder
from chat.models import ApiToken, Document, Membership, Preference, SearchIndex, Tenant
from chat.models.tenancy import ping
from chat.providers.base import ProviderError
from chat.search.vectors import forget


@admin.register(Tenant)
class TenantAdmin(SchoolAdmin):
    school_path = "pk"
    ordering = ["name", "pk"]
    form = SchoolForm
    list_display = ["name", "id", "has_memory", "embedder", "vectors", "created_at"]
    list_filter = ["has_memory"]
    list_select_related = ["embedder"]
    search_fields = ["name", "id"]
    date_hierarchy = "created_at"
    fieldsets = [
        (None, {"fields": ["id", "name", "has_memory", "created_at"]}),
        (_("Search by meaning"), {"fields": [*FIELDS, "is_untried", "vectors"], "description": DESCRIPTION}),
    ]
    readonly_fields = ["id", "vectors", "created_at"]
    actions = ["try_now", "make_anew"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Tenant]:
        made = SearchIndex.objects.filter(tenant=OuterRef("pk")).order_by().values("tenant")
        return (
            super()
            .get_queryset(request)
            .annotate(made=Subquery(made.annotate(sum=Sum("vectors")).values("sum")))
            .annotate(found=Subquery(made.annotate(sum=Sum("records")).values("sum")))
        )

    def get_fieldsets(self, request: HttpRequest, obj: Model | None = None) -> Any:  # noqa: ANN401  as Django's own
        """A new school has no services yet to choose from."""
        return super().get_fieldsets(request, obj) if obj else [(None, {"fields": ["name", "has_memory"]})]

    @admin.display(description=_("vectors"))
    def vectors(self, school: Tenant) -> str:
        """How many records have their vector, of how many; a dash without an embedder."""
        return f"{getattr(school, 'made', 0) or 0} / {getattr(school, 'found', 0) or 0}" if school.embedder_id else "–"

    def save_model(self, request: HttpRequest, obj: Tenant, form: ModelForm, change: bool) -> None:
        """What changed is shown on the members' open pages at once. Without an embedder the vectors are deleted."""
        super().save_model(request, obj, form, change)
        if change and obj.embedder_id is None and "embedder" in form.changed_data:
            with transaction.atomic():
                forget(SearchIndex.objects.filter(tenant=obj))
        if change and {"has_memory", "embedder", "embedding_model"} & set(form.changed_data):
            ping(*obj.memberships.values_list("user_id", flat=True))
        if isinstance(form, SchoolForm) and form.trial is not None:
            self.message_user(request, words_of(form.trial))

    @admin.action(description=_("Try the embedder"))
    def try_now(self, request: HttpRequest, schools: QuerySet[Tenant]) -> None:
        for school in schools.select_related("embedder"):
            service = embedder_of(school)
            try:
                words = words_of(try_embedder(school, service)) if service else gettext("No embedder is chosen.")
                self.message_user(request, f"{school}: {words}")
            except ProviderError as error:
                self.message_user(request, f"{school}: {words_for(error)}", messages.ERROR)

    @admin.action(description=_("Make all vectors anew"), permissions=["change"])
    def make_anew(self, request: HttpRequest, schools: QuerySet[Tenant]) -> None:
        with transaction.atomic():
            forget(SearchIndex.objects.filter(tenant__in=[school.pk for school in schools]))
        self.message_user(request, _("The vectors are deleted and will be made anew in the background."))


@admin.register(Membership)
class MembershipAdmin(SchoolAdmin):
    ordering = ["tenant", "pk"]
    list_display = ["user", "tenant", "role", "own_documents", "created_at"]
    list_filter = ["role", ("tenant", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["user", "tenant"]
    search_fields = ["user__username", "user__first_name", "user__last_name"]
    date_hierarchy = "created_at"
    fields = ["tenant", "user", "role", "created_at"]
    readonly_fields = ["created_at"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Membership]:
        own = Document.objects.filter(user=OuterRef("user"), tenant=OuterRef("tenant"), is_current=True).order_by().values("user")
        return super().get_queryset(request).annotate(documents=Subquery(own.annotate(count=Count("pk")).values("count")))

    @admin.display(description=_("own documents"), ordering="documents")
    def own_documents(self, membership: Membership) -> int:
        """How many documents the person keeps; which, is theirs to see."""
        return getattr(membership, "documents", None) or 0

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Superusers only: the form offers every user there is."""
        return request.user.is_superuser

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        return ["created_at", "tenant", "user"] if obj else ["created_at"]


@admin.register(Preference)
class PreferenceAdmin(SuperuserOnly, admin.ModelAdmin):
    ordering = ["pk"]
    list_display = ["user", "language", "theme", "time_zone", "has_memory", "tenant", "agent"]
    list_filter = ["language", "theme", "has_memory"]
    list_select_related = ["user", "tenant", "agent"]
    search_fields = ["user__username"]
    fields = ["user", "language", "theme", "time_zone", "has_memory", "tenant", "agent"]
    readonly_fields = ["user", "has_memory", "tenant", "agent"]

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(ApiToken)
class ApiTokenAdmin(SuperuserOnly, admin.ModelAdmin):
    """Tokens are made by their owner or by `manage.py api_token`, for only then is the text seen."""

    ordering = ["-created_at"]
    list_display = ["id", "name", "user", "created_at", "last_used_at", "revoked_at"]
    list_filter = [("revoked_at", admin.EmptyFieldListFilter)]
    list_select_related = ["user"]
    search_fields = ["id", "name", "user__username"]
    date_hierarchy = "created_at"
    fields = ["id", "user", "name", "created_at", "last_used_at", "revoked_at"]
    readonly_fields = ["id", "user", "created_at", "last_used_at", "revoked_at"]
    actions = ["revoke"]

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    @admin.action(description=_("Revoke the chosen tokens"))
    def revoke(self, request: HttpRequest, tokens: QuerySet[ApiToken]) -> None:
        count = tokens.filter(revoked_at=None).update(revoked_at=timezone.now())
        self.message_user(request, _("Tokens revoked: %(count)d") % {"count": count})
