"""What a memory backend outside remembers, and forgetting everything (DESIGN §5, Backends).

The backend is asked after the page is there: its list is a fragment that the panel loads, or a page of its own without
script. A backend that is slow or away is said in words and delays nothing else.
"""

import asyncio
from dataclasses import dataclass
from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods
from django.views.decorators.vary import vary_on_headers

from chat.memory.backends.base import BackendError
from chat.memory.external import chosen
from chat.memory.external.forgetting import ask_everything, scope_of
from chat.middleware import PageRequest
from chat.models import Owner
from chat.panel.external import (
    GAPS_MOST,
    ITEMS_MOST,
    Found,
    Outside,
    forgetting_of,
    found_of,
    gaps_of,
    has_backends,
    not_found,
    outside_of,
    put_away_gaps,
    standing_of,
)
from chat.panel.lists import counts_of
from chat.runs.bridge import hop
from chat.sidebar import agents_of
from chat.views.knowledge import is_administrator
from chat.views.memory_context import frame, tenant_of

SEARCH_SECONDS = 10.0
QUERY_CHARS = 200


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be looked for, and `state`, which stands in the way of it (chat.panel.external.standing_of)."""

    owner: Owner
    outside: Outside
    query: str
    state: str
    is_administrator: bool


@require_http_methods(["GET", "POST"])
@login_required
@vary_on_headers("HX-Request")
async def backend(request: HttpRequest) -> HttpResponse:
    """What is remembered there for `?agent=` that fits `?q=`; POST puts away the rounds that were not captured."""
    page = cast(PageRequest, request)
    if request.method == "POST":
        return cast(HttpResponse, await hop(_put_away, page))
    asked = await hop(_asked, page)
    if asked is None:
        return redirect("memory")
    found = Found() if asked.state else await _search(asked)
    return await hop(_answer, page, asked, found)


def _asked(page: PageRequest) -> Asked | None:
    """None where nothing is kept outside; 404 for an assistant that is not the user's or has no such memory."""
    if page.tenant is None or not has_backends():
        return None
    agent_id = page.GET.get("agent", "")
    outside = outside_of(agents_of(page.user, page.tenant.pk), agent_id=agent_id, preferred_id=page.preference.agent_id)
    if outside is None and agent_id:
        raise Http404
    if outside is None:
        return None
    owner = Owner(page.tenant.pk, page.user.pk, outside.chosen.pk)
    query = page.GET.get("q", "").replace("\0", "").strip()[:QUERY_CHARS]
    return Asked(owner, outside, query, standing_of(owner, outside), is_administrator(page))


async def _search(asked: Asked) -> Found:
    """Asks the backend, for a limited time."""
    manager = chosen.manager(asked.outside.backend)
    try:
        async with asyncio.timeout(SEARCH_SECONDS):
            items = await manager.search(scope_of(asked.owner), asked.query, limit=ITEMS_MOST)
    except BackendError as error:
        return not_found(error, asked.outside.title)
    except TimeoutError:
        return not_found(None, asked.outside.title)
    # Looking through so many foreign texts is no work for the loop.
    return await hop(found_of, items, asked.outside.chosen.name, shows_source=asked.is_administrator)


def _answer(page: PageRequest, asked: Asked, found: Found) -> HttpResponse:
    context: dict[str, object] = {"outside": asked.outside, "found": found, "state": asked.state, "q": asked.query}
    if page.htmx:
        return render(page, "chat/memory/_backend_found.html", context)
    context |= {"gaps": gaps_of(page.user, asked.owner.tenant_id), "counts": counts_of(page.user, asked.owner.tenant_id)}
    return render(page, "chat/memory/backend.html", frame(page) | context)


def _put_away(page: PageRequest) -> HttpResponse:
    tenant_id = tenant_of(page)
    put_away_gaps(page.user, tenant_id, page.POST.getlist("run")[:GAPS_MOST])
    if page.htmx:
        return render(page, "chat/memory/_backend_gaps.html", {"gaps": gaps_of(page.user, tenant_id)})
    messages.success(page, _("The list is put away."))
    return redirect("memory")


@require_http_methods(["GET", "POST"])
@login_required
@vary_on_headers("HX-Request")
def forget(request: HttpRequest) -> HttpResponse:
    """Forgets everything of the teacher in their school, after a second yes; GET tells how far that is, 204 when as `?seen=`."""
    page = cast(PageRequest, request)
    if page.tenant is None:
        raise Http404
    is_sure = request.method == "POST" and request.POST.get("sure") == "yes"
    if is_sure:
        ask_everything(page.tenant.pk, page.user.pk)
    forgetting = forgetting_of(page.user, page.tenant.pk)
    if request.method == "GET" and page.htmx and forgetting.mark == request.GET.get("seen", ""):
        return HttpResponse(status=204)
    context: dict[str, object] = {
        "forgetting": forgetting,
        "is_asking": request.method == "POST" and not request.POST.get("sure"),
        "outside": outside_of(agents_of(page.user, page.tenant.pk)),
        "is_told": request.method == "POST",
        "clears": is_sure and bool(page.htmx),
    }
    if page.htmx:
        return render(request, "chat/memory/_forget.html", context)
    if is_sure:
        messages.success(request, _("Everything is being forgotten. This goes on in the background."))
        return redirect("memory")
    return render(request, "chat/memory/forget.html", frame(page) | context | {"counts": counts_of(page.user, page.tenant.pk)})
