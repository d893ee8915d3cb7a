"""The knowledge base: the documents of a teacher and of their school, one of them, and every change but those with a file.

What is somebody else's answers like what does not exist. Of the school's documents teachers see everything and change nothing.
"""

from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from chat.library.cards import DocumentCard, limits, refusal_words
from chat.library.shelves import (
    STATES,
    Filters,
    digest_of,
    document_of_passage,
    find_card,
    page_with,
    passages_of,
    shelves,
)
from chat.memory.knowledge.keep import DocumentRefused, delete_document, retry_document, set_agents, versions
from chat.middleware import PageRequest
from chat.models import Agent, DocumentFile, Membership, Owner
from chat.sidebar import agents_of, last_agent
from chat.views.chat import frame_context


def frame(page: PageRequest) -> dict[str, object]:
    """The sidebar, with the assistant that was used last."""
    agent = last_agent(page.user, page.preference, page.tenant.pk) if page.tenant is not None else None
    return frame_context(page, agent)


def is_administrator(page: PageRequest) -> bool:
    """Whether the user is an administrator of the current school."""
    return any(one.tenant == page.tenant and one.role == Membership.Role.ADMIN for one in page.memberships)


def own_card(page: PageRequest, document_id: str, *, to_write: bool = False) -> DocumentCard:
    """The document that the user may see, or `to_write`; 404 alike for one of somebody else and one that does not exist."""
    card = find_card(page.user, document_id)
    if card is None or (to_write and not card.may_write):
        raise Http404
    return card


def owner_of(page: PageRequest, card: DocumentCard) -> Owner:
    """The user as somebody of the document's school, which need not be the one that is chosen now."""
    return Owner(card.row.tenant_id, page.user.pk)


@require_GET
@login_required
def documents(request: HttpRequest) -> HttpResponse:
    """Both lists; `?q=`, `?agent=` and `?state=` narrow them, `?shelf=` and `?page=` turn the pages of one."""
    page = cast(PageRequest, request)
    around = frame(page)
    context = around | lists_context(page, Filters.of(request.GET)) | upload_context(page, cast(list[Agent], around["agents"]))
    return render(request, "chat/knowledge/page.html", context)


@require_GET
@login_required
def news(request: HttpRequest) -> HttpResponse:
    """The lists anew when they differ from what the page has `?seen=`, else 204; of one `?document=` only whether it differs."""
    page = cast(PageRequest, request)
    if document_id := request.GET.get("document", "").replace("\0", ""):
        has_changed = digest_of([own_card(page, document_id)]) != request.GET.get("seen", "")
        return HttpResponse(status=200 if has_changed else 204)
    context = lists_context(page, Filters.of(request.GET))
    if context["digest"] == request.GET.get("seen", ""):
        return HttpResponse(status=204)
    return render(request, "chat/knowledge/_lists.html", context)


def lists_context(page: PageRequest, filters: Filters) -> dict[str, object]:
    may_keep_school = is_administrator(page)
    found = shelves(Owner(page.tenant.pk, page.user.pk), filters, is_administrator=may_keep_school) if page.tenant is not None else []
    return {
        "filters": filters,
        "shelves": found,
        "digest": digest_of(card for shelf in found for card in shelf.cards),
        "is_going": any(card.is_going for shelf in found for card in shelf.cards),
        "is_empty": not filters.is_narrow and not any(shelf.cards for shelf in found),
        "is_administrator": may_keep_school,
    }


def upload_context(page: PageRequest, offered: list[Agent]) -> dict[str, object]:
    """The form for files. Chosen at first: the assistant whose documents are looked at, else the one used last, else the first."""
    ids = [agent.pk for agent in offered]
    wanted = (page.GET.get("agent", ""), page.preference.agent_id, *ids)
    chosen_id = next((one for one in wanted if one in ids), "")
    return {"offered": offered, "chosen_id": chosen_id, "states": STATES.items()} | limits()


