"""Conversations as things: lists, title, archive, end, summary, export."""

from typing import cast
from urllib.parse import quote

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django.views.decorators.vary import vary_on_headers

from chat.memory.core.sources import learnt_from
from chat.memory.recall import entries as recall
from chat.middleware import PageRequest
from chat.models import Owner, SearchText, Thread
from chat.runs.bridge import hop
from chat.runs.delete import delete_thread
from chat.runs.title import title_of
from chat.sidebar import archived_page, thread_list
from chat.transcript import export_markdown
from chat.views.chat import frame_context, own_agent, own_thread

TITLE_MAX = 200


@require_GET
@login_required
@vary_on_headers("HX-Request")
def thread_list_page(request: HttpRequest, agent_id: str) -> HttpResponse:
    """More conversations: those behind `?before=`."""
    page = cast(PageRequest, request)
    agent = own_agent(page, agent_id)
    older = thread_list(page.user, agent.pk, request.GET.get("before", ""))
    if page.htmx:
        return render(request, "chat/threads/_older.html", {"threads": older, "thread_id": request.GET.get("open", "")})
    return render(request, "chat/threads/list.html", frame_context(page, agent) | {"older": older})


@require_GET
@login_required
def archived_list(request: HttpRequest, agent_id: str) -> HttpResponse:
    page = cast(PageRequest, request)
    agent = own_agent(page, agent_id)
    found, more = archived_page(page.user, agent.pk, request.GET.get("before", ""))
    context = {"archived": found, "more": more, "is_archive": True}
    return render(request, "chat/threads/archived.html", frame_context(page, agent) | context)


@require_POST
@login_required
@vary_on_headers("HX-Request")
def rename(request: HttpRequest, thread_id: str) -> HttpResponse:
    """Gives the thread a title, with placeholders for what is sensitive; an empty one leaves it as it is."""
    page = cast(PageRequest, request)
    thread = own_thread(page, thread_id)
    owner = Owner(thread.tenant_id, page.user.pk, thread.agent_id)
    typed = request.POST.get("title", "").replace("\0", "")
    title = title_of(typed, TITLE_MAX, owner, "" if thread.is_incognito else thread.pk)
    if title:
        thread.title = title
        thread.updated_at = timezone.now()
        with transaction.atomic():
            if not Thread.objects.filter(pk=thread.pk).update(title=title, updated_at=thread.updated_at):
                raise Http404  # deleted in this moment
            SearchText.objects.keep_title(thread)
            recall.retitle(thread)
    if not page.htmx:
        return redirect("thread", thread.pk)
    return render(request, "chat/thread/_title.html", {"thread": thread})


@require_POST
@login_required
def archive(request: HttpRequest, thread_id: str) -> HttpResponse:
    page = cast(PageRequest, request)
    thread = own_thread(page, thread_id)
    if thread.is_incognito:
        messages.warning(request, _("An incognito conversation is not put into the archive; close it instead."))
        return redirect("thread", thread.pk)
    _move(thread, Thread.Status.ARCHIVED)
    messages.success(request, _("The conversation is in the archive. Nothing was deleted."))
    return redirect("agent", thread.agent_id)


@require_POST
@login_required
@vary_on_headers("HX-Request")
def unarchive(request: HttpRequest, thread_id: str) -> HttpResponse:
    page = cast(PageRequest, request)
    thread = own_thread(page, thread_id)
    _move(thread, Thread.Status.ACTIVE)
    if not page.htmx:
        return redirect("thread", thread.pk)
    if request.GET.get("in") == "list":
        return render(request, "chat/threads/_back.html", {"thread": thread})
    return render(request, "chat/thread/_note.html", {"thread": thread})


def _move(thread: Thread, status: Thread.Status) -> None:
    if thread.status != status:
        thread.status = status
        thread.updated_at = timezone.now()
        thread.save(update_fields=["status", "updated_at"])


@require_http_methods(["GET", "POST"])
@login_required
async def delete(request: HttpRequest, thread_id: str) -> HttpResponseBase:
    """Asks what of that which was learnt from the conversation shall go too, and deletes it."""
    page = cast(PageRequest, request)
    if request.method == "GET":
        return await hop(_ask_before_deleting, page, thread_id)
    thread = await hop(own_thread, page, thread_id)
    candidates, facts = request.POST.getlist("candidate"), request.POST.getlist("fact")
    deleted = await delete_thread(page.user, thread.pk, candidate_ids=candidates, fact_ids=facts)
    if deleted is not None:
        said = [_("The conversation is deleted.")]
        if count := len(deleted.candidate_ids) + len(deleted.fact_ids):
            said.append(ngettext("%(count)d memory went with it.", "%(count)d memories went with it.", count) % {"count": count})
        messages.success(request, " ".join(said))
    return redirect("agent", thread.agent_id) if thread.agent.is_active else redirect("home")


def _ask_before_deleting(page: PageRequest, thread_id: str) -> HttpResponse:
    thread = own_thread(page, thread_id)
    context = {"learnt": learnt_from(page.user, thread.pk)}
    return render(page, "chat/thread/delete.html", frame_context(page, thread.agent, thread) | context)


@require_GET
@login_required
@vary_on_headers("HX-Request")
def summary(request: HttpRequest, thread_id: str) -> HttpResponse:
    """The rolling summary, which stands in the prompt for older rounds."""
    page = cast(PageRequest, request)
    thread = own_thread(page, thread_id)
    if page.htmx:
        return render(request, "chat/thread/_summary.html", {"thread": thread})
    return render(request, "chat/thread/summary.html", frame_context(page, thread.agent, thread))


@require_GET
@login_required
def export(request: HttpRequest, thread_id: str) -> HttpResponse:
    """The conversation as a Markdown file."""
    page = cast(PageRequest, request)
    thread = own_thread(page, thread_id)
    response = HttpResponse(export_markdown(page.user, thread), content_type="text/markdown; charset=utf-8")
    name = "".join(char for char in thread.title if char.isalnum() or char in " -_")[:60].strip() or thread.pk
    response.headers["Content-Disposition"] = f"attachment; filename=\"{thread.pk}.md\"; filename*=UTF-8''{quote(name)}.md"
    return response
