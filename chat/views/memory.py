"""The memory panel: what waits, what is confirmed, and every action on it.

What became of an action is said in words, and is what chat.memory.core.decide found in the database, not what the page
believed. Fragments answer htmx; without script each form comes back to the panel with a message.
"""

from collections.abc import Callable, Sequence
from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import AbstractBaseUser
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBadRequest, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django.views.decorators.vary import vary_on_headers
from django_htmx.http import retarget

from chat.memory.core import decide
from chat.memory.core.decide import Result
from chat.middleware import PageRequest
from chat.models import Candidate, CoreEvent, Fact
from chat.panel.cards import CandidateCard, FactCard, candidate_card, facts_used
from chat.panel.history import history_of
from chat.panel.lists import SHARED, Filters, contradicting, own_candidates, own_facts
from chat.panel.twins import twins_of
from chat.panel.waiting import split_ids, waiting_page
from chat.panel.words import left_words, result_words, results_words
from chat.views.memory_context import (
    SHELVES,
    cards_of,
    drawer_context,
    frame,
    notice_context,
    page_context,
    panel_context,
    shelf_context,
    tenant_of,
)
from chat.views.notes_bulk import decide_on_notes
from chat.views.runs import own_run

Action = Callable[[AbstractBaseUser, Sequence[str]], list[Result]]

BULK_MAX = 500
BULK_VERBS = ("confirm", "reject", "later")
REFUSED = ("stopped", "ask", "too_long", "empty", "duplicate", "full")  # the wording is what has to change


@require_GET
@login_required
@vary_on_headers("HX-Request")
def panel(request: HttpRequest) -> HttpResponse:
    """The panel; with `?list=` what does not count any more; with `?after=` a further part of a list."""
    page = cast(PageRequest, request)
    name, after = request.GET.get("list", ""), request.GET.get("after", "")
    if name in SHELVES:
        template = "chat/memory/_shelf_rows.html" if page.htmx and after else "chat/memory/shelf.html"
        return render(request, template, frame(page) | shelf_context(page, name, after))
    filters = Filters.of(request.GET)
    if page.htmx and after:
        found = waiting_page(page.user, tenant_of(page), filters, after)
        context = {"cards": cards_of(page, found.rows), "more": found.more, "filters": filters, "place": "panel", "back": filters.query}
        return render(request, "chat/memory/_candidates.html", context)
    return render(request, "chat/memory/page.html", page_context(page, filters, after=after))


@require_GET
@login_required
def drawer(request: HttpRequest) -> HttpResponse:
    """What the drawer beside a conversation shows."""
    page = cast(PageRequest, request)
    return render(request, "chat/memory/_drawer.html", drawer_context(page))


@require_http_methods(["GET", "POST"])
@login_required
@vary_on_headers("HX-Request")
def candidate(request: HttpRequest, candidate_id: str) -> HttpResponse:
    """One candidate by itself, or in its place with `?part=`; POST decides on it."""
    page = cast(PageRequest, request)
    row = own_candidates(page.user).filter(pk=candidate_id).first()
    if row is None:
        return missing(page, is_fact=False)
    card = candidate_card(row)
    card.twins = twins_of(page.user, row.tenant_id, [row]).get(row.pk, [])
    verb = request.POST.get("verb", "")
    if request.method == "GET" or verb == "edit":
        card.is_editing = verb == "edit" or request.GET.get("part") == "edit"
        card.draft = row.text
        return _item(page, card)
    results = _decide_on_candidate(page, row, verb)
    if results is None:
        return HttpResponseBadRequest()
    if results[0].outcome in REFUSED:
        return _refuse(page, card, verb, results[0])
    if verb == "replace" and not _has_replaced(page, results[0]):
        verb = "confirm"
    return _answer(page, verb, results, row)


def _has_replaced(page: PageRequest, result: Result) -> bool:
    """Whether the old fact went for the new one; it may have been gone before."""
    events = CoreEvent.objects.for_user(page.user).filter(decision_id=result.decision_id)
    return events.filter(fact_id=form_id(page.POST.get("replaces", ""))).exclude(fact_id=result.fact_id).exists()


def _decide_on_candidate(page: PageRequest, row: Candidate, verb: str) -> list[Result] | None:
    if verb in ("confirm", "replace"):
        return decide.confirm(
            page.user,
            [row.pk],
            text=page.POST.get("text"),
            is_shared=_is_shared(page),
            replaces=form_id(page.POST.get("replaces", "")) if verb == "replace" else "",
            accepted=_accepted(page),
        )
    actions = {"reject": decide.reject, "later": decide.later, "allow": decide.allow}
    return actions[verb](page.user, [row.pk]) if verb in actions else None


