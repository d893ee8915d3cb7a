"""The notes: both texts as they are, and what a person changes in them by hand.

What became of a change is what chat.memory.notes found in the store. Without script each form comes back to the page, with a
message when it was done and with everything that was typed when it was not.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST
from django.views.decorators.vary import vary_on_headers

from chat.memory.notes import store
from chat.memory.notes.base import Author, Place, Result, Write
from chat.memory.notes.entries import join
from chat.middleware import PageRequest
from chat.models import Agent, NoteOp, NoteTarget
from chat.models.tenancy import ping
from chat.panel.note_words import accepted_of, result_words
from chat.panel.notes import StoreCard, entry_of
from chat.views.notes_context import history_card, page_context, place_of, store_card, store_context, whole_page

BY_HAND = Author(NoteOp.Origin.PANEL)
CONFLICT, REFUSED = 409, 422


@require_GET
@login_required
@vary_on_headers("HX-Request")
def notes(request: HttpRequest) -> HttpResponse:
    """USER.md and the MEMORY.md of an assistant; with `?history=` and `?after=` a further part of the history of one."""
    page = cast(PageRequest, request)
    agent_id, name, after = (request.GET.get(field, "").replace("\0", "") for field in ("agent", "history", "after"))
    if page.htmx and after and name in NoteTarget.values:
        return render(request, "chat/notes/_history_rows.html", history_card(page, agent_id, NoteTarget(name), after))
    return render(request, "chat/notes/page.html", whole_page(page, page_context(page, agent_id, history=(name, after))))


@require_POST
@login_required
@vary_on_headers("HX-Request")
def save(request: HttpRequest) -> HttpResponse:
    """Changes one store by hand: the whole text, one more entry, one less, or what was made out of a drifted text."""
    page = cast(PageRequest, request)
    verb = request.POST.get("verb", "")
    if verb not in _VERBS:
        return HttpResponseBadRequest()
    place, agent = place_of(page, request.POST)
    return answer(page, Asked(verb, place, agent), _VERBS[verb](page, place))


def _save_text(page: PageRequest, place: Place) -> Result:
    return store.save_text(place, page.POST.get("text", ""), page.POST.get("digest", ""), BY_HAND, accepted=accepted(page))


def _save_entries(page: PageRequest, place: Place) -> Result:
    """The entries that were chosen of those that stand there, in their order."""
    chosen = [entry_of(store.look(place), key) for key in page.POST.getlist("entry")]
    return store.save_text(place, join([one for one in chosen if one]), page.POST.get("digest", ""), BY_HAND, accepted=accepted(page))


def _add(page: PageRequest, place: Place) -> Result:
    return store.write(place, Write("add", content=page.POST.get("content", "")), BY_HAND, accepted=accepted(page))


def _remove(page: PageRequest, place: Place) -> Result:
    text = entry_of(store.look(place), page.POST.get("entry", ""))
    if not text:
        return Result({}, code="not_found")
    return store.write(place, Write("remove", old_text=text), BY_HAND)


_VERBS: dict[str, Callable[[PageRequest, Place], Result]] = {
    "save": _save_text,
    "entries": _save_entries,
    "add": _add,
    "remove": _remove,
}
_FORMS = {"save": "text", "entries": "entries", "add": "content", "upload": "file"}  # where a refusal is said


def accepted(page: PageRequest) -> list[str]:
    """The kinds of private text that a second yes has accepted."""
    return [kind for kind in page.POST.get("accepted", "").split(",") if kind]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a form asked of a store, on the page of which assistant. `draft` is a text that came as a file."""

    verb: str
    place: Place
    agent: Agent | None
    draft: str | None = None


def answer(page: PageRequest, asked: Asked, result: Result) -> HttpResponse:
    """What became of a change: the store anew for htmx, else its page."""
    words = result_words(result, asked.verb)
    if result.is_done:
        ping(page.user.pk)  # conversations that are open say that the notes have changed
        if not page.htmx:
            return back_to_store(page, asked.place, asked.agent, words, is_done=True)
    card = store_card(page, asked.place, asked.agent)
    if not result.is_done:
        _refuse(page, card, asked, result)
    context = store_context(page, card, asked.agent, words=words, is_done=result.is_done)
    if page.htmx:
        return render(page, "chat/notes/_store_after.html", context)
    context = page_context(page, asked.agent.pk if asked.agent is not None else "", card=card) | {"words": words}
    status = CONFLICT if card.is_conflict else REFUSED
    return render(page, "chat/notes/page.html", whole_page(page, context), status=status)


def _refuse(page: PageRequest, card: StoreCard, asked: Asked, result: Result) -> None:
    """Gives the card back what was typed, and says what is wrong with it where it was typed."""
    card.error, card.error_at = result_words(result, asked.verb), _FORMS.get(asked.verb, "")
    card.accepted = accepted_of(result)
    card.is_conflict = result.code == "conflict" and asked.verb != "entries"
    if asked.verb == "add":
        card.line = page.POST.get("content", "")
    elif asked.draft is not None:
        card.draft, card.error_at = asked.draft, "text"
    elif asked.verb in ("save", "upload"):
        card.draft = page.POST.get("text", "")


def back_to_store(page: PageRequest, place: Place, agent: Agent | None, words: str, *, is_done: bool) -> HttpResponse:
    """To where the form stood, with the outcome as a message."""
    (messages.success if is_done else messages.warning)(page, words)
    query = f"?agent={agent.pk}" if agent is not None else ""
    response = redirect(f"{reverse('notes')}{query}#store-{place.target}")
    response.status_code = 303
    return response
