"""The notes of a conversation: read again, the first words about oneself skipped, and a line under a round taken back."""

from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST
from django.views.decorators.vary import vary_on_headers

from chat.memory.notes import guide, snapshot
from chat.memory.switches import is_memory_on
from chat.middleware import PageRequest
from chat.models import NoteOp, Owner, Thread
from chat.models.tenancy import ping
from chat.note_lines import notes_of_run
from chat.note_marks import note_marks
from chat.views.chat import own_thread


@require_POST
@login_required
@vary_on_headers("HX-Request")
def refresh(request: HttpRequest, thread_id: str) -> HttpResponse:
    """Reads the notes again: the conversation knows them as they are now from its next message on."""
    page = cast(PageRequest, request)
    thread = own_thread(page, thread_id)
    if _has_memory(page, thread):
        snapshot.refresh(thread)
        ping(page.user.pk)
    elif not page.htmx:
        messages.warning(request, _("Memory is off, so this conversation knows no notes."))
    return _marks(page, thread)


@require_POST
@login_required
@vary_on_headers("HX-Request")
def skip_guide(request: HttpRequest, thread_id: str) -> HttpResponse:
    """Takes the card that asks for a few words about oneself from this conversation."""
    page = cast(PageRequest, request)
    thread = own_thread(page, thread_id)
    guide.skip(thread)
    ping(page.user.pk)
    return _marks(page, thread)


def _has_memory(page: PageRequest, thread: Thread) -> bool:
    return is_memory_on(Owner(thread.tenant_id, page.user.pk, thread.agent_id), thread)


def _marks(page: PageRequest, thread: Thread) -> HttpResponse:
    if not page.htmx:
        return redirect("thread", thread.pk)
    thread = own_thread(page, thread.pk)  # as it is now
    marks = note_marks(page.user, thread.agent, thread, has_memory=_has_memory(page, thread))
    return render(page, "chat/thread/_note_marks.html", {"marks": marks, "thread": thread, "agent": thread.agent, "is_news": True})


def answer_in_round(page: PageRequest, op: NoteOp, said: str) -> HttpResponse:
    """The lines of the round that an operation came from, after somebody acted on it there; `said` is why it was refused, or ""."""
    if op.run_id is None or op.thread_id is None:
        raise Http404
    if not page.htmx:
        if said:
            messages.warning(page, said)
        return redirect(f"{reverse('thread', args=[op.thread_id])}#{op.run_id}")
    return render(page, "chat/thread/_notes.html", {"notes": notes_of_run(page.user, op.run_id, said={op.pk: said})})
