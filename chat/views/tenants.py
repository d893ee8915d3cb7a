"""The switch between the schools of one user."""

from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from chat.middleware import PageRequest
from chat.models import Preference


@require_POST
@login_required
def switch_tenant(request: HttpRequest) -> HttpResponse:
    """Makes `tenant` the current school; one that the user is no member of is answered like one that does not exist."""
    page = cast(PageRequest, request)
    wanted = request.POST.get("tenant", "")
    tenant = next((membership.tenant for membership in page.memberships if membership.tenant_id == wanted), None)
    if tenant is None:
        raise Http404
    Preference.objects.update_or_create(user=page.user, defaults={"tenant": tenant, "agent": None})
    messages.success(request, _("You are now at %(school)s.") % {"school": tenant.name})
    return redirect("/")
