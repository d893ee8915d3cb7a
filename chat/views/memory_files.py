"""Core memory as a file: saving it, and bringing one in."""

from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_GET, require_POST

from chat.memory.core.portable import BYTES_MOST, ITEMS_MOST, BadFile, Imported, Refused, as_text, export, import_file
from chat.middleware import PageRequest
from chat.panel.lists import Filters
from chat.panel.rules import rule_words
from chat.panel.threat_words import category_words
from chat.views.memory_context import page_context, tenant_of

REFUSED_SHOWN = 5

_BAD_FILES: dict[str, Promise] = {
    "too_large": gettext_lazy("the file is larger than 1 MiB"),
    "not_text": gettext_lazy("it is not UTF-8 text (line %(at)d)"),
    "not_json": gettext_lazy("it is not JSON (line %(at)d)"),
    "not_ours": gettext_lazy("it is not a memory file"),
    "newer_version": gettext_lazy("it comes from a newer version of this program"),
    "too_many": gettext_lazy("it holds more than %(most)d memories"),
}

_REFUSALS: dict[str, Promise] = {
    "not_an_object": gettext_lazy("is not a memory"),
    "no_text": gettext_lazy("has no wording"),
    "empty": gettext_lazy("has no wording"),
    "too_long": gettext_lazy("is too long"),
    "bad_kind": gettext_lazy("has an unknown kind"),
    "bad_date": gettext_lazy("has a date that cannot be"),
    "unknown_agent": gettext_lazy("is for an assistant that you do not have here"),
    "stopped": gettext_lazy("holds something private (rule: %(rules)s)"),
    "threat": gettext_lazy("reads like %(what)s"),
    "full": gettext_lazy("found no room: too many wait already"),
}


@require_GET
@login_required
def export_memory(request: HttpRequest) -> HttpResponse:
    """The core memory in the current school as a JSON file."""
    page = cast(PageRequest, request)
    if page.tenant is None:
        raise Http404
    text = as_text(export(page.user, page.tenant.pk))
    response = HttpResponse(text, content_type="application/json; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="memory-{timezone.localdate().isoformat()}.json"'
    return response


@require_POST
@login_required
def import_memory(request: HttpRequest) -> HttpResponse:
    """Lets what a file holds wait for the user's yes."""
    page = cast(PageRequest, request)
    file = request.FILES.get("file")
    if page.tenant is None:
        raise Http404
    if file is None:
        return _refuse(page, _("Choose a file first."))
    try:
        imported = import_file(page.user, tenant_of(page), file.read(BYTES_MOST + 1))
    except BadFile as error:
        why = str(_BAD_FILES[error.code]) % {"at": error.at, "most": ITEMS_MOST}
        return _refuse(page, _("Nothing was brought in: %(why)s.") % {"why": why})
    (messages.warning if imported.refused else messages.success)(page, _words(imported))
    response = redirect("memory")
    response.status_code = 303
    return response


def _words(imported: Imported) -> str:
    """Says what became of the file."""
    waiting = ngettext("%(count)d waits for your yes now.", "%(count)d wait for your yes now.", imported.waiting)
    parts = [waiting % {"count": imported.waiting}]
    if imported.known:
        known = ngettext("%(count)d was known already.", "%(count)d were known already.", imported.known)
        parts.append(known % {"count": imported.known})
    parts += [_refused_words(one) for one in imported.refused[:REFUSED_SHOWN]]
    rest = len(imported.refused[REFUSED_SHOWN:])
    if rest:
        parts.append(ngettext("%(count)d more was not taken.", "%(count)d more were not taken.", rest) % {"count": rest})
    return " ".join(parts)


def _refused_words(one: Refused) -> str:
    values = {"rules": rule_words(one.rules), "what": category_words(one.category)}
    why = str(_REFUSALS.get(one.reason, one.reason)) % values
    return _("Not taken: %(place)s %(why)s.") % {"place": one.place, "why": why}


def _refuse(page: PageRequest, words: str) -> HttpResponse:
    context = page_context(page, Filters()) | {"import_error": words}
    return render(page, "chat/memory/page.html", context, status=422)
