"""One change of notes: what waits is decided on, what was written is taken back, on whichever page."""

from typing import cast

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import render
from django.views.decorators.http import require_http_methods
from django.views.decorators.vary import vary_on_headers

from chat.memory.notes.base import Result
from chat.middleware import PageRequest
from chat.models import Agent, NoteOp, NoteTarget
from chat.panel.note_ops import NoteOpCard, note_op_card, own_note_ops
from chat.panel.note_words import accepted_of, result_words
from chat.panel.notes import noting_agents
from chat.views.memory import back_to_panel, in_place, missing, whole_panel
from chat.views.memory_context import drawer_context, frame, tenant_of
from chat.views.notes import accepted, back_to_store
from chat.views.notes_bulk import decide_on_note
from chat.views.notes_context import place_in, store_card, store_context
from chat.views.thread_notes import answer_in_round

VERBS = ("approve", "reject", "undo", "reconsider", "erase")
LEAVES = ("gone", "decided")  # the card is about nothing any more


@require_http_methods(["GET", "POST"])
@login_required
@vary_on_headers("HX-Request")
def note_op(request: HttpRequest, op_id: str) -> HttpResponse:
    """One operation by itself, or in its place with `?part=`; POST decides on it."""
    page = cast(PageRequest, request)
    row = own_note_ops(page.user).filter(pk=op_id).first()
    if row is None:
        return missing(page, is_fact=False)
    card = note_op_card(row)
    verb = request.POST.get("verb", "")
    if request.method == "GET" or verb == "edit":
        card.is_editing = card.is_editable and (verb == "edit" or request.GET.get("part") == "edit")
        card.draft = card.wording
        return _item(page, card)
    if verb not in VERBS:
        return HttpResponseBadRequest()
    result = decide_on_note(page.user, verb, row.pk, content=request.POST.get("text"), accepted=accepted(page))
    place = request.POST.get("in") or request.GET.get("in", "")
    if place == "notes":
        return _store(page, row, verb, result)
    if place == "round":
        return answer_in_round(page, row, "" if result.is_done else result_words(result, verb))
    if verb == "approve" and not result.is_done and result.code not in LEAVES:
        return _refuse(page, card, result)
    words = result_words(result, verb)
    if verb in ("undo", "reconsider") and not (page.htmx and place == "drawer"):
        return whole_panel(page, words, is_done=result.is_done)
    if not page.htmx:
        return back_to_panel(page, words, is_done=result.is_done)
    return in_place(page, words, is_done=result.is_done, is_fact=False)


def _item(page: PageRequest, card: NoteOpCard) -> HttpResponse:
    """The card: in its place for htmx, else as a page of its own."""
    back = page.GET.get("back", "") or page.POST.get("back", "")
    context: dict[str, object] = {"card": card, "place": page.GET.get("in", "panel"), "back": back}
    if page.htmx:
        return render(page, card.template, context)
    return render(page, "chat/notes/item.html", frame(page) | context | {"place": "item"})


def _refuse(page: PageRequest, card: NoteOpCard, result: Result) -> HttpResponse:
    """The card again, and why it was not written; with its wording open where another wording would help."""
    card.error, card.accepted = result_words(result, "approve"), accepted_of(result)
    card.is_editing = card.is_editable
    card.draft = page.POST.get("text", card.wording)
    context: dict[str, object] = {"card": card, "place": page.POST.get("in", "panel"), "back": page.POST.get("back", "")}
    if page.htmx and context["place"] == "drawer":
        return render(page, "chat/memory/_drawer.html", drawer_context(page, words=card.error, card=card))
    if page.htmx:
        return render(page, card.template, context)
    return render(page, "chat/notes/item.html", frame(page) | context | {"place": "item"}, status=422)


def _store(page: PageRequest, row: NoteOp, verb: str, result: Result) -> HttpResponse:
    """On the page of the notes: the store anew, with the assistant whose page it is."""
    words = result_words(result, verb)
    agent = _page_agent(page)
    place = place_in(page, NoteTarget(row.target), agent)
    if row.target == NoteTarget.MEMORY and agent is None:
        raise Http404
    if not page.htmx:
        return back_to_store(page, place, agent, words, is_done=result.is_done)
    context = store_context(page, store_card(page, place, agent), agent, words=words, is_done=result.is_done)
    return render(page, "chat/notes/_store_after.html", context)


def _page_agent(page: PageRequest) -> Agent | None:
    offered = noting_agents(page.user, tenant_of(page))
    return next((one for one in offered if one.pk == page.POST.get("agent", "")), None)
