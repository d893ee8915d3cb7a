"""What the templates of all pages get."""

from django.http import HttpRequest

from chat.models import Membership


def page(request: HttpRequest) -> dict[str, object]:
    """The theme, the schools of the user and the current one. Empty where a response was made before the middlewares ran."""
    memberships: list[Membership] = getattr(request, "memberships", [])
    preference = getattr(request, "preference", None)
    return {
        "theme": preference.theme if preference else "system",
        "school": getattr(request, "tenant", None),
        "schools": [membership.tenant for membership in memberships],
    }