@require_http_methods(["GET", "POST"])
@login_required
@vary_on_headers("HX-Request")
def fact(request: HttpRequest, fact_id: str) -> HttpResponse:
    """One fact by itself with its history, or in its place with `?part=`; POST decides on it."""
    page = cast(PageRequest, request)
    row = own_facts(page.user).filter(pk=fact_id).first()
    if row is None:
        return missing(page, is_fact=True)
    card = FactCard(row, draft=row.text)
    verb = request.POST.get("verb", "")
    if request.method == "GET" or (verb == "edit" and "text" not in request.POST):
        card.is_editing = verb == "edit" or request.GET.get("part") == "edit"
        return _item(page, card)
    results = _decide_on_fact(page, row, verb)
    if results is None:
        return HttpResponseBadRequest()
    if results[0].outcome in REFUSED and verb == "edit":
        return _refuse(page, card, verb, results[0])
    return _answer(page, verb, results, row)


def _decide_on_fact(page: PageRequest, row: Fact, verb: str) -> list[Result] | None:
    if verb == "edit":
        return [decide.edit(page.user, row.pk, page.POST["text"], is_shared=_is_shared(page), accepted=_accepted(page))]
    if verb in ("pin", "unpin"):
        return decide.pin(page.user, [row.pk], is_pinned=verb == "pin")
    actions = {"delete": decide.delete, "restore": decide.restore, "allow": decide.allow}
    return actions[verb](page.user, [row.pk]) if verb in actions else None


def _is_shared(page: PageRequest) -> bool | None:
    """The scope that was chosen; None leaves it as it is."""
    return {SHARED: True, "agent": False}.get(page.POST.get("scope", ""))


def _accepted(page: PageRequest) -> list[str]:
    """The kinds of private text that a second yes has accepted."""
    return [kind for kind in page.POST.get("accepted", "").split(",") if kind]


def form_id(value: str) -> str:
    """A key from a form, as far as a database can look for it."""
    return value.replace("\0", "")[:40]


@require_POST
@login_required
@vary_on_headers("HX-Request")
def add(request: HttpRequest) -> HttpResponse:
    """A memory written by hand."""
    page = cast(PageRequest, request)
    scope = request.POST.get("scope", SHARED)
    text = request.POST.get("text", "")
    result = decide.add(
        page.user,
        tenant_of(page),
        text,
        kind=request.POST.get("kind", "profile"),
        agent_id="" if scope == SHARED else form_id(scope),
        accepted=_accepted(page),
    )
    if result.outcome in REFUSED or result.outcome == "gone":
        words = result_words(page.user, "add", result)
        draft = {"text": text, "kind": request.POST.get("kind", ""), "scope": scope, "error": words}
        draft["accepted"] = ",".join(result.kinds) if result.outcome == "ask" else ""
        return _panel(page, {"draft": draft, "words": words})
    return whole_panel(page, result_words(page.user, "add", result), is_done=result.outcome == "done")


@require_POST
@login_required
@vary_on_headers("HX-Request")
def bulk(request: HttpRequest) -> HttpResponse:
    """The same decision on several cards. What contradicts a confirmed fact needs a choice of its own, so it is left."""
    page = cast(PageRequest, request)
    verb, ids = request.POST.get("verb", ""), request.POST.getlist("id")[:BULK_MAX]
    if verb not in BULK_VERBS:
        return HttpResponseBadRequest()
    if not ids:
        return whole_panel(page, _("Nothing was changed: no line is selected."), is_done=False)
    ids, note_ids = split_ids([form_id(one) for one in ids])
    noted = decide_on_notes(page.user, verb, note_ids)
    left = contradicting(page.user, ids) if verb == "confirm" else set()
    actions: dict[str, Action] = {"confirm": decide.confirm, "reject": decide.reject, "later": decide.later}
    results = actions[verb](page.user, [one for one in ids if one not in left]) if len(left) < len(ids) else []
    words = " ".join(part for part in (results_words(page.user, verb, results), left_words(len(left)), noted.words) if part)
    return whole_panel(page, words, is_done=noted.is_done or any(one.outcome == "done" for one in results))


@require_POST
@login_required
@vary_on_headers("HX-Request")
def undo(request: HttpRequest) -> HttpResponse:
    """Takes back a decision of the user."""
    page = cast(PageRequest, request)
    result = decide.undo(page.user, form_id(request.POST.get("decision", "")))
    words, is_done = result_words(page.user, "undo", result), result.outcome == "done"
    if page.htmx and request.POST.get("in") == "drawer":
        return render(request, "chat/memory/_drawer.html", drawer_context(page, words=words, is_done=is_done))
    return whole_panel(page, words, is_done=is_done)


@require_GET
@login_required
@vary_on_headers("HX-Request")
def used(request: HttpRequest, run_id: str) -> HttpResponse:
    """The memories that stood in the prompt of a round."""
    page = cast(PageRequest, request)
    run = own_run(page, run_id)
    context: dict[str, object] = {"used": facts_used(page.user, run), "run": run}
    if page.htmx:
        return render(request, "chat/memory/_used.html", context)
    return render(request, "chat/memory/used.html", frame(page) | context)