@require_GET
@login_required
def document(request: HttpRequest, document_id: str) -> HttpResponse:
    """One document; its passages by `?page=`, or where `?passage=` stands."""
    page = cast(PageRequest, request)
    card = own_card(page, document_id)
    found_id = request.GET.get("passage", "").replace("\0", "")[:40]
    number = Filters.of(request.GET).page
    part = passages_of(card.row, page_with(card.row, found_id) if found_id else number)
    history = list(versions(card.row).select_related("uploaded_by"))
    context: dict[str, object] = {
        "card": card,
        "part": part,
        "found_id": found_id,
        "history": history if len(history) > 1 else [],
        "current": next((one for one in history if one.is_current and one.pk != card.id), None),
        "offered": agents_of(page.user, card.row.tenant_id) if card.may_write else [],
        "chosen_ids": {agent.pk for agent in card.agents},
        "digest": digest_of([card]),
    }
    return render(request, "chat/knowledge/document.html", frame(page) | context | limits())


@require_GET
@login_required
def passage(request: HttpRequest, passage_id: str) -> HttpResponse:
    """Leads to the passage in its document."""
    document_id = document_of_passage(cast(PageRequest, request).user, passage_id)
    if not document_id:
        raise Http404
    return redirect(f"{reverse('document', args=[document_id])}?passage={passage_id}#{passage_id}")


@require_GET
@login_required
def document_file(request: HttpRequest, document_id: str) -> HttpResponse:
    """The file as it was uploaded, only ever to be saved: what it holds must not run in our pages."""
    card = own_card(cast(PageRequest, request), document_id)
    content = DocumentFile.objects.filter(document=card.row).values_list("content", flat=True).first()
    if content is None:
        raise Http404
    response = HttpResponse(bytes(content), content_type="application/octet-stream")
    response.headers["Content-Disposition"] = content_disposition_header(True, card.row.name) or "attachment"
    response.headers["Content-Security-Policy"] = "sandbox; default-src 'none'"
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response


@require_POST
@login_required
def choose_agents(request: HttpRequest, document_id: str) -> HttpResponse:
    """Which assistants use the document."""
    page = cast(PageRequest, request)
    card = own_card(page, document_id, to_write=True)
    chosen = [one.replace("\0", "")[:40] for one in request.POST.getlist("agent")]
    try:
        set_agents(owner_of(page, card), card.id, chosen)
    except DocumentRefused as refused:
        messages.warning(request, refusal_words(refused.code, refused.values))
    else:
        words = ngettext("Saved: %(count)d assistant uses “%(name)s”.", "Saved: %(count)d assistants use “%(name)s”.", len(set(chosen)))
        nobody = _("Saved: no assistant uses “%(name)s”.")
        messages.success(request, (words if chosen else nobody) % {"count": len(set(chosen)), "name": card.row.name})
    return back_to("document", card.id)


@require_POST
@login_required
def retry(request: HttpRequest, document_id: str) -> HttpResponse:
    """Has the file read once more."""
    page = cast(PageRequest, request)
    card = own_card(page, document_id, to_write=True)
    try:
        retry_document(owner_of(page, card), card.latest.pk)
    except DocumentRefused as refused:
        messages.warning(request, refusal_words(refused.code, refused.values))
    else:
        messages.success(request, _("“%(name)s” is being read again.") % {"name": card.latest.name})
    return back_to("knowledge") if request.POST.get("in") == "list" else back_to("document", card.id)


@require_http_methods(["GET", "POST"])
@login_required
def delete(request: HttpRequest, document_id: str) -> HttpResponse:
    """Says what goes with a document, and deletes it."""
    page = cast(PageRequest, request)
    card = own_card(page, document_id, to_write=True)
    if request.method == "GET":
        count = versions(card.row).count() if card.row.is_current else 1
        return render(request, "chat/knowledge/delete.html", frame(page) | {"card": card, "older": count - 1})
    try:
        delete_document(owner_of(page, card), card.id)
    except DocumentRefused as refused:
        messages.warning(request, refusal_words(refused.code, refused.values))
    else:
        messages.success(request, _("Deleted: “%(name)s”. No assistant uses it any more.") % {"name": card.row.name})
    return back_to("knowledge")


def back_to(name: str, *ids: str) -> HttpResponse:
    response = redirect(name, *ids)
    response.status_code = 303
    return response
