"""Who calls: `Authorization: Bearer <token>`, else the session (DESIGN §6).

A bearer header decides alone: a wrong token is refused even with a valid session beside it. Calls with a session that
change something must carry the CSRF token; calls with a bearer token need none, no browser sends it by itself.
"""

from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.csrf import CsrfViewMiddleware
from django.utils import timezone

from chat.api.errors import CsrfFailed, NotAuthenticated
from chat.models import ApiToken
from chat.models.tenancy import token_digest
from chat.runs.bridge import hop

TOUCH_EVERY = timedelta(minutes=1)
TOKEN_MAX_CHARS = 200  # ours have 47


@dataclass(frozen=True, slots=True)
class Caller:
    """The user who calls; `language` is their preference, "" when they have none."""

    user: User
    language: str = ""


async def authenticate(request: HttpRequest) -> Caller:
    """Raises NotAuthenticated or CsrfFailed."""
    header = request.headers.get("Authorization")
    if header is not None:
        return await hop(caller_of_token, bearer_token(header))
    user = await request.auser()
    if isinstance(user, AnonymousUser) or not isinstance(user, User):
        raise NotAuthenticated
    # The preference is active already, by chat.middleware.
    if request.method not in ("GET", "HEAD") and _csrf.process_view(request, _checked, (), {}) is not None:
        raise CsrfFailed
    return Caller(user)


def bearer_token(header: str) -> str:
    """The token of an Authorization header; "" when the header is of another kind or not of a token's form."""
    scheme, _, token = header.partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or len(token) > TOKEN_MAX_CHARS or not token.isascii():
        return ""
    return token


def caller_of_token(token: str) -> Caller:
    """Looks the token up by its hash and notes that it was used, at most once a minute."""
    found = ApiToken.objects.usable().select_related("user__preference").filter(digest=token_digest(token)).first() if token else None
    if found is None:
        raise NotAuthenticated
    now = timezone.now()
    if found.last_used_at is None or found.last_used_at < now - TOUCH_EVERY:
        stale = Q(last_used_at=None) | Q(last_used_at__lt=now - TOUCH_EVERY)
        ApiToken.objects.filter(stale, pk=found.pk).update(last_used_at=now)
    language = found.user.preference.language if hasattr(found.user, "preference") else ""
    return Caller(found.user, language if language in dict(settings.LANGUAGES) else "")


def _checked(request: HttpRequest) -> HttpResponseBase:
    """Stands for a view that is not exempt from the CSRF check; the views of the API are, for the bearer's sake."""
    return HttpResponse()


_csrf = CsrfViewMiddleware(_checked)
