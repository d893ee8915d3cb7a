"""The page where teachers live: home, a new conversation, a conversation, and sending by form."""

import secrets
from typing import Any, cast

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST
from django.views.decorators.vary import vary_on_headers

from chat.consents import asked_context
from chat.library.sources import sources_of
from chat.memory.notes import shortcut
from chat.memory.switches import off_by
from chat.middleware import PageRequest
from chat.models import Agent, Owner, Thread
from chat.note_lines import notes_of
from chat.note_marks import note_marks
from chat.notices import notices_between
from chat.presentation import refusal_words, run_card
from chat.runs import launch, live
from chat.runs.beat import is_worker_away
from chat.runs.bridge import hop
from chat.runs.errors import AgentNotFound, RunRefused, ThreadMismatch
from chat.runs.start import Order
from chat.sidebar import agents_of, last_agent, remember_agent, thread_list
from chat.transcript import page_end_for, page_of_runs


def own_thread(request: PageRequest, thread_id: str) -> Thread:
    """The user's thread with its assistant; 404 alike for one of somebody else and one that does not exist."""
    threads = Thread.objects.for_user(request.user).select_related("agent__provider", "agent__tenant", "note_snapshot")
    thread = threads.filter(pk=thread_id).first()
    if thread is None:
        raise Http404
    return thread


def own_agent(request: PageRequest, agent_id: str) -> Agent:
    """An assistant that the user may talk to, in any of their schools."""
    agent = Agent.objects.for_user(request.user).select_related("provider", "tenant").filter(pk=agent_id).first()
    if agent is None:
        raise Http404
    return agent


def frame_context(request: PageRequest, agent: Agent | None, thread: Thread | None = None) -> dict[str, object]:
    """What every page of the chat needs for its sidebar and header."""
    tenant_id = agent.tenant_id if agent is not None else getattr(request.tenant, "pk", "")
    is_incognito = thread is not None and thread.is_incognito
    return {
        "memory_off_by": off_by(Owner(tenant_id, request.user.pk), is_incognito=is_incognito) if agent is not None else "",
        "agent": agent,
        "agents": agents_of(request.user, tenant_id),
        "threads": thread_list(request.user, agent.pk) if agent is not None else None,
        "thread": thread,
        "thread_id": thread.pk if thread is not None else "",
        "is_worker_away": is_worker_away(),
    }


def composer_context(agent: Agent, *, draft: str = "", mode: str = "", refusal: str = "", is_incognito: bool = False) -> dict[str, object]:
    """What the message box needs. Its key makes two sends of one form the same run (DESIGN §3.5)."""
    return {
        "modes": list(agent.modes.all()),
        "mode": mode,
        "draft": draft,
        "refusal": refusal,
        "is_incognito": is_incognito,
        "key": f"form-{secrets.token_urlsafe(16)}",
        "input_max": settings.INPUT_MAX_CHARS,
        "has_shortcut": shortcut.is_in_use(agent),
    }


@require_GET
@login_required
def home(request: HttpRequest) -> HttpResponse:
    """Goes to the most recent conversation with the assistant used last, or to a new one."""
    page = cast(PageRequest, request)
    agent = last_agent(page.user, page.preference, page.tenant.pk) if page.tenant is not None else None
    if agent is None:
        return render(request, "chat/thread/new.html", frame_context(page, None))
    threads = Thread.objects.for_user(page.user).filter(agent=agent, status=Thread.Status.ACTIVE, is_incognito=False)
    thread_id = threads.order_by("-updated_at", "-pk").values_list("pk", flat=True).first()
    return redirect("thread", thread_id) if thread_id else redirect("agent", agent.pk)


@require_GET
@login_required
def agent_page(request: HttpRequest, agent_id: str) -> HttpResponse:
    page = cast(PageRequest, request)
    agent = own_agent(page, agent_id)
    return render(request, "chat/thread/new.html", _new_context(page, agent, draft=_example(agent, request.GET.get("example", ""))))


def _example(agent: Agent, number: str) -> str:
    """The text of an example card; its link fills the box without script too."""
    index = int(number) - 1 if number.isascii() and number.isdigit() and len(number) < 4 else -1
    return str(agent.examples[index]) if 0 <= index < len(agent.examples) else ""


def _new_context(page: PageRequest, agent: Agent, **composer: Any) -> dict[str, object]:  # noqa: ANN401  as composer_context
    context = frame_context(page, agent) | composer_context(agent, **composer) | asked_context(page.user, agent)
    is_guide_skipped = (page.GET.get("guide") or page.POST.get("guide")) == "skip"
    has_memory = not context["memory_off_by"] and not is_guide_skipped
    return context | {"marks": note_marks(page.user, agent, None, has_memory=has_memory), "is_guide_skipped": is_guide_skipped}


