"""Viewer: who looks at a page over a socket, and what stands around the rounds in their language."""

import zoneinfo
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.auth.models import AbstractBaseUser, User
from django.contrib.sessions.backends.db import SessionStore
from django.db import connection
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation.trans_real import parse_accept_lang_header

from chat.consents import asked_context
from chat.memory.switches import off_by
from chat.models import Agent, Owner, Preference, Tenant, Thread
from chat.models.opened import opened_thread
from chat.note_lines import notes_html, notes_of_thread
from chat.note_marks import note_marks
from chat.notices import newest_notices, notice_html
from chat.panel.badge import badge_of
from chat.runs.beat import is_worker_away
from chat.sidebar import ThreadList, thread_list

# As plain SQL, and before the rows are asked for: most conversations have none, and building those two queries by the ORM takes
# a quarter of what a page costs at each change.
HAS_NOTES: Final = """
SELECT EXISTS (SELECT 1 FROM chat_noteop WHERE thread_id = %s), EXISTS (SELECT 1 FROM chat_notice WHERE thread_id = %s)"""


@dataclass(frozen=True, slots=True)
class Fragment:
    """A part of the page: the element with the id `target`, whole."""

    target: str
    html: str


@dataclass(slots=True)
class Viewer:
    """The owner of a page. `thread_id` is "" on a page without a thread, `agent_id` on one without an assistant."""

    language: str
    time_zone: zoneinfo.ZoneInfo | None
    thread_id: str
    agent_id: str
    agent_name: str
    last_agent_id: str | None
    tenant_id: str = ""  # the school whose memory the badge counts
    agent_tenant_id: str = ""  # the school of the assistant; another one on a page that was opened before the school was changed

    _recent: tuple[object, Fragment] | None = None

    def recent(self, threads: ThreadList) -> Fragment:
        """The conversations; made anew only when they differ, as thirty of them take 2 ms."""
        shown = [(group.label, [(one.id, one.title, one.is_incognito) for one in group.threads]) for group in threads.groups]
        if self._recent is None or self._recent[0] != shown:
            html = _render("chat/threads/_recent.html", {"threads": threads, "thread_id": self.thread_id})
            self._recent = (shown, Fragment("threads-recent", html))
        return self._recent[1]

    def status(self, *, is_away: bool) -> Fragment:
        return Fragment("status", _render("chat/thread/_status.html", {"is_worker_away": is_away}))


def find_viewer(user: AbstractBaseUser, thread_id: str, agent_id: str, scope: Mapping[str, Any]) -> Viewer | None:
    """The viewer of a thread, or of an assistant's page; None when the user has no such thread or assistant."""
    if thread_id:
        thread = Thread.objects.for_user(user).select_related("agent").filter(pk=thread_id).first()
        agent = thread.agent if thread is not None else None
    else:
        agent = Agent.objects.for_user(user).filter(pk=agent_id.replace("\0", "")).first() if agent_id else None
    if agent is None and (thread_id or agent_id):
        return None
    preference = Preference.objects.filter(user_id=user.pk).first() or Preference(user_id=user.pk)
    return Viewer(
        language=_language(preference.language, scope),
        time_zone=_time_zone(preference.time_zone),
        thread_id=thread_id,
        agent_id=agent.pk if agent is not None else "",
        agent_name=agent.name if agent is not None else "",
        last_agent_id=preference.agent_id,
        tenant_id=_tenant_id(user, preference.tenant_id),
        agent_tenant_id=agent.tenant_id if agent is not None else "",
    )


def _tenant_id(user: AbstractBaseUser, chosen_id: str | None) -> str:
    """As the pages choose it: the school last chosen, if the user is still a member, else the first one; "" for none."""
    schools = list(Tenant.objects.for_user(user).values_list("pk", flat=True))
    return chosen_id if chosen_id in schools else next(iter(schools), "")


def may_stay(user_id: int, session_key: str, thread_id: str) -> bool:
    """Whether an open page's session still belongs to the user, and its thread to them: not after a log-out, a new
    password or a lost membership."""
    request = HttpRequest()
    request.session = SessionStore(session_key)
    user = get_user(request)
    if not isinstance(user, User) or user.pk != user_id:
        return False
    return not thread_id or Thread.objects.for_user(user).filter(pk=thread_id).exists()


