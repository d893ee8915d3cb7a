"""The search of people over their own conversations."""

from typing import cast

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET
from django.views.decorators.vary import vary_on_headers

from chat.finding import Findings, Quest, assistants_talked_to, find, find_in_thread, own
from chat.middleware import PageRequest
from chat.sidebar import last_agent
from chat.views.chat import frame_context


@require_GET
@login_required
@vary_on_headers("HX-Request")
def search(request: HttpRequest) -> HttpResponse:
    """What was found for `?q=`, narrowed by `agent`, `from`, `to` and `thread`; a further page behind `?after=`."""
    page = cast(PageRequest, request)
    quest, after = Quest.of(request.GET), request.GET.get("after", "")
    context: dict[str, object] = {"found": _find(page, quest, after), "is_further": bool(after)}
    context["quest"] = own(page.user, page.tenant.pk if page.tenant is not None else "", quest)
    if page.htmx:
        return render(request, "chat/search/_more.html" if after else "chat/search/_results.html", context)
    agent = last_agent(page.user, page.preference, page.tenant.pk) if page.tenant is not None else None
    if page.tenant is not None:
        context["choices"] = assistants_talked_to(page.user, page.tenant.pk)
    return render(request, "chat/search/page.html", frame_context(page, agent) | context)


def _find(page: PageRequest, quest: Quest, after: str) -> Findings:
    if page.tenant is None:
        return Findings()
    search_in = find_in_thread if quest.thread else find
    return search_in(page.user, page.tenant.pk, quest, after)