@require_GET
@login_required
@vary_on_headers("HX-Request")
def thread_page(request: HttpRequest, thread_id: str) -> HttpResponse:
    """The conversation, or an earlier part of it: with `?before=<slot>`, and where `?run=` stands when that is not on the newest page."""
    page = cast(PageRequest, request)
    thread = own_thread(page, thread_id)
    number = request.GET.get("before", "")
    before = int(number) if number.isascii() and number.isdigit() and len(number) < 10 else None
    run_id = request.GET.get("run", "").replace("\0", "")
    if run_id and before is None:
        before = page_end_for(page.user, thread.pk, run_id)
    rounds = _rounds_context(page, thread, before)
    if page.htmx and before is not None:
        return render(request, "chat/thread/_rounds.html", rounds | {"thread": thread})
    return render(request, "chat/thread/page.html", _thread_context(page, thread) | rounds | {"found_id": run_id})


def _thread_context(page: PageRequest, thread: Thread, *, draft: str = "", mode: str = "", refusal: str = "") -> dict[str, object]:
    composer = composer_context(thread.agent, draft=draft, mode=mode, refusal=refusal)
    context = frame_context(page, thread.agent, thread) | composer | asked_context(page.user, thread.agent, thread)
    return context | {"marks": note_marks(page.user, thread.agent, thread, has_memory=not context["memory_off_by"])}


def _rounds_context(page: PageRequest, thread: Thread, before: int | None = None) -> dict[str, object]:
    """The rounds as cards. The view runs beside the event loop, so a run that goes here is shown as far as it is known now."""
    found = page_of_runs(page.user, thread.pk, before)
    sources = sources_of(run for run in found.runs if not run.is_going)
    notes = notes_of(page.user, found.runs)
    cards = [
        run_card(run, thread.agent.name, live.get(run.pk) if run.is_going else None, sources.get(run.pk, ()), notes.get(run.pk, ()))
        for run in found.runs
    ]
    # The first round that the summary does not stand for; on a page that begins behind the summary only if none lies between.
    first = next((card.slot for card in cards if card.slot > thread.summary_upto_slot), None)
    is_here = first is not None and (first != cards[0].slot or first == thread.summary_upto_slot + 1)
    return {
        "runs": cards,
        "notices": notices_between(page.user, thread.pk, cards[0].slot, cards[-1].slot) if cards else [],
        "earlier_than": found.earlier_than,
        "divider_slot": first if is_here and thread.rolling_summary else None,
        "is_part": before is not None,
        "going": next((card for card in cards if card.is_going), None),
        "mode": cards[-1].mode if cards else "",
    }


@require_POST
@login_required
async def send(request: HttpRequest, agent_id: str) -> HttpResponseBase:
    """Sends by form: what the page does without a socket, or without script."""
    page = cast(PageRequest, request)
    user = await request.auser()
    order = Order(
        user_id=cast(int, user.pk),
        agent_id=agent_id,
        input=request.POST.get("input", "").replace("\r\n", "\n"),
        thread_id=request.POST.get("thread_id", "").replace("\0", "")[:40],
        mode=request.POST.get("mode", "").replace("\0", "")[:40],
        key=request.POST.get("key", "").replace("\0", "")[:100],
        is_incognito=True if request.POST.get("incognito") == "on" else None,
        skips_guide=request.POST.get("guide") == "skip",
    )
    try:
        started = await launch.start(order)
    except (AgentNotFound, ThreadMismatch):
        raise Http404 from None
    except RunRefused as error:
        return await hop(_refused, page, order, error)
    if page.preference.agent_id != agent_id:
        await hop(remember_agent, order.user_id, agent_id)
    response = redirect("thread", started.thread_id)
    response.status_code = 303
    response.headers["Location"] += f"#{started.run_id}"
    return response


def _refused(page: PageRequest, order: Order, error: RunRefused) -> HttpResponse:
    """The page again, with the text in the box and the reason above it."""
    refusal = refusal_words(error.code)
    if not order.thread_id:
        agent = own_agent(page, order.agent_id)
        context = _new_context(page, agent, draft=order.input, mode=order.mode, refusal=refusal, is_incognito=bool(order.is_incognito))
        return render(page, "chat/thread/new.html", context, status=error.status)
    thread = own_thread(page, order.thread_id)
    context = _rounds_context(page, thread) | _thread_context(page, thread, draft=order.input, mode=order.mode, refusal=refusal)
    return render(page, "chat/thread/page.html", context, status=error.status)
