"""Files that come in: new documents, and new versions."""

from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from chat.library.cards import refusal_words
from chat.library.uploads import Outcome, receive, receive_version
from chat.middleware import PageRequest
from chat.models import Document, Owner
from chat.views.knowledge import back_to, own_card, owner_of

MULTIPART = "multipart/form-data"
NAMED_MOST = 5  # refused files that are named one by one after a form without script


@require_POST
@login_required
def upload(request: HttpRequest) -> HttpResponse:
    """Takes several files at once. The page's script sends one at a time and gets what became of it as a fragment."""
    page = cast(PageRequest, request)
    if page.tenant is None:
        raise Http404
    if request.content_type != MULTIPART:
        return HttpResponse(status=415)
    files = request.FILES.getlist("file")
    agent_ids = [one.replace("\0", "")[:40] for one in request.POST.getlist("agent")]
    is_school = request.POST.get("shelf") == "school"
    outcomes = receive(Owner(page.tenant.pk, page.user.pk), files, agent_ids=agent_ids, is_school=is_school)
    if page.htmx:
        return render(request, "chat/knowledge/_outcomes.html", {"outcomes": outcomes or [_no_file()]})
    _tell(request, outcomes)
    return back_to("knowledge")


@require_POST
@login_required
def replace(request: HttpRequest, document_id: str) -> HttpResponse:
    """Takes a new version of a document."""
    page = cast(PageRequest, request)
    card = own_card(page, document_id, to_write=True)
    if request.content_type != MULTIPART:
        return HttpResponse(status=415)
    file = request.FILES.get("file")
    outcome = receive_version(owner_of(page, card), card.id, file) if file is not None else _no_file()
    if outcome.is_kept:
        is_used = card.row.state == Document.State.READY
        words = _("The new version is being read. Until it is ready, the one before is used.") if is_used else _("The file is being read.")
        messages.success(request, words)
    else:
        _warn(request, outcome)
    return back_to("document", card.id)


def _no_file() -> Outcome:
    return Outcome("", refusal_words("no_file", {}), code="no_file")


def _tell(request: HttpRequest, outcomes: list[Outcome]) -> None:
    kept = [one for one in outcomes if one.is_kept]
    refused = [one for one in outcomes or [_no_file()] if not one.is_kept]
    if kept:
        words = ngettext("%(count)d file was uploaded and is being read.", "%(count)d files were uploaded and are being read.", len(kept))
        messages.success(request, words % {"count": len(kept)})
    for one in refused[:NAMED_MOST]:
        _warn(request, one)
    if rest := len(refused[NAMED_MOST:]):
        messages.warning(request, ngettext("%(count)d more was not kept.", "%(count)d more were not kept.", rest) % {"count": rest})


def _warn(request: HttpRequest, outcome: Outcome) -> None:
    messages.warning(request, _("%(name)s: %(words)s") % {"name": outcome.name, "words": outcome.words} if outcome.name else outcome.words)