def _language(preferred: str, scope: Mapping[str, Any]) -> str:
    """As the pages choose it: the user's preference, the cookie, what the browser asks for, the default."""
    wanted = [preferred, scope.get("cookies", {}).get(settings.LANGUAGE_COOKIE_NAME, "")]
    headers = dict(scope.get("headers", ()))
    wanted += [name for name, _weight in parse_accept_lang_header(headers.get(b"accept-language", b"").decode("latin-1"))]
    for name in wanted:
        try:
            return translation.get_supported_language_variant(name)
        except LookupError:
            continue
    return settings.LANGUAGE_CODE


def _time_zone(name: str) -> zoneinfo.ZoneInfo | None:
    try:
        return zoneinfo.ZoneInfo(name) if name else None
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return None


def fragments(user: AbstractBaseUser, viewer: Viewer, *, has_status: bool) -> list[Fragment]:
    """What stands around the rounds now: the conversations, the thread's title and state, and the worker's on request."""
    found: list[Fragment] = []
    if viewer.agent_id:
        found.append(viewer.recent(thread_list(user, viewer.agent_id)))
    thread = opened_thread(user.pk, viewer.thread_id) if viewer.thread_id else None
    if viewer.thread_id and thread is None:
        found += _gone(viewer)
    if thread is not None:
        found.append(Fragment("thread-title", _render("chat/thread/_title.html", {"thread": thread})))
        found.append(Fragment("thread-note", _render("chat/thread/_note.html", {"thread": thread})))
        found.append(Fragment("summary-line", _render("chat/thread/_divider.html", {"thread": thread})))
        found += _notes_and_notices(user, thread.pk)
    if viewer.agent_id and not (viewer.thread_id and thread is None):
        is_incognito = thread is not None and thread.is_incognito
        tenant_id = thread.tenant_id if thread is not None else viewer.agent_tenant_id
        who = off_by(Owner(tenant_id, user.pk), is_incognito=is_incognito)
        found.append(Fragment("memory-note", _render("chat/thread/_memory_note.html", {"memory_off_by": who})))
        found += _of_assistant(user, viewer, thread, has_memory=not who)
    found.append(memory_badge(user, viewer))
    if has_status:
        found.append(viewer.status(is_away=is_worker_away()))
    return found


def _notes_and_notices(user: AbstractBaseUser, thread_id: str) -> list[Fragment]:
    with connection.cursor() as cursor:
        cursor.execute(HAS_NOTES, [thread_id, thread_id])
        has_notes, has_notices = cursor.fetchone()
    notes = notes_of_thread(user, thread_id) if has_notes else ()
    notices = newest_notices(user, thread_id) if has_notices else ()
    found = [Fragment(f"notes-{one.run_id}", notes_html(one)) for one in notes]
    return found + [Fragment(f"notice-{one.id}", notice_html(one)) for one in notices]


def _of_assistant(user: AbstractBaseUser, viewer: Viewer, thread: Thread | None, *, has_memory: bool) -> list[Fragment]:
    """The marks of the notes; and what the user is asked before text goes to another vendor, empty once it is answered."""
    if thread is not None:
        agent = thread.agent if thread.agent.is_active else None
    else:
        agent = Agent.objects.for_user(user).select_related("provider", "tenant").filter(pk=viewer.agent_id).first()
    if agent is None:
        return []
    context = asked_context(user, agent, thread) | {"thread_id": viewer.thread_id, "agent": agent}
    marks = note_marks(user, agent, thread, has_memory=has_memory)
    return [
        Fragment("note-marks", _render("chat/thread/_note_marks.html", {"marks": marks, "thread": thread, "agent": agent})),
        Fragment("consent-card", _render("chat/consents/_card.html", context)),
        Fragment("composer-privacy", _render("chat/consents/_privacy.html", context)),
    ]


def _gone(viewer: Viewer) -> list[Fragment]:
    """What stands on the page of a thread that was deleted meanwhile: nothing of it."""
    empty = [
        Fragment(name, f'<div id="{name}" hidden></div>')
        for name in ("thread-note", "memory-note", "note-marks", "thread-menu", "composer")
    ]
    title = _render("chat/thread/_title.html", {"thread": None})
    return [*empty, Fragment("thread-title", title), Fragment("messages", _render("chat/thread/_gone.html", {"agent_id": viewer.agent_id}))]


def memory_badge(user: AbstractBaseUser, viewer: Viewer) -> Fragment:
    """How much waits for the user's yes, and since when."""
    return Fragment("memory-badge", _render("chat/memory/_badge.html", {"badge": badge_of(user, viewer.tenant_id)}))


def _render(template: str, context: dict[str, object]) -> str:
    return render_to_string(template, context).strip()
