from django.contrib import admin
from django.db.models import Model, QuerySet
from django.forms import ModelForm
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.admin.base import SchoolAdmin, SuperuserOnly
from chat.models import ApiToken, Membership, Preference, Tenant
from chat.models.tenancy import ping


@admin.register(Tenant)
class TenantAdmin(SchoolAdmin):
    school_path = "pk"
    ordering = ["name", "pk"]
    list_display = ["name", "id", "has_memory", "created_at"]
    list_filter = ["has_memory"]
    search_fields = ["name", "id"]
    date_hierarchy = "created_at"
    fields = ["id", "name", "has_memory", "created_at"]
    readonly_fields = ["id", "created_at"]

    def save_model(self, request: HttpRequest, obj: Tenant, form: ModelForm, change: bool) -> None:
        """A switch of memory is shown on the members' open pages at once."""
        super().save_model(request, obj, form, change)
        if change and "has_memory" in form.changed_data:
            ping(*obj.memberships.values_list("user_id", flat=True))


@admin.register(Membership)
class MembershipAdmin(SchoolAdmin):
    ordering = ["tenant", "pk"]
    list_display = ["user", "tenant", "role", "created_at"]
    list_filter = ["role", ("tenant", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["user", "tenant"]
    search_fields = ["user__username", "user__first_name", "user__last_name"]
    date_hierarchy = "created_at"
    fields = ["tenant", "user", "role", "created_at"]
    readonly_fields = ["created_at"]

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
