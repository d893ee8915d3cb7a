"""What every request gets before its view, and every response after it.

HeadersMiddleware     what holds for all responses: headers, and the way to the log-in for fragments
PreferenceMiddleware  who asks, in which school, language and time zone
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import cast
from urllib.parse import urlencode, urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone, translation
from django.utils.cache import patch_cache_control
from django.utils.http import url_has_allowed_host_and_scheme
from django_htmx.middleware import HtmxDetails

from chat.models import Membership, Preference, Tenant
from chat.runs.bridge import hop

Handler = Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]

# Nothing here uses a sensor, a camera or a payment; the clipboard is for the copy buttons.
PERMISSIONS_POLICY = "camera=(), clipboard-write=(self), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()"


class PageRequest(HttpRequest):
    """A request as views get it from the middlewares; behind `login_required` its user is a User."""

    user: User
    preference: Preference
    tenant: Tenant | None
    memberships: list[Membership]
    htmx: HtmxDetails


@dataclass(frozen=True, slots=True)
class Standing:
    """Who asks: preference and memberships (in the order they were joined) of a user."""

    user: User | AnonymousUser
    preference: Preference = field(default_factory=Preference)
    memberships: list[Membership] = field(default_factory=list)

    @property
    def tenant(self) -> Tenant | None:
        """The school last chosen, if the user is still a member, else the first one."""
        schools = [membership.tenant for membership in self.memberships]
        chosen = (school for school in schools if school.pk == self.preference.tenant_id)
        return next(chosen, schools[0] if schools else None)


def standing_of(request: HttpRequest) -> Standing:
    """Reads session, user, and then preference and memberships in one query (a second one for a user without a school)."""
    user = request.user
    if not isinstance(user, User):
        return Standing(AnonymousUser())
    found = Membership.objects.filter(user_id=user.pk).select_related("tenant", "user__preference")
    memberships = list(found.order_by("created_at", "tenant_id"))
    if memberships and hasattr(memberships[0].user, "preference"):
        return Standing(user, memberships[0].user.preference, memberships)
    stored = None if memberships else Preference.objects.filter(user_id=user.pk).first()
    return Standing(user, stored or Preference(user_id=user.pk), memberships)


class PreferenceMiddleware:
    """Sets `preference`, `tenant` and `memberships` on the request and activates language and time zone.

    Async views stay on the event loop: session, user and preference are read in one hop, none without a session cookie.
    """

    sync_capable = async_capable = True

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response
        self.is_async = iscoroutinefunction(get_response)
        if self.is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        if self.is_async:
            return self.answer(request)
        if _may_be_signed_in(request):
            _apply(request, standing_of(request))
        else:
            _apply(request, Standing(AnonymousUser()))
        return self.get_response(request)

    async def answer(self, request: HttpRequest) -> HttpResponseBase:
        standing = await hop(standing_of, request) if _may_be_signed_in(request) else Standing(AnonymousUser())

        async def auser() -> User | AnonymousUser:
            return standing.user

        request.auser = auser
        _apply(request, standing)
        return await cast(Awaitable[HttpResponseBase], self.get_response(request))


def _may_be_signed_in(request: HttpRequest) -> bool:
    return settings.SESSION_COOKIE_NAME in request.COOKIES


def _apply(request: HttpRequest, standing: Standing) -> None:
    page = cast(PageRequest, request)
    page.preference, page.tenant, page.memberships = standing.preference, standing.tenant, standing.memberships
    if standing.preference.language in dict(settings.LANGUAGES):
        translation.activate(standing.preference.language)
        page.LANGUAGE_CODE = translation.get_language()
    zone = _zone(standing.preference.time_zone)
    if zone:
        timezone.activate(zone)
    else:
        timezone.deactivate()


def _zone(name: str) -> ZoneInfo | None:
    """None for an empty name, and for one that this machine's database of time zones does not have."""
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError):
        return None


class HeadersMiddleware:
    """Headers of all pages. What a view has not decided otherwise is personal and kept by no cache.

    A fragment asked for after the session ended is answered with a reload of its page, which then asks to log in; a
    form sent after it leads back to its page.
    """

    sync_capable = async_capable = True

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response
        self.is_async = iscoroutinefunction(get_response)
        if self.is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        if self.is_async:
            return self.answer(request)
        return _finished(request, cast(HttpResponseBase, self.get_response(request)))

    async def answer(self, request: HttpRequest) -> HttpResponseBase:
        return _finished(request, await cast(Awaitable[HttpResponseBase], self.get_response(request)))


def _page_behind(request: HttpRequest) -> str:
    """The page on which a form was sent; the form's own address could not be opened after the log-in."""
    page = request.headers.get("Referer", "")
    if not url_has_allowed_host_and_scheme(page, {request.get_host()}, require_https=request.is_secure()):
        return "/"
    parts = urlsplit(page)
    return f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"


def _finished(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    location = response.headers.get("Location", "")
    if getattr(request, "htmx", False) and location.startswith(settings.LOGIN_URL):
        response = HttpResponse(status=204, headers={"HX-Refresh": "true"})
    elif request.method == "POST" and location.startswith(f"{settings.LOGIN_URL}?"):
        response.headers["Location"] = f"{settings.LOGIN_URL}?{urlencode({'next': _page_behind(request)}, safe='/')}"
    response.headers.setdefault("Permissions-Policy", PERMISSIONS_POLICY)
    response.headers.setdefault("X-Robots-Tag", "noindex, nofollow")
    if not response.has_header("Cache-Control"):
        patch_cache_control(response, private=True, no_store=True)
    return response