# Answers


def missing(page: PageRequest, *, is_fact: bool) -> HttpResponse:
    """What does not exist, or is somebody else's."""
    if page.method == "GET":
        raise Http404
    words = result_words(page.user, "", Result("", "gone"))
    if page.htmx:
        response = in_place(page, words, is_done=False, is_fact=is_fact)
        response.status_code = 404
        return response
    return render(page, "chat/memory/page.html", page_context(page, Filters()) | {"words": words}, status=404)


def _item(page: PageRequest, card: CandidateCard | FactCard) -> HttpResponse:
    """One card: in its place for htmx, else as a page with its history."""
    row = card.row
    name = "candidate" if isinstance(row, Candidate) else "fact"
    back = page.GET.get("back", "") or page.POST.get("back", "")
    context: dict[str, object] = {"card": card, "place": page.GET.get("in", "panel"), "back": back}
    if page.htmx and page.GET.get("part") == "history":
        return render(page, "chat/memory/_history.html", {"history": history_of(page.user, row)})
    if page.htmx:
        return render(page, f"chat/memory/_{name}.html", context)
    context |= {"place": "item", "history": history_of(page.user, row), "is_fact": isinstance(row, Fact)}
    return render(page, "chat/memory/item.html", frame(page) | context)


def _refuse(page: PageRequest, card: CandidateCard | FactCard, verb: str, result: Result) -> HttpResponse:
    """The card with its wording open to be changed, and why it was not kept."""
    card.is_editing = True
    card.draft = page.POST.get("text", card.row.text)
    card.error = result_words(page.user, verb, result)
    card.accepted = ",".join(result.kinds) if result.outcome == "ask" else ""
    card.is_shared = _is_shared(page)
    name = "candidate" if isinstance(card.row, Candidate) else "fact"
    context: dict[str, object] = {"card": card, "place": page.POST.get("in", "panel"), "back": page.POST.get("back", "")}
    if page.htmx and context["place"] == "drawer":
        return render(page, "chat/memory/_drawer.html", drawer_context(page, words=card.error, card=card))
    if page.htmx:
        return render(page, f"chat/memory/_{name}.html", context)
    context |= {"place": "item", "history": history_of(page.user, card.row), "is_fact": isinstance(card.row, Fact)}
    return render(page, "chat/memory/item.html", frame(page) | context, status=422)


def _answer(page: PageRequest, verb: str, results: list[Result], row: Candidate | Fact) -> HttpResponse:
    """What became of one item."""
    words, is_done = results_words(page.user, verb, results), results[0].outcome == "done"
    if not page.htmx:
        return back_to_panel(page, words, is_done=is_done)
    moved = None
    if verb == "later" and isinstance(row, Candidate):
        moved = own_candidates(page.user).filter(pk=row.pk, status=Candidate.Status.PENDING).first()
    return in_place(page, words, is_done=is_done, is_fact=isinstance(row, Fact), moved=moved)


def in_place(page: PageRequest, words: str, *, is_done: bool, is_fact: bool, moved: Candidate | None = None) -> HttpResponse:
    """The item's place, and what else has changed on the page. A candidate leaves its place, or stands at the end as
    `moved`; the place of a fact is the whole list."""
    place = page.POST.get("in", "")
    if place == "drawer":
        return render(page, "chat/memory/_drawer.html", drawer_context(page, words=words, is_done=is_done))
    if place == "shelf":
        return render(page, "chat/memory/_after.html", notice_context(page, words, is_done=is_done))
    context = panel_context(page, Filters.of(QueryDict(page.POST.get("back", ""))), has_pending=False)
    context |= notice_context(page, words, is_done=is_done) | {"place": "panel", "is_fact": is_fact}
    context["card"] = candidate_card(moved) if moved is not None else None
    response = render(page, "chat/memory/_after_action.html", context)
    return retarget(response, "#confirmed") if is_fact else response


def whole_panel(page: PageRequest, words: str, *, is_done: bool) -> HttpResponse:
    """The whole panel anew: much of it may have changed."""
    if not page.htmx:
        return back_to_panel(page, words, is_done=is_done)
    return _panel(page, {"words": words, "is_done": is_done})


def _panel(page: PageRequest, more: dict[str, object]) -> HttpResponse:
    filters = Filters.of(QueryDict(page.POST.get("back", "")))
    if page.htmx:
        return render(page, "chat/memory/_panel.html", panel_context(page, filters) | more | {"is_oob": True})
    return render(page, "chat/memory/page.html", page_context(page, filters) | more, status=422)


def back_to_panel(page: PageRequest, words: str, *, is_done: bool) -> HttpResponse:
    """To where the form stood, with the outcome as a message."""
    (messages.success if is_done else messages.warning)(page, words)
    query = QueryDict(page.POST.get("back", "")).urlencode()
    response = redirect(f"{reverse('memory')}{'?' if query else ''}{query}")
    response.status_code = 303
    return response
