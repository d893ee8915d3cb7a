"""Answers to what is asked before text goes to another vendor: from the card of the chat page, and from the settings."""

from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST
from django.views.decorators.vary import vary_on_headers

from chat.consents import said_by, say
from chat.middleware import PageRequest


@require_POST
@login_required
@vary_on_headers("HX-Request")
def answer_consent(request: HttpRequest) -> HttpResponse:
    """Agrees, declines or withdraws; counts from the next message on."""
    page = cast(PageRequest, request)
    word = request.POST.get("answer", "")
    if word not in ("agree", "decline"):
        raise Http404
    provider_id = request.POST.get("provider", "").replace("\0", "")[:40]
    ask = say(page.user, provider_id, request.POST.get("purpose", ""), is_agreed=word == "agree")
    if ask is None:
        raise Http404
    back = request.POST.get("back", "")
    is_settings = back == "settings"
    if page.htmx and is_settings:
        return render(request, "chat/consents/_list.html", {"consents": said_by(page.user), "answered": ask})
    if page.htmx:
        return render(request, "chat/consents/_card.html", {"answered": ask, "is_agreed": word == "agree"})
    messages.success(request, _("Your answer is saved."))
    if is_settings:
        return redirect("settings")
    is_ours = url_has_allowed_host_and_scheme(back, allowed_hosts=None) and back.startswith("/")
    return redirect(back if is_ours else "home")
