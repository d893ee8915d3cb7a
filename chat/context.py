"""What the templates of all pages get."""

import asyncio

from django.contrib.auth.models import User
from django.http import HttpRequest

from chat.models import Membership
from chat.panel.badge import Badge, badge_of


def page(request: HttpRequest) -> dict[str, object]:
    """The theme, the schools of the user and the current one. Empty where a response was made before the middlewares ran."""
    memberships: list[Membership] = getattr(request, "memberships", [])
    preference = getattr(request, "preference", None)
    return {
        "theme": preference.theme if preference else "system",
        "school": getattr(request, "tenant", None),
        "schools": [membership.tenant for membership in memberships],
        "memory_badge": lambda: _badge(request),  # asked for by pages with a header only
    }


def _badge(request: HttpRequest) -> Badge | None:
    """What waits for the user in their school; None for nobody, and on the event loop, where refusals of async views are told."""
    user, tenant = request.user, getattr(request, "tenant", None)
    if tenant is None or not isinstance(user, User) or _is_on_loop():
        return None
    return badge_of(user, tenant.pk)


def _is_on_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
