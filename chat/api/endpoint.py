"""One view per path of the API: method, caller, language, errors."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import translation
from django.views.decorators.csrf import csrf_exempt

from chat.api.authentication import Caller, authenticate
from chat.api.errors import ApiError, MethodNotAllowed, refused_response
from chat.runs.errors import RunRefused

Call = Callable[..., Awaitable[HttpResponseBase]]  # (request, caller, ids of the path) -> response
View = Callable[..., Coroutine[Any, Any, HttpResponseBase]]


def endpoint(**calls: Call) -> View:
    """Makes the view of a path from its calls by method, such as `endpoint(GET=list_agents)`."""

    async def view(request: HttpRequest, **ids: str) -> HttpResponseBase:
        try:
            call = _call_for(request, calls)
            caller = await authenticate(request)
        except ApiError as error:
            return error.response()
        language = caller.language or translation.get_language()
        with translation.override(language):
            response = await _answer(call, request, caller, ids)
        if language:
            response.headers["Content-Language"] = language
        return response

    return csrf_exempt(view)  # authenticate checks it for callers with a session


def open_endpoint(call: Callable[[HttpRequest], Awaitable[HttpResponseBase]]) -> View:
    """Makes the view of a path that anybody may GET."""

    async def view(request: HttpRequest) -> HttpResponseBase:
        try:
            _call_for(request, {"GET": call})
            return await call(request)
        except ApiError as error:
            return error.response()

    return csrf_exempt(view)


def _call_for(request: HttpRequest, calls: dict[str, Call]) -> Call:
    method = "GET" if request.method == "HEAD" else str(request.method)
    if method not in calls:
        raise MethodNotAllowed(sorted(calls))
    return calls[method]


async def _answer(call: Call, request: HttpRequest, caller: Caller, ids: dict[str, str]) -> HttpResponseBase:
    try:
        return await call(request, caller, **ids)
    except ApiError as error:
        return error.response()
    except RunRefused as refused:
        return refused_response(refused)
