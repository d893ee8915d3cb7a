"""Why a call is refused. Each answer is `{"error": {"code", "message"}}` in the caller's language."""

import re
from http import HTTPStatus

from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _
from django.views import defaults
from django.views.decorators.csrf import csrf_exempt

from chat.api.answers import json_answer
from chat.api.words import refusal_words
from chat.runs.errors import RunRefused, TooManyRuns

_API_PATHS = re.compile(r"/(agents|threads|runs|healthz|readyz|metrics|openapi\.json)(/|$)")
_HEADERS = {"key": "Idempotency-Key"}  # what an order calls otherwise than its caller
RETRY_AFTER_SECONDS = 60  # the window of the limit per minute


class ApiError(Exception):
    """The call is refused."""

    code = "refused"
    status = HTTPStatus.BAD_REQUEST

    def message(self) -> str:
        return _("The call was not accepted.")

    def headers(self) -> dict[str, str]:
        return {}

    def response(self) -> JsonResponse:
        return error_response(self.code, self.message(), self.status, self.headers())


class NotAuthenticated(ApiError):
    """Neither a session nor a usable token."""

    code = "not_authenticated"
    status = HTTPStatus.UNAUTHORIZED

    def message(self) -> str:
        return _("Log in, or send the header “Authorization: Bearer” with a valid token.")

    def headers(self) -> dict[str, str]:
        return {"WWW-Authenticate": 'Bearer realm="api"'}


class CsrfFailed(ApiError):
    """A changing call with a session but without its CSRF token."""

    code = "csrf_failed"
    status = HTTPStatus.FORBIDDEN

    def message(self) -> str:
        return _("Calls with a session must send the CSRF token in the header “X-CSRFToken”.")


class NotFound(ApiError):
    """Does not exist, or is not the caller's: both look the same."""

    code = "not_found"
    status = HTTPStatus.NOT_FOUND

    def message(self) -> str:
        return _("This does not exist.")


class MethodNotAllowed(ApiError):
    """The path exists, but not for this method."""

    code = "method_not_allowed"
    status = HTTPStatus.METHOD_NOT_ALLOWED

    def __init__(self, allowed: list[str]) -> None:
        super().__init__(self.code)
        self.allowed = ", ".join(allowed)

    def message(self) -> str:
        return _("This path answers only %(methods)s.") % {"methods": self.allowed}

    def headers(self) -> dict[str, str]:
        return {"Allow": self.allowed}


class InvalidField(ApiError):
    """A value is missing, unknown or not as it must be. `problem` is a sentence in the caller's language."""

    code = "invalid_field"

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(field)
        self.field = field
        self.problem = problem

    def message(self) -> str:
        return f"{self.field}: {self.problem}"


class InvalidBody(InvalidField):
    """The body as a whole cannot be read."""

    code = "invalid_body"

    def __init__(self, problem: str) -> None:
        super().__init__("body", problem)


class BodyTooLarge(InvalidBody):
    """The body is over the limit."""

    code = "body_too_large"


class Impossible(ApiError):
    """The thing exists, but this cannot be done with it; `code` says why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code

    def message(self) -> str:
        return refusal_words(self.code)


class NotYet(Impossible):
    """What the description names and this version does not do."""


def error_response(code: str, message: str, status: int, headers: dict[str, str] | None = None) -> JsonResponse:
    return json_answer({"error": {"code": code, "message": message}}, status=status, headers=headers)


def refused_response(refused: RunRefused) -> JsonResponse:
    """The answer to an order that was not accepted; code and status are those of the refusal."""
    words = refusal_words(refused.code)
    field = _HEADERS.get(refused.field, refused.field)
    message = f"{field}: {words}" if field else words
    headers = {"Retry-After": str(RETRY_AFTER_SECONDS)} if isinstance(refused, TooManyRuns) else {}
    return error_response(refused.code, message, refused.status, headers)


@csrf_exempt
async def unknown_path(request: HttpRequest, rest: str = "") -> JsonResponse:
    """Answers for the paths below the API's names that do not exist."""
    return NotFound().response()


def is_api(request: HttpRequest) -> bool:
    """Whether the call was for the API; pages share the first part of some paths."""
    match = request.resolver_match
    if match is None:  # refused before it was looked up
        return bool(_API_PATHS.match(request.path_info))
    return bool(match.url_name and match.url_name.startswith("api-"))


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """Answers what Django itself refuses (a wrong host, a header too large)."""
    if is_api(request):
        return error_response("bad_request", _("The request cannot be read."), HTTPStatus.BAD_REQUEST)
    return defaults.bad_request(request, exception)


def server_error(request: HttpRequest) -> HttpResponseBase:
    """Answers when a view has failed; Django has logged the traceback."""
    if is_api(request):
        return error_response("internal", refusal_words("internal"), HTTPStatus.INTERNAL_SERVER_ERROR)
    return defaults.server_error(request)
