"""`GET /openapi.json`: the description of the API. The document lies beside this file; a test holds it to what the server does."""

from pathlib import Path

from django.http import HttpRequest, HttpResponse

DOCUMENT = Path(__file__).with_name("openapi.json").read_bytes()


async def openapi(request: HttpRequest) -> HttpResponse:
    return HttpResponse(DOCUMENT, content_type="application/json")
