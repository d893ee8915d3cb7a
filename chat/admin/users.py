from django.contrib import admin
from django.contrib.admin.options import InlineModelAdmin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.http import HttpRequest

from chat.admin.base import SuperuserOnly
from chat.models import Membership


class MembershipInline(admin.TabularInline):
    model = Membership
    extra = 1
    fields = ["tenant", "role"]


class UserPages(SuperuserOnly, UserAdmin):
    """Log-ins. For superusers only: whoever may edit users could make anybody a superuser."""

    inlines = [MembershipInline]
    date_hierarchy = "date_joined"
    list_display = ["username", "first_name", "last_name", "is_active", "is_staff", "is_superuser", "last_login"]

    def get_inline_instances(self, request: HttpRequest, obj: User | None = None) -> list[InlineModelAdmin]:
        """No schools on the page that makes a user: it asks for name and password only."""
        return super().get_inline_instances(request, obj) if obj else []


class GroupPages(SuperuserOnly, GroupAdmin):
    """Groups, for superusers only."""


admin.site.unregister(User)
admin.site.unregister(Group)
admin.site.register(User, UserPages)
admin.site.register(Group, GroupPages)
