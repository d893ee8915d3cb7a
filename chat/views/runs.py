"""Rounds as things: what the model saw, stop, retry, earlier tries, the answer's source."""

from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST
from django.views.decorators.vary import vary_on_headers
from django_htmx.http import HttpResponseClientRedirect

from chat.ledger_rows import ledger_page
from chat.ledger_sources import named_sources
from chat.library.sources import sources_of
from chat.middleware import PageRequest
from chat.models import Run, RunLedger
from chat.note_lines import notes_of
from chat.presentation import cited_html, refusal_words, run_card
from chat.runs import launch
from chat.runs.bridge import hop
from chat.runs.errors import RunRefused
from chat.runs.start import Order
from chat.runs.stop import stop
from chat.transcript import earlier_tries
from chat.views.chat import frame_context, own_thread


def own_run(request: PageRequest, run_id: str) -> Run:
    run = Run.objects.for_user(request.user).filter(pk=run_id).first()
    if run is None:
        raise Http404
    return run


@require_GET
@login_required
@vary_on_headers("HX-Request")
def ledger(request: HttpRequest, run_id: str) -> HttpResponse:
    """What the model was told with the first request of the run."""
    page = cast(PageRequest, request)
    run = own_run(page, run_id)
    row = RunLedger.objects.filter(run=run).first()
    found = sources_of([run]).get(run.pk, [])
    shown = ledger_page(row, found, named_sources(run, row)) if row is not None else None
    return _panel(page, run, "ledger", {"ledger": shown})


@require_GET
@login_required
@vary_on_headers("HX-Request")
def sources(request: HttpRequest, run_id: str) -> HttpResponse:
    """The passages of the knowledge base that stood in the prompt of the run."""
    page = cast(PageRequest, request)
    run = own_run(page, run_id)
    found = [] if run.is_going else sources_of([run]).get(run.pk, [])
    return _panel(page, run, "sources", {"sources": found, "cited": cited_html(run.output, found)[1]})


@require_GET
@login_required
@vary_on_headers("HX-Request")
def tries(request: HttpRequest, run_id: str) -> HttpResponse:
    """The runs that this one has replaced."""
    page = cast(PageRequest, request)
    run = own_run(page, run_id)
    earlier = earlier_tries(page.user, run)
    cited, notes = sources_of(earlier), notes_of(page.user, earlier)
    cards = [run_card(one, "", None, cited.get(one.pk, ()), notes.get(one.pk, ())) for one in earlier]
    return _panel(page, run, "tries", {"tries": cards})


def _panel(page: PageRequest, run: Run, name: str, context: dict[str, object]) -> HttpResponse:
    """A panel under the answer, or the same as a page of its own."""
    if page.htmx:
        return render(page, f"chat/runs/_{name}.html", context)
    thread = own_thread(page, run.thread_id)
    return render(page, f"chat/runs/{name}.html", frame_context(page, thread.agent, thread) | context | {"run_id": run.pk})


@require_GET
@login_required
def answer(request: HttpRequest, run_id: str) -> HttpResponse:
    """The answer as the model wrote it, for the copy button."""
    run = own_run(cast(PageRequest, request), run_id)
    return HttpResponse(run.output, content_type="text/plain; charset=utf-8")


@require_POST
@login_required
async def stop_run(request: HttpRequest, run_id: str) -> HttpResponseBase:
    page = cast(PageRequest, request)
    run = await hop(own_run, page, run_id)
    await stop(page.user, run.pk)
    return _back(page, run.thread_id, run.pk)


@require_POST
@login_required
async def retry(request: HttpRequest, run_id: str) -> HttpResponseBase:
    """Asks the same question again; the new run takes the place of this one."""
    page = cast(PageRequest, request)
    run = await hop(own_run, page, run_id)
    order = Order(user_id=run.user_id, agent_id=run.agent_id, thread_id=run.thread_id, input=run.input, mode=run.mode, replaces=run.pk)
    try:
        started = await launch.start(order)
    except RunRefused as error:
        messages.warning(request, refusal_words(error.code))
        return _back(page, run.thread_id, run.pk)
    return _back(page, started.thread_id, started.run_id)


def _back(page: PageRequest, thread_id: str, run_id: str) -> HttpResponse:
    address = f"{reverse('thread', args=[thread_id])}#{run_id}"
    if page.htmx:
        return HttpResponseClientRedirect(address)
    return HttpResponse(status=303, headers={"Location": address})
