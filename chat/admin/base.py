"""What all pages of the admin site keep to.

A superuser sees every school. Anybody else sees the rows of the schools that they administrate (Membership role
`admin`), as far as their permissions reach. The texts of messages are shown only with `chat.view_content`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import ForeignKey, Model, QuerySet
from django.forms import ModelChoiceField
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from chat.models import Membership

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

VIEW_CONTENT = "chat.view_content"

admin.site.site_header = admin.site.site_title = _("Administration")


def administrated_schools(user: AbstractBaseUser | AnonymousUser) -> QuerySet[Any, Any]:
    """The ids of the schools that the user administrates, as a subquery."""
    return Membership.objects.filter(user_id=user.pk or 0, role=Membership.Role.ADMIN).values("tenant_id")


def is_school_administrator(request: HttpRequest) -> bool:
    """Whether the user administrates any school; asked once a request."""
    known: bool | None = getattr(request, "_is_school_administrator", None)
    if known is None:
        known = administrated_schools(request.user).exists()
        request._is_school_administrator = known  # type: ignore[attr-defined]
    return known


def may_view_content(request: HttpRequest) -> bool:
    return request.user.has_perm(VIEW_CONTENT)


class SchoolAdmin(admin.ModelAdmin):
    """Pages of rows that belong to a school.

    `school_path` is the lookup from the row to its school. `content_fields` hold texts of messages: without the
    permission they are in no form, no list, no search and no filter, so that nothing can be guessed by asking either.
    `content_search_fields` are searched only with it. `labels` name fields that have no name of their own.
    """

    school_path = "tenant"
    content_fields: Sequence[str] = ()
    content_search_fields: Sequence[str] = ()
    labels: Mapping[str, "_StrPromise"] = {}
    list_per_page = 50
    show_full_result_count = False

    def within(self, request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        """The rows of the schools that the user administrates."""
        return rows.filter(**{f"{self.school_path}__in": administrated_schools(request.user)})

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        if not may_view_content(request):
            rows = rows.defer(*self.content_fields)
        return rows if request.user.is_superuser else self.within(request, rows)

    def _may(self, request: HttpRequest) -> bool:
        return request.user.is_superuser or is_school_administrator(request)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return super().has_module_permission(request) and self._may(request)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return super().has_view_permission(request, obj) and self._may(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return super().has_add_permission(request) and self._may(request)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return super().has_change_permission(request, obj) and self._may(request)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return super().has_delete_permission(request, obj) and self._may(request)

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> list[Any]:
        fields = list(super().get_fields(request, obj))
        return fields if may_view_content(request) else [name for name in fields if name not in self.content_fields]

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        columns: list[Any] = list(super().get_list_display(request))
        if not may_view_content(request):
            columns = [name for name in columns if name not in self.content_fields]
        return [self._column(name) if name in self.labels else name for name in columns]

    def _column(self, name: str) -> Callable[[Model], object]:
        """A field's column of a list, under its label."""
        shown = f"get_{name}_display" if getattr(self.opts.get_field(name), "choices", None) else name

        @admin.display(description=self.labels[name], ordering=name)
        def column(row: Model) -> object:
            value = getattr(row, shown)
            return value() if callable(value) else value

        return column

    def get_form(self, request: HttpRequest, obj: Model | None = None, change: bool = False, **kwargs: Any) -> Any:  # noqa: ANN401, FBT001, FBT002
        return super().get_form(request, obj, change, **{"labels": self.labels} | kwargs)

    def get_search_fields(self, request: HttpRequest) -> list[str]:
        fields = list(super().get_search_fields(request))
        return [*fields, *self.content_search_fields] if may_view_content(request) else fields

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        if request is None or (lookup.split("__")[0] in self.content_fields and not may_view_content(request)):
            return False
        return super().lookup_allowed(lookup, value, request)

    def formfield_for_foreignkey(self, db_field: "ForeignKey[Any, Any]", request: HttpRequest, **kwargs: Any) -> ModelChoiceField | None:  # noqa: ANN401
        pages = self.admin_site._registry.get(db_field.remote_field.model)
        if isinstance(pages, SchoolAdmin):
            kwargs["queryset"] = pages.get_queryset(request)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)


class RecordAdmin(SchoolAdmin):
    """Pages of rows that only the product writes: to be read.

    They go with what they belong to (a superuser who deletes a conversation deletes its runs), never one by one.
    """

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        match = request.resolver_match
        own_pages = f"{self.opts.app_label}_{self.opts.model_name}_"
        return request.user.is_superuser and not (match and (match.url_name or "").startswith(own_pages))


class SuperuserOnly:
    """For pages of rows that do not belong to one school; stands before a ModelAdmin."""

    def has_module_permission(self, request: HttpRequest) -> bool:
        return request.user.is_superuser

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return request.user.is_superuser

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return request.user.is_superuser

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return request.user.is_superuser

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return request.user.is_superuser
